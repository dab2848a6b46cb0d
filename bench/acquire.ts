/**
 * How soon does a crawler have a token, and does the proxy port feel it? A gateway with a vault, on SQLite and on PostgreSQL,
 * with 100 to a million credentials; 50 callers acquire and release over HTTP as fast as they can, while the same process
 * carries requests of the proxy port. Goals: acquire p99 ≤ 25 ms, delay of the event loop p99 ≤ 20 ms.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Pool, ProxyAgent, request, type Dispatcher } from 'undici';
import { startBenchPostgres, type BenchPostgres } from './support/postgres.js';
import { PROJECT_ROOT } from './support/peer.js';
import { freePort, GATEWAY_CORE, start, waitForPort, type Started } from './support/process.js';

const CALLERS = 50;
const PROXIED_PER_SECOND = 50;
const MOST_ACQUIRE_MS = 25;
const MOST_LOOP_MS = 20;
const TOKEN = 'a-token-of-the-bench-0123456789abcdef';
const AT_ONCE = 5000;

interface Records {
  readonly credentials: { insert(rows: readonly object[]): Promise<unknown> };
  close(): Promise<void>;
}

/** What of the program is used here; its own types live outside of this folder. */
interface Program {
  readonly openDatabase: (settings: object, parts: object) => Promise<Records>;
  readonly systemClock: object;
  readonly Secret: new (text: string) => object;
}

/** Where one gateway keeps its records. */
interface Engine {
  readonly name: string;
  /** As `openDatabase` wants it. */
  readonly settings: (program: Program) => object;
  /** As the configuration has it. */
  readonly storage: object;
}

interface Measured {
  readonly engine: string;
  readonly credentials: number;
  readonly sortedMs: readonly number[];
  readonly perSecond: number;
  readonly loopMs: number;
  readonly idleLoopMs: number;
  readonly proxiedMs: readonly number[];
  readonly failures: number;
}

/** Runs inside the gateway: answers a signal with how late its timers were since the last one. */
const LOOP_PROBE = `
const { monitorEventLoopDelay } = require('node:perf_hooks');
const { writeFileSync } = require('node:fs');
const { isMainThread } = require('node:worker_threads');
if (isMainThread) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  process.on('SIGUSR2', () => {
    writeFileSync(process.env.BENCH_LOOP_FILE, JSON.stringify({ p99: delay.percentile(99) / 1e6, max: delay.max / 1e6 }));
    delay.reset();
  });
}
`;

async function load(): Promise<Program> {
  const files = ['storage/open-database.js', 'core/clock.js', 'core/secret.js'];
  const urls = files.map((file) => pathToFileURL(join(PROJECT_ROOT, 'dist', file)).href);
  const modules = await Promise.all(urls.map((url) => import(url) as Promise<object>));
  return Object.assign({}, ...modules) as Program;
}

/** Measures and prints. Exit code 1 where a call failed. */
export async function benchAcquire(isQuick: boolean): Promise<number> {
  const program = await load();
  const counts = isQuick ? [100, 10_000] : [100, 10_000, 1_000_000];
  const rows: Measured[] = [];
  for (const make of [sqlite, postgres])
    for (const credentials of counts) {
      const directory = mkdtempSync(join(tmpdir(), 'turnpike-bench-acquire-'));
      const engine = await make(directory);
      try {
        await begin(engine, directory);
        const records = await program.openDatabase(engine.settings(program), { clock: program.systemClock });
        await fill(records, credentials);
        await records.close();
        rows.push(await measure(engine, { credentials, directory, seconds: isQuick ? 5 : 20 }));
        console.log(rowOf(rows.at(-1)));
      } finally {
        await engine.stop();
        rmSync(directory, { recursive: true, force: true });
      }
    }
  console.log(tableOf(rows));
  return rows.some(({ failures }) => failures > 0) ? 1 : 0;
}

async function sqlite(directory: string): Promise<Engine & { stop(): Promise<void> }> {
  const path = join(directory, 'records.db');
  return {
    ...{ name: 'SQLite', settings: () => ({ kind: 'sqlite', path, callMs: 60_000 }) },
    ...{ storage: { kind: 'sqlite', path }, stop: () => Promise.resolve() },
  };
}

