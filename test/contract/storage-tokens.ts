/** What tokens must do over every engine. Call it once for each. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { NewToken, TokenUse } from '../../src/storage/credential-ports.js';
import type { Database } from '../../src/storage/ports.js';
import { newCredential } from './storage-credentials.js';
import type { MakeStore, UnderTest } from './under-test.js';

/** Registers the suite for one engine. */
export function tokensContract(name: string, make: MakeStore<Database>): void {
  describe(`tokens: ${name}`, () => {
    let db: Database;
    let passMs: UnderTest<Database>['passMs'];
    const credential = newCredential('account');
    beforeEach(async () => {
      ({ store: db, passMs } = await make());
      await db.credentials.insert([credential]);
    });
    const token = (hash: string, changes: Partial<NewToken> = {}): NewToken => ({
      ...{ hash, credentialId: credential.id, credentialKey: 'account', policy: 'p', holder: 'crawler' },
      ...{ context: { target: 'shop.example' }, maxUses: null, validMs: 60_000, slots: 1 },
      ...changes,
    });
    const use = (hash: string, changes: Partial<TokenUse> = {}): TokenUse => ({
      ...{ hash, holder: 'crawler', address: '192.0.2.1', maxAddresses: 1 },
      ...changes,
    });
    const issued = async (hash: string, changes: Partial<NewToken> = {}) => {
      const result = await db.tokens.issue(token(hash, changes));
      expect(result.kind).toBe('issued');
      if (result.kind !== 'issued') throw new Error('no token');
      return result.token;
    };

    it('K4 gives out a token for its time', async () => {
      const given = await issued('t', { maxUses: 3 });
      const { validMs, slots, ...said } = token('t', { maxUses: 3 });
      const rest = { state: 'live', uses: 0, addresses: [], issuedMs: given.issuedMs };
      expect(given).toEqual({ ...said, ...rest, expiresMs: given.issuedMs + validMs });
      expect(await db.tokens.find('t')).toEqual(given);
      expect([await db.tokens.find('none'), slots]).toEqual([null, 1]);
      expect(await db.tokens.liveCounts()).toEqual(new Map([['account', 1]]));
    });

    it('K4 never gives two tokens for one slot, and says when one is free', async () => {
      const first = await issued('a', { slots: 2 });
      await issued('b', { slots: 2, validMs: 90_000 });
      expect(await db.tokens.issue(token('c', { slots: 2 }))).toEqual({
        kind: 'held',
        untilMs: first.expiresMs,
      });
      expect(await db.tokens.find('c')).toBeNull();
      await passMs(60_000);
      await issued('c', { slots: 2 });
      await db.tokens.end('b', 'released', 'crawler');
      await issued('d', { slots: 2 });
      await db.tokens.end('b', 'released', 'crawler');
      expect(await db.tokens.liveCounts()).toEqual(new Map([['account', 2]]));
      expect((await db.tokens.issue(token('e', { slots: 2 }))).kind).toBe('held');
    });

    it('K4 counts tokens of a policy without a limit for one that has one', async () => {
      for (const hash of ['a', 'b', 'c']) await issued(hash, { slots: null });
      expect((await db.tokens.issue(token('d', { slots: 3 }))).kind).toBe('held');
      await issued('d', { slots: 4 });
      await issued('e', { slots: null });
    });

    it('K4 gives one of many who race for a slot the token, and all of them an answer', async () => {
      const racers = Array.from({ length: 40 }, (_, n) => db.tokens.issue(token(`r${n}`, { slots: 3 })));
      const kinds = (await Promise.all(racers)).map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === 'issued')).toHaveLength(3);
      expect(kinds.filter((kind) => kind === 'held')).toHaveLength(37);
    });

    it('K4 never has two holders while tokens come and go', async () => {
      let holders = 0;
      let most = 0;
      let given = 0;
      const crawler = async (n: number) => {
        for (let turn = 0; turn < 15; turn++) {
          const hash = `${n}-${turn}`;
          if ((await db.tokens.issue(token(hash))).kind !== 'issued') continue;
          given++;
          most = Math.max(most, ++holders);
          await db.tokens.use(use(hash));
          holders--;
          await db.tokens.end(hash, 'released', 'crawler');
        }
      };
      await Promise.all(Array.from({ length: 12 }, (_, n) => crawler(n)));
      expect(most).toBe(1);
      expect(given).toBeGreaterThan(1);
      expect(await db.tokens.liveCounts()).toEqual(new Map());
    });

    it('K6 gives out no token of a credential that may not be used, until its rest is over', async () => {
      const set = (status: 'banned' | 'cooldown' | 'exhausted', forMs: number | null) =>
        db.credentials.change('account', { status, forMs }, null);
      await set('banned', 1000);
      await passMs(2000);
      expect(await db.tokens.issue(token('a'))).toEqual({ kind: 'unusable', status: 'banned' });
      await set('exhausted', null);
      expect(await db.tokens.issue(token('a'))).toEqual({ kind: 'unusable', status: 'exhausted' });
      await set('cooldown', 30_000);
      expect(await db.tokens.issue(token('a'))).toEqual({ kind: 'unusable', status: 'cooldown' });
      await passMs(30_000);
      await issued('a');
      expect(await db.tokens.issue(token('b', { credentialId: 'none' }))).toEqual({
        ...{ kind: 'unusable', status: 'gone' },
      });
    });

    it('K5 gives the sealed secret and counts uses up to the most', async () => {
      await issued('t', { maxUses: 2 });
      const used = await db.tokens.use(use('t'));
      expect(used).toMatchObject({
        ...{ kind: 'used', token: { uses: 1, addresses: ['192.0.2.1'] } },
        ...{ credential: { key: 'account', status: 'active' } },
        secret: { id: credential.id, version: 1, kekId: 'kek-1', sealed: credential.sealed },
      });
      expect(await db.tokens.use(use('t'))).toMatchObject({ kind: 'used', token: { uses: 2 } });
      expect(await db.tokens.use(use('t'))).toMatchObject({ kind: 'refused', why: 'used_up', status: null });
      await db.tokens.unuse('t');
      expect(await db.tokens.use(use('t'))).toMatchObject({ kind: 'used', token: { uses: 2 } });
    });

    it('K5 lets exactly as many of those who race use a token as it has uses', async () => {
      await issued('t', { maxUses: 5 });
      const kinds = await Promise.all(Array.from({ length: 30 }, () => db.tokens.use(use('t'))));
      expect(kinds.filter(({ kind }) => kind === 'used')).toHaveLength(5);
    });

    it('K5 is unknown to another holder; an administrator is any', async () => {
      await issued('t');
      expect(await db.tokens.use(use('t', { holder: 'other' }))).toEqual({ kind: 'unknown' });
      expect(await db.tokens.use(use('none'))).toEqual({ kind: 'unknown' });
      expect(await db.tokens.end('t', 'released', 'other')).toBeNull();
      expect(await db.tokens.use(use('t', { holder: null }))).toMatchObject({ kind: 'used' });
      expect(await db.tokens.end('t', 'revoked', null)).toMatchObject({ state: 'revoked' });
    });

    it('K5 says why a token may not be used', async () => {
      const why = async (hash: string) => {
        const result = await db.tokens.use(use(hash));
        return result.kind === 'refused' ? [result.why, result.status] : [result.kind];
      };
      for (const how of ['released', 'consumed', 'revoked'] as const) {
        await issued(how);
        expect(await db.tokens.end(how, how, 'crawler')).toMatchObject({ state: how });
        expect(await why(how)).toEqual([how, null]);
      }
      expect(await db.tokens.end('released', 'consumed', 'crawler')).toMatchObject({ state: 'released' });
      await issued('t', { validMs: 1000 });
      await db.credentials.change('account', { status: 'banned' }, null);
      expect(await why('t')).toEqual(['credential', 'banned']);
      await db.credentials.change('account', { status: 'cooldown', forMs: 500 }, null);
      await passMs(500);
      expect(await why('t')).toEqual(['used']);
      await passMs(500);
      expect(await why('t')).toEqual(['expired', null]);
    });

    it('K9 revokes a token that one address too many uses', async () => {
      await issued('t');
      const from = (address: string) => db.tokens.use(use('t', { address, maxAddresses: 2 }));
      expect(await from('192.0.2.1')).toMatchObject({ kind: 'used' });
      expect(await from('2001:db8::1')).toMatchObject({ kind: 'used' });
      expect(await from('192.0.2.1')).toMatchObject({
        token: { uses: 3, addresses: ['192.0.2.1', '2001:db8::1'] },
      });
      expect(await from('192.0.2.2')).toMatchObject({
        kind: 'refused',
        why: 'leaked',
        token: { state: 'revoked' },
      });
      expect(await from('192.0.2.1')).toMatchObject({ kind: 'refused', why: 'revoked' });
      await issued('u');
    });

    it('K9 lets no more addresses through than allowed when they come at once', async () => {
      await issued('t');
      const addresses = Array.from({ length: 10 }, (_, n) => `192.0.2.${n}`);
      const all = addresses.map((address) => db.tokens.use(use('t', { address, maxAddresses: 3 })));
      const used = (await Promise.all(all)).filter(({ kind }) => kind === 'used');
      expect(used.length).toBeLessThanOrEqual(3);
      expect(await db.tokens.find('t')).toMatchObject({ state: 'revoked' });
    });

    it('K5 revokes all live tokens of a credential and frees its slots', async () => {
      for (const hash of ['a', 'b', 'c']) await issued(hash, { slots: null });
      await issued('d', { slots: null, validMs: 100 });
      await db.tokens.end('a', 'released', null);
      await passMs(100);
      expect(await db.tokens.revokeOf(credential.id)).toBe(2);
      expect(await db.tokens.revokeOf(credential.id)).toBe(0);
      expect(await db.tokens.find('a')).toMatchObject({ state: 'released' });
      await issued('e');
    });

    it('K4 tells of live tokens page by page', async () => {
      for (const hash of ['b', 'a', 'c', 'd']) await issued(hash, { slots: null, policy: hash });
      await db.tokens.end('c', 'released', null);
      await issued('e', { slots: null, validMs: 10, holder: 'other' });
      const hashes = async (query: Partial<Parameters<Database['tokens']['live']>[0]>) =>
        (await db.tokens.live({ after: null, limit: 10, ...query })).map(({ hash }) => hash);
      expect(await hashes({ holder: 'other' })).toEqual(['e']);
      await passMs(10);
      expect(await hashes({})).toEqual(['a', 'b', 'd']);
      expect(await hashes({ after: 'a', limit: 1 })).toEqual(['b']);
      expect(await hashes({ policy: 'd', credential: 'account' })).toEqual(['d']);
      expect(await hashes({ credential: 'none' })).toEqual([]);
    });

    it('K4 forgets tokens that are long over, so many at a time', async () => {
      for (const hash of ['a', 'b', 'c']) await issued(hash, { slots: null, validMs: 1000 });
      await issued('d', { slots: null });
      await issued('e', { slots: null });
      await db.tokens.end('e', 'released', null);
      await passMs(2000);
      expect(await db.tokens.sweep(1500, 10)).toBe(1);
      expect(await db.tokens.sweep(500, 2)).toBe(2);
      expect(await db.tokens.sweep(500, 2)).toBe(1);
      expect(await db.tokens.find('d')).not.toBeNull();
      expect(await db.tokens.liveCounts()).toEqual(new Map([['account', 1]]));
    });
  });
}
