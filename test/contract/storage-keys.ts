/** What keys, audit, instances and the names of what is done once must do over every engine. Call it once for each. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditRow, Database, KeyRow } from '../../src/storage/ports.js';
import type { MakeStore, UnderTest } from './under-test.js';

/** A record of the audit. */
export function auditRow(chain: string, n: number, changes: Partial<AuditRow> = {}): AuditRow {
  return {
    ...{ chain, n, atMs: 1000 + n, action: 'redeem', actor: 'crawler', address: '192.0.2.1' },
    ...{ credential: 'account', token: 'tok', policy: 'scrape', target: 'shop.example', task: null },
    ...{ outcome: 'ok', detail: { status: 200 }, hash: `hash-${chain}-${n}` },
    ...changes,
  };
}

/** Registers the suite for one engine. @param alter runs SQL past the ports, as somebody with the database's login */
export function keysContract(
  name: string,
  make: MakeStore<Database>,
  alter: (sql: string) => Promise<unknown>,
): void {
  describe(`keys, audit, once: ${name}`, () => {
    let db: Database;
    let passMs: UnderTest<Database>['passMs'];
    beforeEach(async () => {
      ({ store: db, passMs } = await make());
    });
    const bytes = (text: string) => Buffer.from(text);
    const put = (id: string, term: number, state: KeyRow['state']) =>
      db.keys.insert({ id, term, state, wrapped: bytes(id) });

    it('K10 keeps keys by term, one primary and one to derive from', async () => {
      expect(await put('d', 1, 'derive')).toBe('inserted');
      expect(await put('a', 2, 'primary')).toBe('inserted');
      expect(await put('b', 2, 'pending')).toBe('exists');
      expect(await put('a', 3, 'pending')).toBe('exists');
      expect(await put('c', 3, 'primary')).toBe('exists');
      expect(await put('e', 3, 'derive')).toBe('exists');
      expect(await put('c', 3, 'pending')).toBe('inserted');
      expect(await db.keys.all()).toMatchObject([
        { id: 'd', term: 1, state: 'derive', wrapped: bytes('d'), wraps: 0 },
        { id: 'a', term: 2, state: 'primary' },
        { id: 'c', term: 3, state: 'pending' },
      ]);
      expect((await db.changes(0, 10)).map(({ kind, ref }) => [kind, ref])).toEqual([
        ['key', 'd'],
        ['key', 'a'],
        ['key', 'c'],
      ]);
    });

    it('K10 moves all keys or none, and takes the bytes of what is destroyed', async () => {
      await put('a', 1, 'primary');
      await put('b', 2, 'pending');
      const swap = [
        { id: 'b', from: 'pending', to: 'primary' },
        { id: 'a', from: 'primary', to: 'retired' },
      ] as const;
      expect(await db.keys.move([swap[0], { id: 'a', from: 'retired', to: 'destroyed' }])).toBe(false);
      expect((await db.keys.all()).map(({ state }) => state)).toEqual(['primary', 'pending']);
      expect(await db.keys.move(swap)).toBe(true);
      expect(await db.keys.move(swap)).toBe(false);
      expect(await db.keys.move([])).toBe(true);
      await db.keys.move([{ id: 'a', from: 'retired', to: 'destroyed' }]);
      expect(await db.keys.all()).toMatchObject([
        { state: 'destroyed', wrapped: null },
        { state: 'primary', wrapped: bytes('b') },
      ]);
    });

    it('K10 wraps all keys anew with values, or nothing', async () => {
      await put('a', 1, 'retired');
      await put('b', 2, 'primary');
      const wrap = (id: string, was: string) => ({ id, was: bytes(was), wrapped: bytes(`new ${id}`) });
      const check = new Map([['check', bytes('2')]]);
      expect(await db.keys.rewrap([wrap('a', 'a'), wrap('b', 'x')], check)).toBe(false);
      expect([await db.keys.value('check'), (await db.keys.all())[0]?.wrapped]).toEqual([null, bytes('a')]);
      expect(await db.keys.rewrap([wrap('a', 'a'), wrap('b', 'b')], check)).toBe(true);
      expect((await db.keys.all()).map(({ wrapped }) => String(wrapped))).toEqual(['new a', 'new b']);
      expect(await db.keys.value('check')).toEqual(bytes('2'));
    });

    it('K10 sets a value once, counts wraps, and lets one at a time rotate', async () => {
      expect(await db.keys.setValue('v', bytes('1'))).toEqual(bytes('1'));
      expect(await db.keys.setValue('v', bytes('2'))).toEqual(bytes('1'));
      await put('a', 1, 'primary');
      await Promise.all([db.keys.addWraps('a', 5), db.keys.addWraps('a', 7)]);
      expect((await db.keys.all())[0]?.wraps).toBe(12);
      expect(await db.keys.claim('rotation', 'g1', 1000)).toBe(true);
      expect(await db.keys.claim('rotation', 'g2', 1000)).toBe(false);
      await passMs(600);
      expect(await db.keys.claim('rotation', 'g1', 1000)).toBe(true);
      await passMs(600);
      expect(await db.keys.claim('rotation', 'g2', 1000)).toBe(false);
      await passMs(400);
      expect(await db.keys.claim('rotation', 'g2', 1000)).toBe(true);
    });

    it('K10 lets one of many who start at once make the first key', async () => {
      const told = await Promise.all(Array.from({ length: 8 }, (_, n) => put(`k${n}`, 1, 'primary')));
      expect(told.filter((each) => each === 'inserted')).toHaveLength(1);
    });

    it('K8 keeps the audit as it is written, once', async () => {
      const rows = [auditRow('c1', 1), auditRow('c1', 2, { address: null, task: 'größer\n', detail: {} })];
      await db.audit.append(rows);
      await db.audit.append(rows);
      await db.audit.append([]);
      expect(await db.audit.read('c1', 1, 10)).toEqual(rows);
      expect(await db.audit.read('c1', 2, 10)).toEqual(rows.slice(1));
      await expect(
        db.audit.append([auditRow('c1', 3), auditRow('c1', 2, { hash: 'other' })]),
      ).rejects.toThrow();
    });

    it('K8 refuses changes of the audit past the ports', async () => {
      await db.audit.append([auditRow('c1', 1), auditRow('c1', 2)]);
      for (const sql of [
        `update audit set actor = 'x'`,
        'delete from audit where n = 2',
        'delete from audit',
      ])
        await expect(alter(sql), sql).rejects.toThrow();
      if (db.engine === 'postgres') await expect(alter('truncate audit')).rejects.toThrow();
      expect(await db.audit.read('c1', 1, 10)).toHaveLength(2);
    });

    it('K8 finds records, the newest first, page by page, by each of their fields', async () => {
      const rows = Array.from({ length: 9 }, (_, n) =>
        auditRow(n % 2 === 0 ? 'c1' : 'c2', n + 1, { actor: `a${n % 3}`, task: n === 4 ? 'nightly' : null }),
      );
      await db.audit.append(rows);
      const places = async (query: Partial<Parameters<Database['audit']['search']>[0]>) =>
        (await db.audit.search({ before: null, limit: 100, ...query })).map(({ n }) => n);
      expect(await places({})).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1]);
      expect(await places({ before: { atMs: 1006, chain: 'c2', n: 6 }, limit: 2 })).toEqual([5, 4]);
      expect(await places({ fromMs: 1003, toMs: 1005 })).toEqual([5, 4, 3]);
      expect(await places({ actor: 'a1' })).toEqual([8, 5, 2]);
      expect(await places({ task: 'nightly', target: 'shop.example', action: 'redeem' })).toEqual([5]);
      expect(await places({ credential: 'none' })).toEqual([]);
      expect(await places({ token: 'tok', limit: 1 })).toEqual([9]);
    });

    it('K8 knows the last record of each chain', async () => {
      expect(await db.audit.heads()).toEqual([]);
      await db.audit.append([auditRow('b', 1), auditRow('b', 2), auditRow('a', 7)]);
      expect(await db.audit.heads()).toEqual([
        { chain: 'a', n: 7, hash: 'hash-a-7', atMs: 1007 },
        { chain: 'b', n: 2, hash: 'hash-b-2', atMs: 1002 },
      ]);
    });

    it('K16 knows which processes live', async () => {
      await db.instances.announce({ id: 'g1', newestKek: 'a' }, 1000);
      await db.instances.announce({ id: 'g2', newestKek: null }, 3000);
      await db.instances.announce({ id: 'g1', newestKek: 'b' }, 1000);
      expect(await db.instances.live()).toEqual([
        { id: 'g1', newestKek: 'b' },
        { id: 'g2', newestKek: null },
      ]);
      await passMs(1000);
      expect((await db.instances.live()).map(({ id }) => id)).toEqual(['g2']);
      await db.instances.leave('g2');
      expect(await db.instances.live()).toEqual([]);
    });

    it('K5 does a thing once under a name, and gives its answer again', async () => {
      const { once } = db;
      expect(await once.begin('n', 'f', 1000)).toBeNull();
      expect(await once.begin('n', 'g', 1000)).toEqual({ fingerprint: 'f', status: null, body: null });
      await once.finish('n', { status: 201, body: '{}' }, 5000);
      await passMs(1000);
      expect(await once.begin('n', 'f', 1000)).toEqual({ fingerprint: 'f', status: 201, body: '{}' });
      await passMs(4000);
      expect(await once.begin('n', 'h', 1000)).toBeNull();
      await once.forget('n');
      expect(await once.begin('n', 'i', 1000)).toBeNull();
      const racers = await Promise.all(Array.from({ length: 10 }, () => once.begin('m', 'f', 1000)));
      expect(racers.filter((each) => each === null)).toHaveLength(1);
    });

    it('K15 can be asked whether it is there, and closes once', async () => {
      await db.check();
      await db.close();
      await db.close();
      await expect(db.check()).rejects.toMatchObject({ name: 'StorageAway' });
      await expect(db.policies.remove('x')).rejects.toMatchObject({ name: 'StorageAway' });
    });
  });
}
