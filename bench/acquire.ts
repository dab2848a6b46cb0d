/**
 * How soon does a crawler have a token, and does the proxy port feel it? A gateway with a vault, on SQLite and on PostgreSQL,
 * with 100 to a million credentials; 50 callers acquire over HTTP, hold the token for 100 ms as a crawler does for a request, and
 * release it, while the same process carries requests of the proxy port; then as fast as they can, for the most a second. Goals: acquire p99 ≤ 25 ms, delay of the event loop p99 ≤ 20 ms.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool, ProxyAgent, request, type Dispatcher } from 'undici';
import { PROJECT_ROOT } from './support/peer.js';
import { fill, load, postgres, sqlite, type Engine } from './support/records.js';
import { freePort, GATEWAY_CORE, start, waitForPort, type Started } from './support/process.js';

const CALLERS = 50;
const HELD_MS = 100;
const PROXIED_PER_SECOND = 50;
const MOST_ACQUIRE_MS = 25;
const MOST_LOOP_MS = 20;
const TOKEN = 'a-token-of-the-bench-0123456789abcdef';

interface Measured {
  readonly engine: string;
  readonly credentials: number;
  readonly sortedMs: readonly number[];
  readonly perSecond: number;
  readonly mostPerSecond: number;
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
    const load = { seconds, proxy, target: upstreamPort, heldMs: HELD_MS };
    await run(api, { ...load, seconds: seconds / 5 });
    await loop();
    const measured = await run(api, load);
    const { p99: loopMs } = await loop();
    const { perSecond: mostPerSecond } = await run(api, { ...load, seconds: seconds / 2, heldMs: 0 });
    return { engine: engine.name, credentials, loopMs, idleLoopMs, mostPerSecond, ...measured };
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
  readonly heldMs: number;
}

async function run(
  api: Pool,
  { seconds, proxy, target, heldMs }: Load,
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
      if (heldMs > 0) await new Promise((resolve) => setTimeout(resolve, heldMs));
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
  const { engine, credentials, sortedMs, perSecond, mostPerSecond, loopMs, idleLoopMs, proxiedMs, failures } =
    row;
  const p99 = part(sortedMs, 0.99);
  const ms = (value: number): string => value.toFixed(1);
  const isGood = p99 <= MOST_ACQUIRE_MS && loopMs <= MOST_LOOP_MS;
  return (
    `| ${engine} | ${credentials.toLocaleString('en')} | ${ms(part(sortedMs, 0.5))} | ${ms(p99)} | ` +
    `${perSecond.toFixed(0)} | ${mostPerSecond.toFixed(0)} | ${ms(loopMs)} (idle ${ms(idleLoopMs)}) | ${ms(part(proxiedMs, 0.5))} / ` +
    `${ms(part(proxiedMs, 0.99))} | ${failures} | ${isGood ? 'yes' : '**no**'} |`
  );
}

function tableOf(rows: readonly Measured[]): string {
  return [
    '| store | credentials | acquire p50 ms | p99 ms | acquired a second | most a second | loop p99 ms | proxied p50 / p99 ms | failed | goals |',
    '|---|---|---|---|---|---|---|---|---|---|',
    ...rows.map(rowOf),
  ].join('\n');
}
