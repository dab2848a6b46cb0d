/** What the desk of credentials must do over every store, and what of it tokens feel. Call it once for each. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { admin } from '../support/desks.js';
import { eventually } from '../support/wait.js';
import { by, DeskTools, type DeskStore } from './desk-tools.js';

/** Registers the suite for one store. */
export function credentialDeskContract(name: string, make: () => Promise<DeskStore>): void {
  describe(`Desk of credentials: ${name}`, () => {
    let tools: DeskTools;
    beforeEach(async () => {
      tools = await DeskTools.over(await make());
    });
    afterEach(() => tools.store.close());

    it('K2 K5 a ban holds at once on another gateway; lifted, the token is good again', async () => {
      const { store, rig, keep, policy, ask, acquire, redeem } = tools;
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

    it('K6 what a holder reports rests the credential, everywhere, for its time', async () => {
      const { store, rig, keep, policy, ask, acquire, redeem } = tools;
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
      const { store, rig, keep, policy, ask } = tools;
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
      const { rig, keep, policy, acquire, redeem } = tools;
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
      const { rig, keep, policy, ask, acquire, redeem } = tools;
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

    it('K2 imports what is good, or all or nothing, and tells each bad line without its secret', async () => {
      const { rig, keep, policy, acquire, redeem } = tools;
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
  });
}
