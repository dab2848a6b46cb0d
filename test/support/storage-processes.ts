/**
 * Processes that use a store, as `npm run build` made it: one that writes and tells of what was acknowledged, until it is
 * killed; and ones that race for the only slot of a credential and write down when they have it.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openConnection } from '../../src/storage/sqlite-connection.js';
import type { StorageSettings } from '../../src/storage/open-database.js';
import type { Database } from '../../src/storage/ports.js';
import { waitFor } from './wait.js';

const dist = resolve(import.meta.dirname, '../../dist');

const SCRIPT = `
import fs from 'node:fs';
import { openDatabase } from '${dist}/storage/open-database.js';
import { systemClock } from '${dist}/core/clock.js';
import { Secret } from '${dist}/core/secret.js';
const { settings, work, run, turns, log } = JSON.parse(process.argv[1]);
if (typeof settings.password === 'string') settings.password = new Secret(settings.password);
const db = await openDatabase(settings, { clock: systemClock });
const say = (text) => fs.writeSync(1, text + '\\n');
const audit = (n) => ({ chain: run, n, atMs: n, action: 'a', actor: 'x', address: null, credential: null,
  token: null, policy: null, target: null, task: null, outcome: 'ok', detail: {}, hash: run + n });
async function write(lane) {
  for (let turn = 0; ; turn++) {
    const n = turn * 8 + lane;
    const key = run + '-' + n;
    const row = { id: key, key, type: 'api_key', meta: {}, status: 'active', untilMs: null, reason: null };
    await db.credentials.insert([{ ...row, kekId: 'k', sealed: Buffer.alloc(200, lane) }]);
    await db.audit.append([audit(n)]);
    say(key);
  }
}
async function race(lane) {
  for (let turn = 0; turn < turns; turn++) {
    const hash = run + '-' + lane + '-' + turn;
    const token = { hash, credentialId: 'only', credentialKey: 'only', policy: 'p', holder: 'h', context: {} };
    const { kind } = await db.tokens.issue({ ...token, maxUses: null, validMs: 600000, slots: 1 });
    if (kind !== 'issued') continue;
    fs.appendFileSync(log, '+' + hash + '\\n');
    await new Promise(setImmediate);
    fs.appendFileSync(log, '-' + hash + '\\n');
    await db.tokens.end(hash, 'released', 'h');
  }
}
say('ready');
await Promise.all(Array.from({ length: 8 }, (_, lane) => (work === 'write' ? write(lane) : race(lane))));
await db.close();
`;

interface Work {
  readonly settings: StorageSettings;
  readonly work: 'write' | 'race';
  /** Begins all keys of this run. */
  readonly run: string;
  readonly turns?: number;
  readonly log?: string;
}

function start({ settings, ...rest }: Work): ChildProcess & { readonly told: string[] } {
  const password = settings.kind === 'postgres' ? { password: settings.password?.reveal() } : {};
  const given = JSON.stringify({ ...rest, settings: { ...settings, ...password } });
  const args = ['--input-type=module', '-e', SCRIPT, given];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const told: string[] = [];
  let open = '';
  child.stdout.on('data', (piece: Buffer) => {
    const lines = (open + piece.toString()).split('\n');
    open = lines.pop() ?? '';
    told.push(...lines);
  });
  return Object.assign(child, { told });
}

const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((done) => child.once('close', (code) => done(code)));

/** Lets one write until it has told of so many, kills it, and returns what it told of. */
export async function killedWhileWriting(
  settings: StorageSettings,
  run: string,
  after: number,
): Promise<readonly string[]> {
  const child = start({ settings, work: 'write', run });
  const end = ended(child);
  await waitFor('it to write', () => child.told.length > after, 60_000);
  child.kill('SIGKILL');
  await end;
  return child.told.filter((line) => line !== 'ready');
}

/** Lets several race for the credential `only`; returns what they wrote down, in its order. */
export async function raceFor(
  settings: StorageSettings,
  { processes, turns, log }: { processes: number; turns: number; log: string },
): Promise<(number | null)[]> {
  const racers = Array.from({ length: processes }, (_, n) =>
    start({ settings, work: 'race', run: `r${n}`, turns, log }),
  );
  return Promise.all(racers.map(ended));
}

