/**
 * What does choosing an exit cost, by strategy and size of the pool, and how does a list of a million lines load? Measured in
 * this process on the compiled program; no gateway and no peers, so it is not one of the scenarios that compare them.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../support/peer.js';

/** What of the program is used here; its own types live outside of this folder. */
interface Pool {
  readonly upstreams: { readonly length: number };
}
interface Program {
  readonly choose: (ask: object) => { readonly kind: string };
  readonly Ledger: new (
    rules: object,
    random: object,
  ) => {
    intern(upstream: object): number;
    applyPools(pools: readonly object[], nowMs: number): void;
    begin(slot: number, site: string, nowMs: number): void;
    end(slot: number, site: string, nowMs: number): void;
    firstByte(slot: number, ms: number): void;
  };
  readonly buildPoolFrom: (
    rules: object,
    sources: readonly object[],
    parts: object,
  ) => Promise<{ readonly pool: Pool & { readonly slots: Uint32Array } }>;
  readonly Cursors: new () => object;
  readonly Paces: new () => {
    view(pool: object, site: string, nowMs: number): object;
    begin(
      pool: object,
      slot: number,
      to: { site: string; nowMs: number },
    ): { learn(said: string, latencyMs: number, nowMs: number): void; end(nowMs: number): void };
  };
  readonly seededRandom: (seed: number) => object;
}

const STRATEGIES = [
  ...['round_robin', 'random', 'weighted_random', 'least_used', 'least_recently_used_per_site', 'fastest'],
  ...['adaptive', 'hash', 'session'],
];
/** These look at a thousand exits for a choice. */
const MEASURED = new Set(['least_recently_used_per_site', 'fastest', 'adaptive']);
const SIZES = [1000, 10_000, 1_000_000];
const ROUNDS = 5;
const MIB = 2 ** 20;

async function load(): Promise<Program> {
  const from = async (path: string): Promise<object> =>
    (await import(pathToFileURL(join(PROJECT_ROOT, 'dist', path)).href)) as object;
  const modules = await Promise.all(
    [
      ...['upstreams/choose.js', 'upstreams/strategies.js', 'exits/ledger.js', 'exits/build-pool.js'],
      ...['core/random.js', 'exits/paces.js'],
    ].map(from),
  );
  return Object.assign({}, ...modules) as Program;
}

function listOf(count: number): Uint8Array {
  const lines = ['host,port,username,password,country,city,tags'];
  for (let n = 0; n < count; n++) {
    const host = `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
    lines.push(
      `${host},8080,user-${n},password-${n},${['de', 'us', 'fr', 'uk'][n % 4] ?? ''},city ${n % 500},dc`,
    );
  }
  return Uint8Array.from(Buffer.from(lines.join('\n')));
}

/** The tables as text. `isQuick`: without the million. */
export async function chooseReport(isQuick: boolean): Promise<string> {
  const program = await load();
  const lines = ['choose: µs of CPU per choice, half of the exits used before', ''];
  for (const size of isQuick ? SIZES.slice(0, 2) : SIZES) lines.push(...(await reportOf(program, size)));
  return lines.join('\n');
}

async function reportOf(program: Program, size: number): Promise<string[]> {
  const before = process.memoryUsage().rss;
  const ledger = new program.Ledger(RULES, program.seededRandom(1));
  const delay = monitorEventLoopDelay({ resolution: 10 });
  const source = { kind: 'list', name: 'list', bytes: listOf(size), options: {} };
  const workerFile = pathToFileURL(join(PROJECT_ROOT, 'dist/exits/list-worker.js'));
  const intern = (upstream: object): number => ledger.intern(upstream);
  delay.enable();
  const startMs = performance.now();
  const rules = { name: 'main', strategy: 'least_recently_used_per_site', slotsPerExit: 1e9 };
  const { pool } = await program.buildPoolFrom(rules, [source], { intern, workerFile });
  ledger.applyPools([pool], 0);
  const tookMs = performance.now() - startMs;
  await new Promise((resolve) => setTimeout(resolve, 50));
  delay.disable();
  const paced = { ...pool, strategy: 'adaptive', pacing: { spacing: 0, siteSlots: Infinity } };
  const paces = new program.Paces();
  for (let index = 0; index < size; index += 2) {
    const slot = pool.slots[index] ?? 0;
    const visit = paces.begin(paced, slot, { site: SITE, nowMs: 1 });
    visit.learn('good', 50 + (index % 200), 2);
    visit.end(2);
    ledger.begin(slot, SITE, 1);
    ledger.end(slot, SITE, 2);
    ledger.firstByte(slot, 50 + (index % 200));
  }
  const rows = STRATEGIES.map((strategy) => {
    const micros = measured(
      program,
      strategy === 'adaptive' ? paced : { ...pool, strategy: strategy === 'session' ? 'random' : strategy },
      { ledger, paces },
      strategy,
    );
    return `  ${strategy.padEnd(30)}${micros.toFixed(2).padStart(9)}`;
  });
  const memory = Math.round((process.memoryUsage().rss - before) / MIB);
  const [p99, most] = [delay.percentile(99) / 1e6, delay.max / 1e6];
  return [
    `${size} exits: loaded in ${(tookMs / 1000).toFixed(2)} s, loop delay p99 ${p99.toFixed(1)} ms, longest ${most.toFixed(0)} ms, RSS +${memory} MiB`,
    ...rows,
    '',
  ];
}

const SITE = 'shop.example';
const RULES = {
  ...{ siteMs: 3.6e6, siteCapMs: 8.6e7, transportMs: 3e4, transportCapMs: 3.6e6, jitter: 0.2 },
  ...{ maxEjected: 0.5, suspectCount: 2, suspectWindowMs: 6e4 },
};

/** The median of some rounds. */
function measured(
  program: Program,
  pool: object,
  known: { readonly ledger: object; readonly paces: InstanceType<Program['Paces']> },
  strategy: string,
): number {
  const count = MEASURED.has(strategy) ? 5000 : 20_000;
  const filter = { country: null, city: null, asn: null, tags: [], upstream: null };
  const pace = strategy === 'adaptive' ? known.paces.view(pool, SITE, 5) : null;
  const [cursors, random] = [new program.Cursors(), program.seededRandom(2)];
  const avoid = new Set();
  const rounds = Array.from({ length: ROUNDS + 1 }, () => {
    const start = process.cpuUsage();
    for (let n = 0; n < count; n++) {
      const sessionKey = strategy === 'session' ? `7:crawler:session-${n}` : null;
      // One literal, as the gateway makes it.
      const choice = program.choose({
        pool,
        view: known.ledger,
        cursors,
        nowMs: 5,
        random,
        site: SITE,
        pace,
        filter,
        avoid,
        neighbours: null,
        pinned: null,
        sessionKey,
        hashKey: strategy === 'hash' ? `url-${n}` : null,
      });
      if (choice.kind !== 'exit') throw new Error(`${strategy} found no exit`);
    }
    const { user, system } = process.cpuUsage(start);
    return (user + system) / count;
  });
  return rounds.slice(1).sort((a, b) => a - b)[ROUNDS >> 1] ?? NaN;
}
