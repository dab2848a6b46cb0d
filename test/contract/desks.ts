/** What the desks of credentials, policies and tokens must do over every store. Call it once for each. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AuditUnavailable } from '../../src/access/audit-entry.js';
import type { Acquired, AcquiredToken, Redeemed } from '../../src/access/token-desk.js';
import type { CredentialInput } from '../../src/access/credential-desk.js';
import { StorageAway, type Database } from '../../src/storage/ports.js';
import { admin, crawler, type DeskChanges, type DeskRig } from '../support/desks.js';
import { eventually } from '../support/wait.js';

/** Gateways over one store. */
export interface DeskStore {
  open(changes?: DeskChanges): Promise<DeskRig>;
  passMs(ms: number): Promise<void>;
  close(): Promise<void>;
}

const by = crawler();
const context = { target: 'shop.example', task_id: 't1' };

/** Registers the suite for one store. */
export function desksContract(name: string, make: () => Promise<DeskStore>): void {
  describe(`Desks: ${name}`, () => {
    let store: DeskStore;
    let rig: DeskRig;
    beforeEach(async () => {
      store = await make();
      rig = await store.open();
    });
    afterEach(() => store.close());

    const keep = async (key: string, more: Partial<CredentialInput> = {}): Promise<void> => {
      const made = await rig.desks.credentials.create(
        { key, type: 'api_key', secret: `s-${key}`, ...more },
        admin,
      );
      expect(made.kind).toBe('created');
    };
    const policy = async (constraints: object = {}, more: object = {}): Promise<void> => {
      const made = await rig.desks.policies.create(
        { name: 'p', credential_type: 'api_key', constraints, ...more },
        admin,
      );
      expect(made).toMatchObject({ kind: 'created' });
    };
    const ask = (desk = rig, named = 'p', who = by): Promise<Acquired> =>
      desk.desks.tokens.acquire({ policy: named, context }, who);
    const acquire = async (desk = rig, named = 'p', who = by): Promise<AcquiredToken> => {
      const got = await ask(desk, named, who);
      if (got.kind !== 'acquired') throw new Error(`not acquired: ${JSON.stringify(got)}`);
      return got.token;
    };
    const redeem = (token: AcquiredToken, desk = rig, who = by): Promise<Redeemed> =>
      desk.desks.tokens.redeem(token.id.reveal(), who);
    const release = (token: AcquiredToken, desk = rig) => desk.desks.tokens.release(token.id.reveal(), by);

    const releasedAtOnce = async (desk: DeskRig): Promise<boolean> => {
      const got = await ask(desk);
      if (got.kind === 'acquired') await release(got.token, desk);
      return got.kind === 'acquired';
    };

    it('K4 K5 K8 a token is acquired, redeemed, released; each is in the audit, and no secret or token', async () => {
      await keep('k1', { meta: { group: 'a' } });
      await keep('k2', { meta: { group: 'b' } });
      await policy({ validity_period: 60 }, { filters: { 'meta.group': 'a', status: 'active' } });
      const token = await acquire();
      expect(token).toMatchObject({ credentialKey: 'k1', policy: 'p', remainingUses: null });
      const redeemed = await redeem(token);
      expect(redeemed).toMatchObject({ kind: 'redeemed', type: 'api_key', meta: { group: 'a' } });
      expect(redeemed.kind === 'redeemed' && redeemed.secret.toString()).toBe('"s-k1"');
      expect(await release(token)).toMatchObject({
        kind: 'ended',
        token: { state: 'released', holder: 'crawler' },
      });
      expect(await redeem(token)).toMatchObject({ kind: 'refused', why: 'released' });
      expect(rig.audit.said()).toEqual([
        ...['credential.create ok', 'credential.create ok', 'policy.create ok', 'token.acquire ok'],
        ...['token.redeem ok', 'token.release ok', 'token.redeem refused'],
      ]);
      expect(rig.audit.entries.at(3)).toMatchObject({
        ...{ actor: 'crawler', address: '10.0.0.2', credential: 'k1' },
        target: 'shop.example',
        task: 't1',
      });
      const told = JSON.stringify([rig.audit.entries, rig.events]);
      for (const hidden of ['s-k1', token.id.reveal(), token.id.reveal().slice(4, 20)])
        expect(told).not.toContain(hidden);
    });

    it('K2 K5 a ban holds at once on another gateway; lifted, the token is good again', async () => {
      await keep('k1');
      await policy();
      const other = await store.open();
      const token = await acquire();
      expect(await redeem(token, other)).toMatchObject({ kind: 'redeemed' });
      await rig.desks.credentials.change('k1', { status: 'banned' }, admin);
      expect(await redeem(token, other)).toMatchObject({
        kind: 'refused',
        why: 'credential',
        status: 'banned',
      });
      expect(await ask(other)).toMatchObject({ kind: 'none_free', why: 'resting', retryAfterMs: null });
      await rig.desks.credentials.change('k1', { status: 'active' }, admin);
      expect(await redeem(token, other)).toMatchObject({ kind: 'redeemed' });
      const change = rig.events.filter(({ type }) => type === 'credential_status_changed');
      expect(change).toMatchObject([
        { from: 'active', to: 'banned' },
        { from: 'banned', to: 'active' },
      ]);
    });

    it('K5 a revocation holds at once on another gateway, and frees its credential', async () => {
      await keep('k1');
      await policy({ max_concurrent: 1 });
      const other = await store.open();
      const token = await acquire();
      expect(await ask()).toMatchObject({ kind: 'none_free', why: 'held' });
      expect(await ask(other)).toMatchObject({ kind: 'none_free', why: 'held' });
      expect(await other.desks.tokens.revoke(token.id.reveal(), admin)).toMatchObject({
        token: { state: 'revoked' },
      });
      expect(await redeem(token)).toMatchObject({ kind: 'refused', why: 'revoked' });
      // This gateway counted a holder who is gone; it looks before it says no.
      await eventually('the freed credential', async () => (await ask()).kind === 'acquired');
    });

    it('K9 a token from a second address is revoked, and somebody is told', async () => {
      await keep('k1');
      await policy();
      const token = await acquire();
      expect(await redeem(token)).toMatchObject({ kind: 'redeemed' });
      expect(await redeem(token, rig, crawler('crawler', '10.9.9.9'))).toMatchObject({
        kind: 'refused',
        why: 'leaked',
      });
      expect(await redeem(token)).toMatchObject({ kind: 'refused', why: 'revoked' });
      const leaks = rig.events.filter(({ type }) => type === 'token_leaked');
      expect(leaks).toMatchObject([{ credential: 'k1', policy: 'p', addresses: 2 }]);
    });

    it('K5 uses are counted, whoever asks first', async () => {
      await keep('k1');
      await policy({ max_uses: 2 });
      const token = await acquire();
      const kinds = await Promise.all([redeem(token), redeem(token), redeem(token), redeem(token)]);
      expect(kinds.filter(({ kind }) => kind === 'redeemed')).toHaveLength(2);
      expect(kinds.find(({ kind }) => kind === 'refused')).toMatchObject({
        why: 'used_up',
        token: { remainingUses: 0 },
      });
      const single = await acquire();
      await rig.desks.tokens.consume(single.id.reveal(), by);
      expect(await redeem(single)).toMatchObject({ kind: 'refused', why: 'consumed' });
    });

    it('K5 a token ends by its time, and its credential is free', async () => {
      await keep('k1');
      await policy({ validity_period: 60, max_concurrent: 1 });
      const token = await acquire();
      await store.passMs(61_000);
      expect(await redeem(token)).toMatchObject({ kind: 'refused', why: 'expired' });
      await eventually('the credential to be free', async () => (await ask()).kind === 'acquired');
    });

    it('Z7 a token is its holder’s alone; an administrator may end it', async () => {
      await keep('k1');
      await policy();
      const token = await acquire();
      const thief = crawler('thief');
      const { tokens } = rig.desks;
      expect(await redeem(token, rig, thief)).toEqual({ kind: 'unknown' });
      expect(await tokens.release(token.id.reveal(), thief)).toEqual({ kind: 'unknown' });
      expect(await tokens.report(token.id.reveal(), { outcome: 'banned' }, thief)).toEqual({
        kind: 'unknown',
      });
      expect(await tokens.look(token.id.reveal(), thief)).toBeNull();
      for (const text of ['', 'tpk_', `${token.id.reveal()}x`])
        expect(await tokens.redeem(text, by)).toEqual({ kind: 'unknown' });
      expect(await tokens.look(token.id.reveal(), admin)).toMatchObject({ state: 'live', holder: 'crawler' });
    });

    it('K6 what a holder reports rests the credential, everywhere, for its time', async () => {
      await keep('k1');
      await policy();
      const other = await store.open();
      const token = await acquire();
      const report = (outcome: 'ok' | 'rate_limited' | 'banned', forMs?: number) =>
        rig.desks.tokens.report(token.id.reveal(), { outcome, forMs, reason: 'saw\n429' }, by);
      expect(await report('ok')).toMatchObject({ status: 'active', isChanged: false });
      expect(await report('rate_limited', 30_000)).toMatchObject({ status: 'cooldown', isChanged: true });
      expect(await report('rate_limited')).toMatchObject({ status: 'cooldown', isChanged: false });
      expect(await redeem(token, other)).toMatchObject({
        kind: 'refused',
        why: 'credential',
        status: 'cooldown',
      });
      await eventually('the other to know', async () => (await ask(other)).kind === 'none_free');
      expect((await rig.desks.credentials.get('k1'))?.reason).toBe('saw 429');
      await store.passMs(31_000);
      expect(await redeem(token, other)).toMatchObject({ kind: 'redeemed' });
      expect(await report('banned')).toMatchObject({ status: 'banned', untilMs: null });
    });

    it('K6 an administrator’s cool-down ends by itself', async () => {
      await keep('k1');
      await policy();
      const cooled = await rig.desks.credentials.coolDown('k1', 3_600_000, admin);
      expect(cooled).toMatchObject({ kind: 'changed', credential: { statusNow: 'cooldown' } });
      const refused = await ask();
      expect(refused).toMatchObject({ kind: 'none_free', why: 'resting' });
      const waitMs = refused.kind === 'none_free' ? (refused.retryAfterMs ?? 0) : 0;
      expect(Math.round(waitMs / 60_000)).toBe(60);
      await store.passMs(3_601_000);
      await eventually('the end of the rest', async () => (await ask()).kind === 'acquired');
      await rig.desks.credentials.change('k1', { status: 'banned' }, admin);
      expect(await rig.desks.credentials.coolDown('k1', 1000, admin)).toMatchObject({ kind: 'invalid' });
      expect(await rig.desks.credentials.coolDown('nobody', 1000, admin)).toEqual({ kind: 'gone' });
    });

    it('K2 a new secret counts at once and lifts invalid; who changes what is old is told', async () => {
      await keep('k1');
      await policy();
      const token = await acquire();
      const { credentials } = rig.desks;
      await credentials.change('k1', { status: 'invalid', reason: 'login failed' }, admin);
      const changed = await credentials.change('k1', { secret: 'new', revision: 2 }, admin);
      expect(changed).toMatchObject({
        kind: 'changed',
        credential: { status: 'active', version: 2, revision: 3 },
      });
      const redeemed = await redeem(token);
      expect(redeemed.kind === 'redeemed' && redeemed.secret.toString()).toBe('"new"');
      expect(await credentials.change('k1', { meta: { a: 1 }, revision: 2 }, admin)).toEqual({
        kind: 'conflict',
      });
      expect(await credentials.change('k1', { secret: '' }, admin)).toMatchObject({
        problems: [{ path: 'secret' }],
      });
      expect(await credentials.change('k1', { forMs: 5 }, admin)).toMatchObject({
        problems: [{ path: 'status' }],
      });
      expect(await credentials.create({ key: 'k1', type: 'api_key', secret: 'x' }, admin)).toEqual({
        kind: 'exists',
      });
    });

    it('K2 K5 a credential that is removed takes its tokens along; the next of its key has nothing of it', async () => {
      await keep('k1');
      await policy();
      const token = await acquire();
      expect(await rig.desks.credentials.remove('k1', admin)).toBe(true);
      expect(await rig.desks.credentials.remove('k1', admin)).toBe(false);
      expect(await redeem(token)).toEqual({ kind: 'unknown' });
      expect(await ask()).toMatchObject({ kind: 'none_free', why: 'no_match' });
      await keep('k1', { secret: 'another' });
      expect(await redeem(token)).toEqual({ kind: 'unknown' });
      expect(await redeem(await acquire())).toMatchObject({ kind: 'redeemed' });
    });

    it('K3 K12 falls back to the next policy, and says the soonest time when all have nothing', async () => {
      await keep('k1', { meta: { tier: 'high' } });
      await keep('k2', { meta: { tier: 'low' } });
      await policy({ max_concurrent: 1 }, { name: 'low', filters: { 'meta.tier': 'low' } });
      await policy({ rate_limit: '2/h' }, { filters: { 'meta.tier': 'high' }, fallback: 'low' });
      const given = [await acquire(), await acquire(), await acquire()];
      expect(given.map((token) => token.policy)).toEqual(['p', 'p', 'low']);
      expect(await ask()).toEqual({ kind: 'none_free', why: 'held', retryAfterMs: 1000 });
      expect(await ask(rig, 'nobody')).toEqual({ kind: 'unknown_policy' });
      expect(await rig.desks.policies.remove('low', admin)).toEqual({ kind: 'in_use', by: ['p'] });
      const round = { name: 'low', credential_type: 'api_key', fallback: 'p' };
      expect(await rig.desks.policies.replace('low', round, admin)).toMatchObject({
        problems: [{ path: 'fallback' }],
      });
    });

    it('K11 the context chooses, and must be there where it is asked for', async () => {
      for (const region of ['US', 'DE']) await keep(`k-${region}`, { meta: { region } });
      await policy({}, { filters: { 'meta.region': '$context.region' } });
      const inRegion = (region?: string) =>
        rig.desks.tokens.acquire({ policy: 'p', context: region === undefined ? {} : { region } }, by);
      expect(await inRegion('DE')).toMatchObject({ token: { credentialKey: 'k-DE' } });
      expect(await inRegion('US')).toMatchObject({ token: { credentialKey: 'k-US' } });
      expect(await inRegion('FR')).toMatchObject({ kind: 'none_free', why: 'no_match' });
      expect(await inRegion()).toMatchObject({ kind: 'invalid', problems: [{ path: 'context.region' }] });
    });

    it('K3 K12 keeps to the limit of each credential, goes on with others, and warns of a rate near their sum', async () => {
      for (const key of ['k1', 'k2', 'k3']) await keep(key);
      await policy({ rate_limit: '5/h', per_credential_limit: '2/h' });
      expect(rig.desks.policies.get('p')?.warnings).toEqual([expect.stringContaining('83.3 %')]);
      const counts = new Map<string, number>();
      for (let n = 0; n < 5; n++) {
        const { credentialKey } = await acquire();
        counts.set(credentialKey, (counts.get(credentialKey) ?? 0) + 1);
      }
      expect([...counts.values()].sort()).toEqual([1, 2, 2]);
      expect(await ask()).toMatchObject({ kind: 'limited', limit: 'policy' });
      await policy({ per_credential_limit: '1/h' }, { name: 'each' });
      for (let n = 0; n < 3; n++) await acquire(rig, 'each');
      const limited = await ask(rig, 'each');
      expect(limited).toMatchObject({ kind: 'limited', limit: 'credential' });
      expect(limited.kind === 'limited' && limited.retryAfterMs).toBeGreaterThan(3_500_000);
    });

    it('K8 without an audit nothing is given out, shown or changed, and nothing is lost by trying', async () => {
      await keep('k1');
      await policy({ max_concurrent: 1, rate_limit: '2/h', max_uses: 1 });
      const token = await acquire();
      rig.audit.isAway = true;
      await expect(redeem(token)).rejects.toThrow(AuditUnavailable);
      await expect(rig.desks.credentials.change('k1', { status: 'banned' }, admin)).rejects.toThrow(
        AuditUnavailable,
      );
      await expect(
        rig.desks.credentials.create({ key: 'k2', type: 'api_key', secret: 's' }, admin),
      ).rejects.toThrow(AuditUnavailable);
      rig.audit.isAway = false;
      expect(await redeem(token)).toMatchObject({ kind: 'redeemed' });
      expect(await rig.desks.credentials.get('k2')).toBeNull();
      await release(token);
      rig.audit.isAway = true;
      for (let n = 0; n < 5; n++)
        await ask().catch((error: unknown) => expect(error).toBeInstanceOf(AuditUnavailable));
      rig.audit.isAway = false;
      // The token that nobody got ends soon, and the rate has its one left.
      await eventually('the slot of the token that nobody got', async () => releasedAtOnce(rig));
      expect(await ask()).toMatchObject({ kind: 'limited', limit: 'policy' });
    });

    it('K2 imports what is good, or all or nothing, and tells each bad line without its secret', async () => {
      await keep('k1');
      const lines = [
        'key,secret,meta.group',
        'k1,s1,a',
        'k2,s2,a',
        'k2,s3,a',
        'k 4,s4,a',
        'k5,"s5',
        'k6,s6,a',
      ];
      const pieces = async function* () {
        for (const char of lines.join('\r\n').match(/.{1,7}/gs) ?? [])
          yield await Promise.resolve(Buffer.from(char));
      };
      const take = (mode: 'all' | 'good') =>
        rig.desks.credentials.import(
          pieces(),
          { format: 'csv', mode, type: 'api_key', meta: { batch: 7 } },
          admin,
        );
      const all = await take('all');
      expect(all).toMatchObject({ kind: 'refused', created: 0, failed: 4 });
      const good = await take('good');
      expect(good).toMatchObject({ kind: 'done', created: 2, failed: 4 });
      const byLine = [...good.faults]
        .sort((a, b) => a.line - b.line)
        .map(({ line, why }) => `${line} ${why}`);
      expect(byLine).toEqual(['2 exists', '4 duplicate', '5 invalid', '6 malformed']);
      expect(JSON.stringify([all, good, rig.audit.entries])).not.toMatch(/s\d/);
      expect(await rig.desks.credentials.get('k6')).toMatchObject({ meta: { group: 'a', batch: 7 } });
      await policy({}, { filters: { 'meta.batch': 7, key: 'k6' } });
      const redeemed = await redeem(await acquire());
      expect(redeemed.kind === 'redeemed' && redeemed.secret.toString()).toBe('"s6"');
    });

    it('K1 a store that is away is said so, and nothing is half done', async () => {
      await keep('k1');
      await policy({ max_concurrent: 1, rate_limit: '1/h' });
      // Once it fails before it was done, once after.
      const way: { issue: 'works' | 'fails' | 'fails_late' } = { issue: 'fails' };
      const failing = await store.open({ limits: rig.limits, wrap: (db) => withIssue(db, way) });
      await expect(ask(failing)).rejects.toThrow(StorageAway);
      way.issue = 'fails_late';
      await expect(ask(failing)).rejects.toThrow(StorageAway);
      way.issue = 'works';
      await eventually('the slot of the token that nobody knows', async () => releasedAtOnce(failing));
      expect(await ask(failing)).toMatchObject({ kind: 'limited' });
    });
  });
}

/** The store with an `issue` that fails as the test says. */
function withIssue(db: Database, way: { issue: 'works' | 'fails' | 'fails_late' }): Database {
  const tokens = Object.create(db.tokens) as Database['tokens'];
  tokens.issue = async (token) => {
    if (way.issue === 'fails') throw new StorageAway('test');
    const issued = await db.tokens.issue(token);
    if (way.issue === 'fails_late') throw new StorageAway('test');
    return issued;
  };
  return { ...db, tokens };
}