/** Of a race: holders that had the slot while another had it. */
export function overlapsIn(log: string): string[] {
  let holder: string | null = null;
  return log
    .split('\n')
    .filter((line) => line !== '')
    .filter((line) => {
      const isGood = line.startsWith('+') ? holder === null : holder === line.slice(1);
      holder = line.startsWith('+') ? line.slice(1) : null;
      return !isGood;
    });
}

/** What is wrong with a file after a kill: damage, halves of units, acknowledged writes that are not there. */
export async function damageOf(path: string, db: Database, told: readonly string[]): Promise<string[]> {
  const connection = openConnection({ path, role: 'reader', busyMs: 5000 });
  const ask = (sql: string) => connection.read({ sql, parameters: [] });
  const found = ask('pragma integrity_check').map((row) => String(row['integrity_check']));
  const halves = ask(`select key from credentials left join changes on ref = key and kind = 'credential'
    where seq is null`).map((row) => `no change of ${String(row['key'])}`);
  const gaps = ask('select count(*) as n, max(seq) as last from changes');
  const counter = await db.lastChange();
  connection.close();
  const kept = new Set((await db.credentials.rows(told)).map(({ key }) => key));
  const lost = told.filter((key) => !kept.has(key)).map((key) => `lost ${key}`);
  const audited = await auditedOf(db, told);
  const unaudited = told.filter((key) => !audited.has(key)).map((key) => `lost the record of ${key}`);
  const isWhole = gaps[0]?.['n'] === counter && (gaps[0]['last'] ?? 0) === counter;
  return [
    ...found.filter((text) => text !== 'ok'),
    ...[...halves, ...lost, ...unaudited],
    ...(isWhole ? [] : [`the counter says ${counter}: ${JSON.stringify(gaps)}`]),
  ];
}

async function auditedOf(db: Database, told: readonly string[]): Promise<ReadonlySet<string>> {
  const audited = new Set<string>();
  for (const run of new Set(told.map((key) => key.split('-')[0] ?? '')))
    for (const { chain, n } of await db.audit.read(run, 0, 100_000)) audited.add(`${chain}-${n}`);
  return audited;
}

const FULL = `
import fs from 'node:fs';
import { openDatabase } from '${dist}/storage/open-database.js';
import { systemClock } from '${dist}/core/clock.js';
const folder = process.argv[1];
const db = await openDatabase({ kind: 'sqlite', path: folder + '/records.db', callMs: 20000 }, { clock: systemClock });
let count = 0;
const insert = async (length) => {
  const key = 'k' + count++;
  const row = { id: key, key, type: 'api_key', meta: {}, status: 'active', untilMs: null, reason: null };
  return (await db.credentials.insert([{ ...row, kekId: 'k', sealed: Buffer.alloc(length) }]))[0];
};
await insert(10);
let refused = 'never';
try {
  for (let n = 0; n < 500; n++) {
    fs.appendFileSync(folder + '/other', Buffer.alloc(20000));
    await insert(10000);
  }
} catch (error) {
  if (error.code === 'ENOSPC') {
    try { for (let n = 0; n < 500; n++) await insert(10000); } catch (later) { refused = String(later); }
  } else refused = String(error);
}
const kept = (await db.credentials.find('k0')) !== null;
fs.rmSync(folder + '/other');
const again = await insert(10).catch(String);
await db.close();
fs.writeSync(1, JSON.stringify({ refused, kept, again }));
`;

/** Fills a small disk, in a place that only the process sees, and tells what became of writes before and after. */
export function onFullDisk(): unknown {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-full-'));
  const mounted = 'mount -t tmpfs -o size=2m tmpfs "$1" && shift && exec "$@"';
  const inside = ['--map-root-user', '--mount', 'sh', '-c', mounted, 'sh', folder];
  const script = ['--input-type=module', '-e', FULL, folder];
  const result = spawnSync('unshare', [...inside, process.execPath, ...script], { encoding: 'utf8' });
  if (result.status !== 0) throw new Error(result.stderr);
  return JSON.parse(result.stdout);
}
