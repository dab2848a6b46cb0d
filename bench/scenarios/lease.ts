/**
 * What does a lease cost a request? A lease for each request is the worst case of `sharing: broker`; under steady load one
 * serves many. Measured in this process on the compiled program against a redis-server, without a proxy around it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { needPackage } from '../support/debian.js';
import { orStop, PROJECT_ROOT } from '../support/peer.js';
import { freePort, OTHER_CORE, start, waitForPort } from '../support/process.js';

const REDIS = '/usr/bin/redis-server';
const EXITS = 200;
const TIMES = { ttlMs: 30_000, idleMs: 10_000 };

interface Held {
  readonly exit: string;
}
interface HeldLeases {
  take(ask: object): Held | null | Promise<Held | null>;
  use(pool: string, exit: string): Held | null;
  done(held: Held): void;
  want(pool: string, exit: string): void;
}
interface Link {
  readonly isUp: boolean;
  readonly counts: { readonly calls: number };
  start(): void;
  close(): void;
}

/** What of the program is used here; its own types live outside of this folder. */
interface Program {
  readonly redisStores: (ask: object, parts: object) => { readonly leases: object; readonly link: Link };
  readonly HeldLeases: new (parts: object) => HeldLeases;
  readonly Secret: new (text: string) => object;
  readonly systemClock: object;
  readonly systemRandom: object;
}

async function load(): Promise<Program> {
  const files = ['state/stores.js', 'state/fallback/held-leases.js'];
  files.push('core/secret.js', 'core/clock.js', 'core/random.js');
  const urls = files.map((file) => pathToFileURL(join(PROJECT_ROOT, 'dist', file)).href);
  const modules = await Promise.all(urls.map((url) => import(url) as Promise<object>));
  return Object.assign({}, ...modules) as Program;
}

/** The table as text. */
export async function leaseReport(isQuick: boolean): Promise<string> {
  needPackage('redis-server', REDIS);
  const directory = mkdtempSync(join(tmpdir(), 'turnpike-bench-lease-'));
  const port = await freePort();
  const redis = start({
    core: OTHER_CORE,
    command: REDIS,
    args: ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', directory],
    logFile: join(directory, 'redis.log'),
  });
  try {
    await orStop(redis, () => waitForPort(redis, port));
    return await reportOf(await load(), port, isQuick ? 2000 : 20_000);
  } finally {
    await redis.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function reportOf(program: Program, port: number, count: number): Promise<string> {
  const { systemClock: clock, systemRandom: random } = program;
  const place = {
    ...{ kind: 'single', nodes: [{ host: '127.0.0.1', port }], primary: '', username: null, password: null },
    ...{ tls: false, db: 0 },
  };
  const ask = { place, prefix: 'bench', secret: new program.Secret('a secret of the bench') };
  const { leases, link } = program.redisStores(ask, { clock, random, banKeepMs: 1000 });
  const held = new program.HeldLeases({ leases, clock, ...TIMES, isUp: () => link.isUp });
  link.start();
  while (!link.isUp) await new Promise((resolve) => setTimeout(resolve, 10));
  const lines = [`lease: CPU of the gateway for the lease of a request, ${EXITS} exits`, ''];
  for (const atOnce of [1, 32]) {
    await run({ held, link }, { count: count / 10, atOnce });
    lines.push(await run({ held, link }, { count, atOnce }));
  }
  lines.push(await reused(held, count * 10));
  link.close();
  return lines.join('\n');
}

/** Each request takes a lease and gives it back, since another gateway waits for it. */
async function run(
  { held, link }: { held: HeldLeases; link: Link },
  { count, atOnce }: { count: number; atOnce: number },
): Promise<string> {
  let begun = 0;
  const before = link.counts.calls;
  const startMs = performance.now();
  const cpu = process.cpuUsage();
  const worker = async (own: number): Promise<void> => {
    for (let n = own; begun < count; n += atOnce) {
      begun++;
      const exit = `exit-${n % EXITS}`;
      const taken = await held.take({ pool: 'main', candidates: [exit], slots: 1 });
      if (taken === null) continue;
      held.want('main', exit);
      held.done(taken);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, (_, n) => worker(n)));
  const seconds = (performance.now() - startMs) / 1000;
  const calls = (link.counts.calls - before) / count;
  return row(`a lease a request, ${atOnce} at once`, cpuMicros(cpu, count), count / seconds, calls);
}

async function reused(held: HeldLeases, count: number): Promise<string> {
  await held.take({ pool: 'main', candidates: ['exit-reused'], slots: 1 });
  const startMs = performance.now();
  const cpu = process.cpuUsage();
  for (let n = 0; n < count; n++) {
    const taken = held.use('main', 'exit-reused');
    if (taken === null) throw new Error('the lease is gone');
    held.done(taken);
  }
  const perSecond = count / ((performance.now() - startMs) / 1000);
  return row('a lease that is held', cpuMicros(cpu, count), perSecond, 0);
}

function cpuMicros(before: NodeJS.CpuUsage, count: number): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

function row(what: string, micros: number, perSecond: number, calls: number): string {
  const figures = `${micros.toFixed(1).padStart(7)} µs/request ${perSecond.toFixed(0).padStart(9)} per second`;
  return `  ${what.padEnd(32)}${figures}  ${calls.toFixed(2)} calls of Redis`;
}
