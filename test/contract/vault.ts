/**
 * What a vault must do over a real store, the same on each engine. `test/vault/` has what can be tried by a clock of the
 * test's own: who waits for whom, what is written when something fails.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.js';
import { systemBytes } from '../../src/core/random.js';
import { Secret } from '../../src/core/secret.js';
import type { Database } from '../../src/storage/ports.js';
import { placeOfSecret } from '../../src/vault/envelope.js';
import { openVault } from '../../src/vault/key-vault.js';
import { rekey } from '../../src/vault/rekey.js';
import { readRootKey, type RootKeySource } from '../../src/vault/root-key.js';
import type { Vault } from '../../src/vault/vault.js';
import { verify } from '../../src/vault/verify.js';
import { eventually } from '../support/wait.js';

/** Makes empty stores, and more connections to one. */
export interface VaultStores {
  /** A new store; call the result for each connection to it. */
  fresh(): Promise<() => Promise<Database>>;
}

/** Opens a vault that is closed with the suite. */
export function vaultOver(db: Database, instance: string, root: Buffer): Promise<Vault> {
  const rootKey = (): Promise<Buffer> => Promise.resolve(Buffer.from(root));
  const emit = (): void => undefined;
  const pace = { batch: 50, pauseMs: 5 };
  return openVault({ db, rootKey, instance, clock: systemClock, chance: systemBytes, emit, pace });
}

/** Seals and keeps secrets `secret N` as credentials `c-N`. */
export async function keepSecrets(db: Database, vault: Vault, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, n) => {
    const id = randomBytes(8).toString('hex');
    return {
      ...({
        id,
        key: `c-${n}`,
        type: 'api_key',
        meta: {},
        status: 'active',
        untilMs: null,
        reason: null,
      } as const),
      ...vault.seal(placeOfSecret(id, 1), Buffer.from(`secret ${n}`)),
    };
  });
  for (let at = 0; at < rows.length; at += 500) await db.credentials.insert(rows.slice(at, at + 500));
}

/** The secret of a credential. */
export async function shownSecret(db: Database, vault: Vault, key: string): Promise<string> {
  const found = await db.credentials.find(key);
  if (found === null) throw new Error(`${key} is gone`);
  const { id, version, sealed } = found.secret;
  return vault.reveal(placeOfSecret(id, version), sealed).toString();
}

/** Ids of keys that records are under, with how many. */
export async function recordsUnder(db: Database): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { id, term } of await db.keys.all()) {
    const count = await db.credentials.countUnder(id);
    if (count > 0) counts[term] = count;
  }
  return counts;
}

