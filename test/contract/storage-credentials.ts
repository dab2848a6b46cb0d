/** What credentials, policies, clients and the sequence of changes must do over every engine. Call it once for each. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { NewCredential } from '../../src/storage/credential-ports.js';
import type { Database } from '../../src/storage/ports.js';
import type { MakeStore, UnderTest } from './under-test.js';

let ids = 0;

/** A credential to be kept, with an id of its own. */
export function newCredential(key: string, changes: Partial<NewCredential> = {}): NewCredential {
  return {
    ...{ id: `id-${process.pid}-${++ids}`, key, type: 'api_key', meta: { group: 'europe' } },
    ...{ status: 'active', untilMs: null, reason: null, kekId: 'kek-1', sealed: Buffer.from([0, 1, 255]) },
    ...changes,
  };
}

/** Registers the suite for one engine. */
export function credentialsContract(name: string, make: MakeStore<Database>): void {
  describe(`credentials: ${name}`, () => {
    let db: Database;
    let passMs: UnderTest<Database>['passMs'];
    beforeEach(async () => {
      ({ store: db, passMs } = await make());
    });
    const kept = async (...rows: NewCredential[]) =>
      expect(await db.credentials.insert(rows)).not.toContain('exists');
    const refs = async (since = 0) => (await db.changes(since, 1000)).map(({ ref }) => ref);

    it('K2 keeps credentials with all that they say, and gives the secret with find alone', async () => {
      const row = newCredential('käufer "1"\n', {
        meta: { tags: ['a', null, { deep: '\u0000\ud800' }], weight: 1.5 },
        ...{ type: 'cookie_string', status: 'disabled', reason: 'größer' },
      });
      await kept(row);
      const { kekId, sealed, ...said } = row;
      const stamps = { createdMs: expect.any(Number) as number, updatedMs: expect.any(Number) as number };
      const whole = { ...said, version: 1, revision: 1, ...stamps };
      const secret = { id: row.id, version: 1, kekId, sealed };
      expect(await db.credentials.find(row.key)).toEqual({ ...whole, secret });
      expect(await db.credentials.rows([row.key, 'none'])).toEqual([whole]);
      expect(await db.credentials.list({ after: null, limit: 5 })).toEqual([whole]);
      expect(await db.credentials.find('none')).toBeNull();
    });

    it('K2 keeps the first of a key, and says which were new', async () => {
      await kept(newCredential('a'));
      const again = ['c', 'a', 'b', 'c'].map((key) => newCredential(key, { reason: 'again' }));
      const told = await db.credentials.insert(again);
      expect(told).toEqual(['inserted', 'exists', 'inserted', 'exists']);
      expect((await db.credentials.find('a'))?.reason).toBeNull();
      expect(await refs(1)).toEqual(['b', 'c']);
      expect(await db.lastChange()).toBe(3);
    });

    it('K2 keeps thousands at once', async () => {
      const rows = Array.from({ length: 2345 }, (_, n) => newCredential(`k${n}`));
      await kept(...rows);
      expect(await db.credentials.rows(rows.map(({ key }) => key))).toHaveLength(2345);
      expect(await db.changes(0, 5000)).toHaveLength(2345);
      expect(await db.lastChange()).toBe(2345);
      expect(await db.credentials.insert([])).toEqual([]);
    });

    it('K15 lists page by page in the order of keys, by type and by status', async () => {
      await kept(
        newCredential('Z'),
        newCredential('a', { type: 'oauth2_token' }),
        newCredential('b', { status: 'banned' }),
        newCredential('é'),
      );
      const keys = async (query: Partial<Parameters<Database['credentials']['list']>[0]>) =>
        (await db.credentials.list({ after: null, limit: 10, ...query })).map(({ key }) => key);
      expect(await keys({ limit: 2 })).toEqual(['Z', 'a']);
      expect(await keys({ after: 'a' })).toEqual(['b', 'é']);
      expect(await keys({ type: 'oauth2_token' })).toEqual(['a']);
      expect(await keys({ status: 'banned' })).toEqual(['b']);
      expect(await keys({ status: 'active', type: 'api_key' })).toEqual(['Z', 'é']);
    });

    it('K2 changes what is named and leaves the rest; an old revision is a conflict', async () => {
      await kept(newCredential('a'));
      const rest = await db.credentials.change(
        'a',
        { status: 'cooldown', forMs: 1000, reason: 'captcha' },
        1,
      );
      expect(rest).toMatchObject({
        kind: 'changed',
        row: { status: 'cooldown', reason: 'captcha', revision: 2 },
      });
      if (rest.kind !== 'changed') return;
      expect(Math.abs((rest.row.untilMs ?? 0) - rest.row.updatedMs - 1000)).toBeLessThan(100);
      const meta = await db.credentials.change('a', { meta: {} }, null);
      expect(meta).toMatchObject({
        row: { status: 'cooldown', untilMs: rest.row.untilMs, meta: {}, revision: 3 },
      });
      expect(await db.credentials.change('a', { meta: {} }, 2)).toEqual({ kind: 'conflict' });
      expect(await db.credentials.change('b', { meta: {} }, null)).toEqual({ kind: 'gone' });
      expect(await db.credentials.change('a', { id: 'other', meta: {} }, null)).toEqual({ kind: 'gone' });
      const active = await db.credentials.change('a', { status: 'active' }, null);
      expect(active).toMatchObject({ row: { status: 'active', untilMs: null, reason: null } });
      expect(await refs(1)).toEqual(['a']);
      expect(await db.lastChange()).toBe(4);
    });

    it('K2 takes a new secret for the next version only', async () => {
      await kept(newCredential('a'));
      const secret = (version: number) => ({ version, kekId: 'kek-2', sealed: Buffer.from(`v${version}`) });
      expect(await db.credentials.change('a', { secret: secret(3) }, null)).toEqual({ kind: 'conflict' });
      await db.credentials.change('a', { secret: secret(2) }, null);
      expect((await db.credentials.find('a'))?.secret).toMatchObject(secret(2));
    });

    it('K2 removes a credential with its tokens, and tells of it', async () => {
      const row = newCredential('a');
      await kept(row);
      const place = { credentialId: row.id, credentialKey: 'a', policy: 'p', holder: 'h', context: {} };
      await db.tokens.issue({ ...place, hash: 't', maxUses: null, validMs: 1000, slots: 1 });
      await db.credentials.addUses(new Map([[row.id, { uses: 1, lastUsedMs: 1 }]]));
      expect(await db.credentials.remove('a')).toBe(true);
      expect(await db.credentials.remove('a')).toBe(false);
      expect(await db.tokens.find('t')).toBeNull();
      expect(await db.changes(1, 10)).toEqual([{ seq: 2, kind: 'credential', ref: 'a' }]);
    });

    it('K10 finds secrets by their key of keys and replaces a seal only where it still is what it was', async () => {
      const rows = ['a', 'b', 'c'].map((key) => newCredential(key));
      await kept(...rows, newCredential('d', { kekId: 'kek-2' }));
      expect(await db.credentials.countUnder('kek-1')).toBe(3);
      const [one, two] = await db.credentials.sealedUnder('kek-1', 2);
      expect(one).toMatchObject({ version: 1, kekId: 'kek-1', sealed: rows[0]?.sealed });
      if (one === undefined || two === undefined) throw new Error('nothing was found');
      const sealed = Buffer.from('new');
      const seals = [
        { ...one, kekId: 'kek-2', sealed, from: 'kek-1' },
        { ...two, version: 2, kekId: 'kek-2', sealed, from: 'kek-1' },
        { ...two, kekId: 'kek-2', sealed, from: 'kek-0' },
      ];
      expect(await db.credentials.reseal(seals)).toBe(1);
      expect(await db.credentials.reseal(seals)).toBe(0);
      expect(await db.credentials.countUnder('kek-1')).toBe(2);
      expect((await db.credentials.sealedUnder('kek-2', 9)).find(({ id }) => id === one.id)?.sealed).toEqual(
        sealed,
      );
    });

    it('K3 adds uses up, keeps the latest time, and lets those of no credential be', async () => {
      const row = newCredential('a');
      await kept(row);
      await db.credentials.addUses(new Map([[row.id, { uses: 2, lastUsedMs: 500 }]]));
      const more = { uses: 3, lastUsedMs: 400 };
      await db.credentials.addUses(
        new Map([
          [row.id, more],
          ['none', more],
        ]),
      );
      await db.credentials.addUses(new Map());
      expect(await db.credentials.usedSince(500)).toEqual([{ id: row.id, key: 'a', uses: 5 }]);
      expect(await db.credentials.usedSince(501)).toEqual([]);
    });

    it('K3 keeps policies by name', async () => {
      const document = { selector: 'random', filters: { 'meta.group': 'europe' } };
      expect(await db.policies.insert({ id: 'p1', name: 'scrape', document })).toBe('inserted');
      expect(await db.policies.insert({ id: 'p2', name: 'scrape', document: {} })).toBe('exists');
      expect(await db.policies.find('scrape')).toMatchObject({
        id: 'p1',
        name: 'scrape',
        document,
        revision: 1,
      });
      await passMs(50);
      const changed = await db.policies.replace('scrape', { selector: 'round_robin' });
      expect(changed).toMatchObject({ id: 'p1', document: { selector: 'round_robin' }, revision: 2 });
      expect(changed?.updatedMs).toBeGreaterThanOrEqual((changed?.createdMs ?? 0) + 50);
      expect(await db.policies.replace('none', {})).toBeNull();
      expect((await db.policies.all()).map(({ name: each }) => each)).toEqual(['scrape']);
      expect(await db.policies.remove('scrape')).toBe(true);
      expect(await db.policies.remove('scrape')).toBe(false);
      expect(await db.policies.find('scrape')).toBeNull();
      expect(await db.changes(0, 10)).toEqual([{ seq: 3, kind: 'policy', ref: 'scrape' }]);
    });

    it('G9 keeps clients by name', async () => {
      const client = { name: 'crawler', passwordHash: 'scrypt$…', document: { targets: ['shop.example'] } };
      expect(await db.clients.insert(client)).toBe('inserted');
      expect(await db.clients.insert({ ...client, passwordHash: null })).toBe('exists');
      expect(await db.clients.all()).toMatchObject([client]);
      expect(await db.clients.replace({ ...client, passwordHash: null })).toMatchObject({
        passwordHash: null,
      });
      expect(await db.clients.replace({ ...client, name: 'none' })).toBeNull();
      expect(await db.clients.remove('crawler')).toBe(true);
      expect(await db.clients.remove('crawler')).toBe(false);
      expect(await db.changes(0, 10)).toEqual([{ seq: 3, kind: 'client', ref: 'crawler' }]);
    });

    it('K16 tells changes in their order from any place, at most so many, the last of each thing', async () => {
      expect([await db.lastChange(), await db.changes(0, 10)]).toEqual([0, []]);
      await kept(newCredential('a'), newCredential('b'), newCredential('c'));
      await db.credentials.change('a', { meta: {} }, null);
      expect(await db.changes(1, 2)).toEqual([
        { seq: 2, kind: 'credential', ref: 'b' },
        { seq: 3, kind: 'credential', ref: 'c' },
      ]);
      expect(await refs(3)).toEqual(['a']);
    });

    it('K16 never makes a change visible before one with a lower place, whoever writes at once', async () => {
      const writers = Array.from({ length: 12 }, async (_, writer) => {
        for (let n = 0; n < 10; n++)
          await kept(newCredential(`${writer}-${n}`), newCredential(`${writer}-${n}-b`));
      });
      const seen = new Set<number>();
      let last = 0;
      const isOver = Promise.all(writers).then(() => true);
      for (let isDone = false; !isDone;) {
        isDone = await Promise.race([isOver, new Promise<false>((resolve) => setImmediate(resolve, false))]);
        for (const { seq } of await db.changes(last, 1000)) seen.add((last = seq));
      }
      expect(seen.size).toBe(240);
      expect(last).toBe(await db.lastChange());
    });
  });
}
