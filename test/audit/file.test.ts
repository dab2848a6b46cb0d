import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ChainCheck, type Finding } from '../../src/audit/check.js';
import { AuditFile } from '../../src/audit/file.js';
import { anchorLine, headOfLine, readAuditLine, recordLine } from '../../src/audit/lines.js';
import { checkFile, linesOf } from '../../src/audit/reading.js';
import { seededRandom } from '../../src/core/random.js';
import { auditKey, chainOf, faultsOf } from '../support/audit.js';

let folder = '';
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'turnpike-audit-'))));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
const newPath = (): string => join(folder, `audit-${files++}.log`);

async function findings(path: string, continues = false): Promise<Finding[]> {
  const check = new ChainCheck({ key: auditKey, sink: 'file', continues });
  await checkFile(path, check);
  return [...check.finish().findings];
}

const said = (list: readonly Finding[]): string[] => list.map(({ kind, n }) => `${kind} ${n}`);

describe('a line of the audit', () => {
  it('has one spelling', () => {
    const [row] = chainOf(1);
    if (row === undefined) throw new Error('no record');
    const line = recordLine(row);
    expect(readAuditLine(line)).toEqual({ kind: 'record', row, isExact: true });
    expect(readAuditLine(line.replace('{', '{ '))).toMatchObject({ kind: 'record', isExact: false });
    expect(readAuditLine(line.replace('"actor"', '"actor":"x","actor"'))).toMatchObject({ isExact: false });
    expect(readAuditLine(line.replace('{', '{"more":1,'))).toEqual({ kind: 'unreadable' });
    expect(readAuditLine(line.slice(0, -1))).toEqual({ kind: 'unreadable' });
    const head = anchorLine({ chain: 'c', n: 3, hash: 'ab', atMs: 5 });
    expect(readAuditLine(head)).toMatchObject({ kind: 'anchor', isExact: true, head: { n: 3 } });
    expect(readAuditLine('null')).toEqual({ kind: 'unreadable' });
    const { chain, n, atMs, hash } = row;
    expect(headOfLine(line)).toEqual({ chain, n, atMs, hash });
    expect([head, line.slice(0, -1), line.slice(1), ''].map(headOfLine)).toEqual([null, null, null, null]);
    expect(readAuditLine('{"torn":true}')).toEqual({ kind: 'torn_mark' });
  });
});

