/** What the desks of tokens and policies must do over every store. Call it once for each. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AuditUnavailable } from '../../src/access/audit-entry.js';
import { StorageAway, type Database } from '../../src/storage/ports.js';
import { admin, crawler } from '../support/desks.js';
import { eventually } from '../support/wait.js';
import { by, DeskTools, type DeskStore } from './desk-tools.js';

/** Registers the suite for one store. */
export function desksContract(name: string, make: () => Promise<DeskStore>): void {
  describe(`Desks: ${name}`, () => {
    let tools: DeskTools;
    beforeEach(async () => {
      tools = await DeskTools.over(await make());
    });
    afterEach(() => tools.store.close());

    it('K4 K5 K8 a token is acquired, redeemed, released; each is in the audit, and no secret or token', async () => {
      const { rig, keep, policy, acquire, redeem, release } = tools;
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

    it('K5 a revocation holds at once on another gateway, and frees its credential', async () => {
      const { store, keep, policy, ask, acquire, redeem } = tools;
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
      const { rig, keep, policy, acquire, redeem } = tools;
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
      const { rig, keep, policy, acquire, redeem } = tools;
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
      const { store, keep, policy, ask, acquire, redeem } = tools;
      await keep('k1');
      await policy({ validity_period: 60, max_concurrent: 1 });
      const token = await acquire();
      await store.passMs(61_000);
      expect(await redeem(token)).toMatchObject({ kind: 'refused', why: 'expired' });
      await eventually('the credential to be free', async () => (await ask()).kind === 'acquired');
    });

    it('Z7 a token is its holder’s alone; an administrator may end it', async () => {
      const { rig, keep, policy, acquire, redeem } = tools;
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

    it('K3 K12 falls back to the next policy, and says the soonest time when all have nothing', async () => {
      const { rig, keep, policy, ask, acquire } = tools;
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
      const { rig, keep, policy } = tools;
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
      const { rig, keep, policy, ask, acquire } = tools;
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
      const { rig, keep, policy, ask, acquire, redeem, release, releasedAtOnce } = tools;
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

    it('K1 a store that is away is said so, and nothing is half done', async () => {
      const { store, rig, keep, policy, ask, releasedAtOnce } = tools;
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
