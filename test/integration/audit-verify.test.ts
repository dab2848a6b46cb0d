import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.js';
import { keptOutput } from '../cli/support.js';
import { makeAuditedStore, tamperingHand, type AuditedStore } from '../support/audited-store.js';
import { tamperWithRows } from '../support/audit-tampering.js';

let folder = '';
let store: AuditedStore;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'turnpike-verify-'));
  store = await makeAuditedStore(folder, 40);
});
afterAll(() => rmSync(folder, { recursive: true }));

async function verified(...args: string[]): Promise<{ code: number; text: string }> {
  const output = keptOutput();
  const code = await run(['audit', 'verify', '--config', store.config, ...args], output);
  return { code, text: [...output.printed, ...output.told].join('\n') };
}

describe('turnpike audit verify', () => {
  it('K8 says that database and file are whole', async () => {
    const { code, text } = await verified();
    expect(text).toContain('database: 42 records in 1 chains: whole');
    expect(text).toContain('audit.log: 42 records in 1 chains: whole');
    expect(code).toBe(0);
    expect(JSON.parse((await verified('--json')).text)).toMatchObject({ database: { records: 42 } });
  });

  it('K8 says what is wrong, where, and that something is', async () => {
    const kept = readFileSync(store.file, 'utf8');
    const lines = kept.split('\n');
    writeFileSync(store.file, lines.toSpliced(5, 2).join('\n').replace('"task":"20"', '"task":"21"'));
    const { code, text } = await verified();
    expect(text).toMatch(/chain [0-9a-f]{16}, records 6 to 7: missing/);
    expect(text).toMatch(/chain [0-9a-f]{16}, record 22: altered/);
    expect(code).toBe(1);
    writeFileSync(`${store.file}.1`, kept);
    const moved = await verified('--file', `${store.file}.1`);
    expect(moved.code).toBe(0);
    writeFileSync(store.file, `${lines.slice(10, 30).join('\n')}\n`);
    expect((await verified()).text).toContain('records 1 to 10: missing');
    expect((await verified('--continues')).text).toMatch(/records 31 to 42: missing at the end/);
    writeFileSync(store.file, kept);
  });

  it('K8 sees in the database what the file, or the log of a gateway, knows better', async () => {
    copyFileSync(store.database, `${store.database}.kept`);
    const hand = tamperingHand(store.database);
    hand.run('delete from audit where n > 30');
    hand.close();
    const { code, text } = await verified();
    expect(text).toMatch(/database: 30 records in 1 chains: 1 fault\n.*records 31 to 42: missing at the end/);
    expect(code).toBe(1);
    const lines = readFileSync(store.file, 'utf8').trimEnd().split('\n');
    const { anchor, n, hash } = JSON.parse(lines.at(-1) ?? '') as Record<string, unknown>;
    const log = join(folder, 'gateway.log');
    writeFileSync(
      log,
      `{"level":30,"event":"start"}\n${JSON.stringify({ event: 'audit_anchored', chain: anchor, n, hash })}\n`,
    );
    rmSync(store.file);
    expect((await verified()).code).toBe(0);
    const byLog = await verified('--anchors', log);
    expect(byLog.text).toContain('records 31 to 42: missing at the end');
    expect(byLog.code).toBe(1);
    writeFileSync(store.file, `${lines.join('\n')}\n`);
    copyFileSync(`${store.database}.kept`, store.database);
  });

  it('ends with 2 where it can not look: another key, no such file, no vault', async () => {
    const key = readFileSync(join(folder, 'root.key'));
    writeFileSync(join(folder, 'root.key'), Buffer.alloc(32, 1).toString('base64'));
    expect(await verified()).toMatchObject({ code: 2, text: expect.stringContaining('root key') as string });
    writeFileSync(join(folder, 'root.key'), key);
    expect((await verified('--file', join(folder, 'none'))).code).toBe(2);
    expect((await verified('--config', join(folder, 'none.yaml'))).code).toBe(2);
  });
});

describe('K8 random tamperings with rows of the database', () => {
  it('are all seen; a thousand of them in test/long', { timeout: 60_000 }, () => tamperWithRows(store, 150));
});