describe('the audit in a file', () => {
  const rows = chainOf(30);

  it('K8 keeps records for its owner alone, says how far chains have come, and gives them back', async () => {
    const path = newPath();
    const file = new AuditFile(path);
    expect(await file.heads()).toEqual([]);
    await file.append(rows.slice(0, 10));
    await file.append(rows.slice(10));
    await file.anchor({ chain: 'c1', n: 30, hash: rows[29]?.hash ?? '', atMs: 1 });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await file.heads()).toMatchObject([{ chain: 'c1', n: 30, hash: rows[29]?.hash }]);
    expect(await file.read('c1', 12, 5)).toEqual(rows.slice(11, 16));
    expect(await findings(path)).toEqual([]);
    await file.close();
    await file.close();
  });

  it('ends and marks a line that a crash tore, so that nothing behind it is lost', async () => {
    const path = newPath();
    const lines = rows.map(recordLine);
    writeFileSync(path, `${lines.slice(0, 10).join('\n')}\n${lines[10]?.slice(0, 40) ?? ''}`);
    expect(said(await findings(path))).toEqual(['torn 11']);
    const file = new AuditFile(path);
    expect(await file.heads()).toMatchObject([{ n: 10 }]);
    await file.append(rows.slice(10));
    expect(said(await findings(path))).toEqual(['torn 11']);
    expect(faultsOf({ records: 0, heads: [], more: 0, findings: await findings(path) })).toEqual([]);
    appendFileSync(path, 'nonsense\n{"anchor":"c1", "n":30,"atMs":1,"hash":"x"}\n');
    expect(said(await findings(path))).toEqual(['torn 11', 'unreadable 33', 'unreadable 34']);
    await file.close();
  });

  it('goes on in a new file when the old one was moved away; each can be verified alone', async () => {
    const path = newPath();
    const file = new AuditFile(path);
    await file.append(rows.slice(0, 20));
    renameSync(path, `${path}.1`);
    await file.append(rows.slice(20, 22));
    file.reopen();
    await file.append(rows.slice(22));
    await file.close();
    expect(await findings(`${path}.1`)).toEqual([]);
    expect(said(await findings(path))).toEqual(['missing 1']);
    expect(await findings(path, true)).toEqual([]);
    const check = new ChainCheck({ key: auditKey, sink: 'file', continues: false });
    for (const each of [`${path}.1`, path]) await checkFile(each, check);
    expect(check.finish()).toMatchObject({ records: 30, findings: [] });
  });

  it('rejects where the disk is full, and where there is no such folder', async () => {
    const full = new AuditFile('/dev/full');
    expect(await full.heads()).toEqual([]);
    await expect(full.append(rows)).rejects.toThrow('ENOSPC');
    await full.close();
    await expect(new AuditFile(join(folder, 'none', 'audit')).heads()).rejects.toThrow('ENOENT');
  });

  const small = spawnSync('sh', [
    '-c',
    'd=$(mktemp -d) && mount -t tmpfs -o size=64k none "$d" && echo "$d"',
  ]);
  const mounted = small.status === 0 ? small.stdout.toString().trim() : '';
  afterAll(() => void (mounted !== '' && spawnSync('umount', [mounted])));
  it.skipIf(mounted === '')(
    'K8 goes on behind the line that a full disk tore, once there is room',
    async () => {
      const path = join(mounted, 'audit.log');
      const file = new AuditFile(path);
      const many = chainOf(400);
      let at = 0;
      const fill = async (): Promise<void> => {
        for (; at < many.length; at += 7) await file.append(many.slice(at, at + 7));
      };
      writeFileSync(join(mounted, 'ballast'), 'x'.repeat(20_000));
      await expect(fill()).rejects.toThrow('ENOSPC');
      await expect(fill()).rejects.toThrow('ENOSPC');
      rmSync(join(mounted, 'ballast'));
      const before = at;
      for (; at < before + 28; at += 7) await file.append(many.slice(at, at + 7));
      const list = await findings(path);
      expect(faultsOf({ records: 0, heads: [], more: 0, findings: list })).toEqual([]);
      expect(list.map(({ kind }) => kind)).toContain('torn');
      expect(await file.heads()).toMatchObject([{ n: at }]);
      await file.close();
    },
  );
});

describe('K8 1,000 random tamperings with a file', () => {
  it('are all seen', async () => {
    const path = newPath();
    const file = new AuditFile(path);
    const rows = chainOf(25);
    await file.append(rows);
    await file.anchor({ chain: 'c1', n: 25, hash: rows[24]?.hash ?? '', atMs: 1 });
    await file.close();
    const whole = readFileSync(path);
    const random = seededRandom(8);
    const lines = whole.toString().trimEnd().split('\n');
    const tamper = [
      (): Buffer => {
        const bytes = Buffer.from(whole);
        const at = random.below(bytes.length - 1);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
        return bytes;
      },
      (): Buffer => joined(lines.toSpliced(random.below(25), 1)),
      (): Buffer => {
        const [a, b] = [random.below(25), random.below(24)];
        return joined(lines.toSpliced(a, 1).toSpliced(b >= a ? b + 1 : b, 0, lines[a] ?? ''));
      },
      (): Buffer => joined([...lines.slice(0, 1 + random.below(24)), lines[25] ?? '']),
    ];
    for (let round = 0; round < 1000; round++) {
      const bytes = tamper[round % 4]?.() ?? whole;
      if (bytes.equals(whole)) continue;
      writeFileSync(path, bytes);
      const faults = faultsOf({ records: 0, heads: [], more: 0, findings: await findings(path) });
      expect(faults, `round ${round}`).not.toEqual([]);
    }
  });
});

const joined = (lines: readonly string[]): Buffer => Buffer.from(`${lines.join('\n')}\n`);

describe('lines of a file', () => {
  it('end at line feeds alone, whole across pieces, the last one too', async () => {
    const path = newPath();
    const lines = ['a\u2028b\rc', 'x'.repeat(200_000), '', 'end'];
    writeFileSync(path, lines.join('\n'));
    const read: string[] = [];
    for await (const { text } of linesOf(path)) read.push(text);
    expect(read).toEqual(lines);
    for await (const { text } of linesOf('/dev/full')) read.push(text);
    expect(read).toHaveLength(4);
  });
});