async function postgres(directory: string): Promise<Engine & { stop(): Promise<void> }> {
  const server: BenchPostgres = await startBenchPostgres(directory);
  return {
    name: 'PostgreSQL',
    settings: () => ({
      ...{ kind: 'postgres', host: '127.0.0.1', port: server.port, database: 'postgres' },
      ...{ username: 'turnpike', password: null, tls: 'off', ca: null, connections: 10, callMs: 60_000 },
    }),
    storage: { kind: 'postgres', url: `postgres://turnpike@127.0.0.1:${server.port}/postgres` },
    stop: () => server.stop(),
  };
}

/** Lets a gateway make the vault and the policy: a store that has records and no vault is damaged. */
async function begin(engine: Engine, directory: string): Promise<void> {
  const gateway = await startGateway(engine, { directory, upstreamPort: 1 });
  const api = new Pool(`http://127.0.0.1:${gateway.admin}`);
  const policy = {
    ...{ name: 'bench', credential_type: 'api_key', selector: 'least_used' },
    ...{ filters: { 'meta.group': 'g3' }, constraints: { validity_period: 300, max_concurrent: 50 } },
  };
  await until('the vault to open', async () => (await call(api, '/api/v1/policies', policy)).status === 201);
  await api.destroy();
  await gateway.started.stop();
}