/** The suite. */
export function vaultContract(engine: Database['engine'], stores: VaultStores): void {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-vault-'));
  const open: { close(): Promise<void> }[] = [];
  afterAll(async () => {
    for (const each of open.reverse()) await each.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const kept = async <T extends { close(): Promise<void> }>(opening: Promise<T>): Promise<T> => {
    const opened = await opening;
    open.push(opened);
    return opened;
  };
  const fresh = async (): Promise<() => Promise<Database>> => {
    const connect = await stores.fresh();
    return () => kept(connect());
  };
  const vault = (db: Database, instance: string, root: Buffer): Promise<Vault> =>
    kept(vaultOver(db, instance, root));

  describe(`K1 K2 a vault over ${engine}`, () => {
    const root = randomBytes(32);

    it('K2 is the same by a variable, a file and a command; with another key it is sealed, and nothing is written', async () => {
      const db = await (await fresh())();
      const [file, other] = [join(folder, 'key'), join(folder, 'other')];
      writeFileSync(file, `${root.toString('base64')}\n`);
      writeFileSync(other, randomBytes(32).toString('base64'));
      for (const path of [file, other]) chmodSync(path, 0o600);
      const sources: RootKeySource[] = [
        { kind: 'env', name: 'KEY', secret: new Secret(root.toString('base64')) },
        { kind: 'file', path: file },
        { kind: 'command', argv: ['cat', file] },
      ];
      const opened = (source: RootKeySource, instance: string): Promise<Vault> =>
        kept(
          openVault({
            ...{ db, instance, clock: systemClock, chance: systemBytes, emit: () => undefined },
            rootKey: () => readRootKey(source, systemClock),
          }),
        );
      const vaults = await Promise.all(sources.map((source) => opened(source, source.kind)));
      await keepSecrets(db, vaults[0]!, 3);
      for (const each of vaults) expect(await shownSecret(db, each, 'c-2')).toBe('secret 2');
      const before = await db.keys.all();
      const wrong = await opened({ kind: 'file', path: other }, 'wrong');
      expect(wrong.state).toMatchObject({ kind: 'sealed', isStore: false });
      await expect(shownSecret(db, wrong, 'c-2')).rejects.toThrow('not the one');
      const bytes = (rows: typeof before) => rows.map(({ id, state, wrapped }) => [id, state, wrapped]);
      expect(bytes(await db.keys.all())).toEqual(bytes(before));
      writeFileSync(other, root.toString('base64'));
      expect(await wrong.unseal()).toEqual({ kind: 'open' });
      expect(await shownSecret(db, wrong, 'c-2')).toBe('secret 2');
    });

    it('makes its keys once where several begin on one store', async () => {
      const connect = await fresh();
      const dbs = await Promise.all([connect(), connect(), connect()]);
      const vaults = await Promise.all(dbs.map((db, n) => vault(db, `g${n}`, root)));
      expect((await dbs[0].keys.all()).map(({ state }) => state)).toEqual(['derive', 'primary']);
      await keepSecrets(dbs[0], vaults[0]!, 1);
      for (const [n, db] of dbs.entries()) expect(await shownSecret(db, vaults[n]!, 'c-0')).toBe('secret 0');
      const keys = vaults.map((each) => each.subKey('token').toString('hex'));
      expect(new Set(keys).size).toBe(1);
    });

    it('rotates its keys under use by two gateways, one of which learns of the new key late', async () => {
      const connect = await fresh();
      const [one, two] = [await connect(), await connect()];
      const first = await vault(one, 'one', root);
      await keepSecrets(one, first, 400);
      const [old] = (await one.keys.all()).filter(({ state }) => state === 'primary');
      await two.instances.announce({ id: 'late', newestKek: old!.id }, 60_000);
      expect(await first.rotation.start({ reencrypt: false })).toMatchObject({ kind: 'started' });
      await first.refresh();
      await eventually('the wait', async () => first.rotation.progress().waitsFor.includes('late'));
      expect((await one.keys.all()).map(({ state }) => state)).toEqual(['derive', 'primary', 'pending']);
      expect(await recordsUnder(one)).toEqual({ 2: 400 });
      await two.instances.leave('late');
      const second = await vault(two, 'two', root);
      let uses = 0;
      await eventually('the end', async () => {
        expect(await shownSecret(two, second, `c-${uses % 400}`)).toBe(`secret ${uses % 400}`);
        uses += 1;
        return (await recordsUnder(one))[3] === 400;
      });
      expect(await recordsUnder(two)).toEqual({ 3: 400 });
      for (let n = 0; n < 400; n += 1) expect(await shownSecret(two, second, `c-${n}`)).toBe(`secret ${n}`);
    });

    it('gets another root key in one go, and every secret still opens', async () => {
      const db = await (await fresh())();
      const first = await vault(db, 'one', root);
      await keepSecrets(db, first, 20);
      const to = randomBytes(32);
      expect(await rekey(db.keys, { from: root, to }, 'cli', systemBytes)).toEqual({ kind: 'done', keys: 2 });
      expect((await vault(db, 'old', root)).state).toMatchObject({ kind: 'sealed' });
      expect(await shownSecret(db, await vault(db, 'new', to), 'c-7')).toBe('secret 7');
      expect(await verify(db, root, () => undefined)).toEqual({ kind: 'wrong_key' });
      expect(await verify(db, to, () => undefined)).toEqual({
        ...{ kind: 'verified', secrets: 20, broken: 0 },
        shutKeys: [],
      });
    });

    it('names what does not open: swapped rows, an older version, what is not sealed', async () => {
      const db = await (await fresh())();
      expect(await verify(db, root, () => undefined)).toEqual({ kind: 'no_vault' });
      const first = await vault(db, 'one', root);
      await keepSecrets(db, first, 450);
      const [a, b] = [await db.credentials.find('c-1'), await db.credentials.find('c-2')];
      const secrets = {
        'c-1': b!.secret,
        'c-2': a!.secret,
        'c-3': (await db.credentials.find('c-3'))!.secret,
      };
      for (const [key, { kekId, sealed }] of Object.entries(secrets))
        await db.credentials.change(key, { secret: { kekId, sealed, version: 2 } }, null);
      await db.credentials.change(
        'c-4',
        { secret: { kekId: a!.secret.kekId, sealed: Buffer.from('plain'), version: 2 } },
        null,
      );
      const told: string[] = [];
      const found = await verify(
        db,
        root,
        ({ key, version, why }) => void told.push(`${key} ${version} ${why}`),
      );
      expect(found).toMatchObject({ kind: 'verified', secrets: 450, broken: 4 });
      expect(told).toEqual([
        'c-1 2 not_authentic',
        'c-2 2 not_authentic',
        'c-3 2 not_authentic',
        'c-4 2 not_sealed',
      ]);
      await expect(shownSecret(db, first, 'c-1')).rejects.toThrow('not_authentic');
    });
  });
}
