/** `turnpike vault verify | backup | rekey` on real stores, and backups that are brought back as docs/vault.md says. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.js';
import { loadConfig } from '../../src/config/load.js';
import { systemClock } from '../../src/core/clock.js';
import { openDatabase } from '../../src/storage/open-database.js';
import type { Database } from '../../src/storage/ports.js';
import type { Vault } from '../../src/vault/vault.js';
import { keptOutput } from '../cli/support.js';
import { keepSecrets, shownSecret, vaultOver } from '../contract/vault.js';
import { startPostgres, type RealPostgres } from '../support/real-postgres.js';

const folder = mkdtempSync(join(tmpdir(), 'turnpike-vault-commands-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A vault in use, as its configuration has it, and the commands on it. */
class Deployment {
  readonly root = randomBytes(32);
  readonly keyFile: string;
  private readonly config: string;
  private readonly open: { close(): Promise<void> }[] = [];

  constructor(name: string, storage: string) {
    this.keyFile = join(folder, `${name}.key`);
    this.config = join(folder, `${name}.yaml`);
    writeFileSync(this.keyFile, this.root.toString('base64'), { mode: 0o600 });
    writeFileSync(this.config, `vault: { key: file:${this.keyFile} }\nstorage: ${storage}\n`);
  }

  /** A gateway's part of it. @param root its root key, where it is another by now */
  async gateway(root = this.root): Promise<{ db: Database; vault: Vault }> {
    const loaded = loadConfig({ file: this.config, overrides: {}, env: {} });
    if (loaded.kind === 'problems') throw new Error(JSON.stringify(loaded.problems));
    const db = await openDatabase(loaded.config.storage, { clock: systemClock });
    const vault = await vaultOver(db, randomBytes(4).toString('hex'), root);
    this.open.push(db, vault);
    return { db, vault };
  }

  async stop(): Promise<void> {
    for (const each of this.open.splice(0).reverse()) await each.close();
  }

  async turnpike(...args: string[]): Promise<{ code: number; text: string }> {
    const output = keptOutput();
    const code = await run([...args, '--config', this.config], output);
    return { code, text: [...output.printed, ...output.told].join('\n') };
  }
}

const deployments: Deployment[] = [];
const deployment = (name: string, storage: string): Deployment => {
  const made = new Deployment(name, storage);
  deployments.push(made);
  return made;
};
afterEach(async () => {
  for (const each of deployments.splice(0)) await each.stop();
});

describe('K1 a SQLite store', () => {
  it('is copied under use, brought back as the documentation says, and opens with the same key', async () => {
    const [path, copy] = [join(folder, 'used.db'), join(folder, 'copy.db')];
    const used = deployment('used', `{ kind: sqlite, path: ${path} }`);
    const { db, vault } = await used.gateway();
    await keepSecrets(db, vault, 300);
    expect(await used.turnpike('vault', 'backup', copy)).toMatchObject({ code: 0 });
    expect((await used.turnpike('vault', 'backup', copy)).code).not.toBe(0);
    await db.credentials.remove('c-7');
    await vault.rotation.start({ reencrypt: true });
    expect((await used.turnpike('vault', 'verify')).text).toBe('299 secrets, 299 open, 0 do not');
    await used.stop();
    for (const rest of ['-wal', '-shm']) rmSync(`${path}${rest}`, { force: true });
    copyFileSync(copy, path);
    expect(await used.turnpike('vault', 'verify')).toEqual({
      code: 0,
      text: '300 secrets, 300 open, 0 do not',
    });
    const again = await used.gateway();
    expect(await shownSecret(again.db, again.vault, 'c-7')).toBe('secret 7');
    expect(again.vault.keys()).toMatchObject([{ term: 2, state: 'primary' }]);
  });

  it('gets another root key, under gateways that run; the old one opens it no more', async () => {
    const used = deployment('rekeyed', `{ kind: sqlite, path: ${join(folder, 'rekeyed.db')} }`);
    const { db, vault } = await used.gateway();
    await keepSecrets(db, vault, 10);
    const next = join(folder, 'next.key');
    expect((await used.turnpike('vault', 'rekey', '--to', `file:${next}`)).text).toContain('ENOENT');
    expect((await used.turnpike('vault', 'rekey')).text).toContain('--to is needed');
    const wrong = await used.turnpike('vault', 'rekey', '--to', used.root.toString('base64'));
    expect(wrong.code).toBe(2);
    expect(wrong.text).not.toContain(used.root.toString('base64'));
    await run(['vault', 'init', next], keptOutput());
    const command = JSON.stringify(['cat', next]);
    expect(await used.turnpike('vault', 'rekey', '--to', command)).toEqual({
      ...{ code: 0, text: expect.stringContaining('2 keys wrapped anew') },
    });
    expect(await shownSecret(db, vault, 'c-3')).toBe('secret 3');
    expect(await used.turnpike('vault', 'verify')).toEqual({
      ...{ code: 1, text: 'turnpike: the root key is not the one of this vault' },
    });
    copyFileSync(next, used.keyFile);
    chmodSync(used.keyFile, 0o600);
    expect((await used.turnpike('vault', 'verify')).text).toBe('10 secrets, 10 open, 0 do not');
    expect((await used.gateway()).vault.state).toMatchObject({ kind: 'sealed' });
  });

  it('is told apart from one that is damaged', async () => {
    const used = deployment('damaged', `{ kind: sqlite, path: ${join(folder, 'damaged.db')} }`);
    expect((await used.turnpike('vault', 'verify')).text).toContain('there is no vault in this store yet');
    const { db, vault } = await used.gateway();
    await keepSecrets(db, vault, 25);
    const { secret } = (await db.credentials.find('c-1'))!;
    for (let n = 2; n < 25; n += 1)
      await db.credentials.change(`c-${n}`, { secret: { ...secret, version: 2 } }, null);
    const { code, text } = await used.turnpike('vault', 'verify');
    expect([code, text]).toEqual([1, expect.stringContaining('25 secrets, 2 open, 23 do not')]);
    expect(text).toContain('c-2, version 2: not_authentic');
    expect(text).toContain('and 3 more');
    chmodSync(used.keyFile, 0o644);
    expect((await used.turnpike('vault', 'verify')).text).toContain('chmod 600');
  });
});

describe('K1 a PostgreSQL store', () => {
  let server: RealPostgres;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.close());

  it('is copied under use by pg_dump, brought back by pg_restore, and opens with the same key', async () => {
    const url = server.url(await server.withTables());
    const used = deployment('postgres', `{ kind: postgres, url: "${url}" }`);
    const { db, vault } = await used.gateway();
    await keepSecrets(db, vault, 300);
    const dump = join(folder, 'turnpike.dump');
    const told = await used.turnpike('vault', 'backup', dump);
    expect([told.code, told.text]).toEqual([2, expect.stringContaining('pg_dump --format=custom --file=')]);
    execFileSync('pg_dump', ['--format=custom', `--file=${dump}`, url]);
    await db.credentials.remove('c-7');
    await vault.rotation.start({ reencrypt: true });
    await used.stop();
    execFileSync('pg_restore', ['--clean', '--if-exists', '--no-owner', `--dbname=${url}`, dump]);
    expect(await used.turnpike('vault', 'verify')).toEqual({
      code: 0,
      text: '300 secrets, 300 open, 0 do not',
    });
    const again = await used.gateway();
    expect(await shownSecret(again.db, again.vault, 'c-7')).toBe('secret 7');
    expect(again.vault.keys()).toMatchObject([{ term: 2, state: 'primary' }]);
  });
});