async function until(what: string, look: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + 120_000;
  while (!(await look())) {
    if (performance.now() > endMs) throw new Error(`waited for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function fill(records: Records, count: number): Promise<void> {
  const sealed = randomBytes(200);
  for (let from = 0; from < count; from += AT_ONCE) {
    const rows = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, n) => {
      const key = `account-${String(from + n).padStart(7, '0')}`;
      const meta = { group: `g${(from + n) % 10}`, weight: (n % 5) + 1 };
      const id = randomBytes(16).toString('hex');
      return {
        id,
        key,
        type: 'api_key',
        meta,
        status: 'active',
        untilMs: null,
        reason: null,
        kekId: 'bench',
        sealed,
      };
    });
    await records.credentials.insert(rows);
  }
}

interface Run {
  readonly credentials: number;
  readonly directory: string;
  readonly seconds: number;
}

async function measure(engine: Engine, { credentials, directory, seconds }: Run): Promise<Measured> {
  const origin = await listening();
  const upstreamPort = (origin.address() as AddressInfo).port;
  const gateway = await startGateway(engine, { directory, upstreamPort });
  const api = new Pool(`http://127.0.0.1:${gateway.admin}`, { connections: CALLERS });
  const proxy = new ProxyAgent(`http://127.0.0.1:${gateway.proxy}`);
  try {
    const isServed = async () =>
      (await call(api, '/api/v1/tokens/acquire', { policy_name: 'bench' })).status === 200;
    await until('the index to be read', isServed);
    const loop = () => loopOf(gateway.started, gateway.loopFile);
    await loop();
    await new Promise((resolve) => setTimeout(resolve, 2000));
    const idleLoopMs = (await loop()).p99;
    await run(api, { seconds: seconds / 5, proxy, target: upstreamPort });
    await loop();
    const measured = await run(api, { seconds, proxy, target: upstreamPort });
    const { p99: loopMs } = await loop();
    return { engine: engine.name, credentials, loopMs, idleLoopMs, ...measured };
  } finally {
    await Promise.all([api.destroy(), proxy.destroy()]);
    await gateway.started.stop();
    origin.close();
  }
}

async function listening(): Promise<Server> {
  const server = createServer((_, response) => response.end('good'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

interface Gateway {
  readonly started: Started;
  readonly proxy: number;
  readonly admin: number;
  readonly loopFile: string;
}

async function startGateway(
  engine: Engine,
  { directory, upstreamPort }: { directory: string; upstreamPort: number },
): Promise<Gateway> {
  const [proxy, admin] = [await freePort(), await freePort()];
  const probe = join(directory, 'probe.cjs');
  writeFileSync(probe, LOOP_PROBE);
  const config = join(directory, 'turnpike.json');
  const key = join(directory, 'vault.key');
  if (!existsSync(key)) writeFileSync(key, randomBytes(32).toString('base64'), { mode: 0o600 });
  const settings = {
    listen: { proxy: `127.0.0.1:${proxy}`, admin: `127.0.0.1:${admin}` },
    targets: { allow: [`127.0.0.1:${upstreamPort}`] },
    pools: { main: { upstreams: [{ url: 'direct://' }] } },
    ...{ vault: { key: `file:${key}` }, storage: engine.storage, log: { file: join(directory, 'log') } },
    ...{ data_dir: directory, admin: { tokens: [{ name: 'bench', token: TOKEN, scopes: ['admin'] }] } },
  };
  writeFileSync(config, JSON.stringify(settings), { mode: 0o600 });
  const loopFile = join(directory, 'loop.json');
  const started = start({
    ...{ core: GATEWAY_CORE, command: process.execPath, logFile: join(directory, 'gateway.log') },
    args: ['--require', probe, join(PROJECT_ROOT, 'dist/cli/main.js'), 'serve', '--config', config],
    env: { BENCH_LOOP_FILE: loopFile },
  });
  await waitForPort(started, admin);
  return { started, proxy, admin, loopFile };
}

async function loopOf(started: Started, file: string): Promise<{ p99: number; max: number }> {
  rmSync(file, { force: true });
  process.kill(started.pid, 'SIGUSR2');
  for (;;) {
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as { p99: number; max: number };
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

async function call(api: Pool, path: string, body: object): Promise<{ status: number; answer: unknown }> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const response = await api.request({ method: 'POST', path, headers, body: JSON.stringify(body) });
  return { status: response.statusCode, answer: await response.body.json().catch(() => null) };
}

interface Load {
  readonly seconds: number;
  readonly proxy: Dispatcher;
  readonly target: number;
}

async function run(
  api: Pool,
  { seconds, proxy, target }: Load,
): Promise<Pick<Measured, 'sortedMs' | 'perSecond' | 'proxiedMs' | 'failures'>> {
  const startMs = performance.now();
  const endMs = startMs + seconds * 1000;
  const times: number[] = [];
  const proxiedMs: number[] = [];
  let failures = 0;
  const caller = async (): Promise<void> => {
    while (performance.now() < endMs) {
      const beginMs = performance.now();
      const { status, answer } = await call(api, '/api/v1/tokens/acquire', { policy_name: 'bench' });
      times.push(performance.now() - beginMs);
      if (status !== 200) failures++;
      else await call(api, '/api/v1/tokens/release', { token_id: (answer as { token_id: string }).token_id });
    }
  };
  const proxied = async (): Promise<void> => {
    while (performance.now() < endMs) {
      const beginMs = performance.now();
      const response = await request(`http://127.0.0.1:${target}/`, { dispatcher: proxy });
      await response.body.dump();
      proxiedMs.push(performance.now() - beginMs);
      if (response.statusCode !== 200) failures++;
      await new Promise((resolve) => setTimeout(resolve, 1000 / PROXIED_PER_SECOND));
    }
  };
  await Promise.all([...Array.from({ length: CALLERS }, caller), proxied()]);
  const perSecond = times.length / ((performance.now() - startMs) / 1000);
  const inOrder = (list: number[]) => list.sort((a, b) => a - b);
  return { sortedMs: inOrder(times), perSecond, proxiedMs: inOrder(proxiedMs), failures };
}

const part = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

function rowOf(row: Measured | undefined): string {
  if (row === undefined) return '';
  const { engine, credentials, sortedMs, perSecond, loopMs, idleLoopMs, proxiedMs, failures } = row;
  const p99 = part(sortedMs, 0.99);
  const ms = (value: number): string => value.toFixed(1);
  const isGood = p99 <= MOST_ACQUIRE_MS && loopMs <= MOST_LOOP_MS;
  return (
    `| ${engine} | ${credentials.toLocaleString('en')} | ${ms(part(sortedMs, 0.5))} | ${ms(p99)} | ` +
    `${perSecond.toFixed(0)} | ${ms(loopMs)} (idle ${ms(idleLoopMs)}) | ${ms(part(proxiedMs, 0.5))} / ` +
    `${ms(part(proxiedMs, 0.99))} | ${failures} | ${isGood ? 'yes' : '**no**'} |`
  );
}

function tableOf(rows: readonly Measured[]): string {
  return [
    '| store | credentials | acquire p50 ms | p99 ms | acquired a second | loop p99 ms | proxied p50 / p99 ms | failed | goals |',
    '|---|---|---|---|---|---|---|---|---|',
    ...rows.map(rowOf),
  ].join('\n');
}
