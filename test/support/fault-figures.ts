/**
 * What a fault of Redis does to the clients of two gateways: requests at a fixed rate through a ring and through leases,
 * many of them first requests of a session, and bans all the while. Measures; judges nothing.
 */
import { askAdmin, type AdminAnswer } from './admin.js';
import { headFor } from './ask.js';
import { crawlAtRate, type Shot } from './crawl-load.js';
import { startFaultProxy, type FaultProxy } from './fault-proxy.js';
import { adminPortOf, at, metricOf, patiently, percentile, startFleet, type ProcessFleet } from './fleet.js';
import type { RedisFault } from './redis-faults.js';
import type { ServeProcess } from './serve-process.js';
import type { Stage } from './stage.js';
import { waitFor } from './wait.js';

/** What all gateways together are asked each second. */
const PER_SECOND = 200;
const GATEWAYS = 2;
const EXITS = 100;
const BAN_EVERY_MS = 250;
const TTL_SECONDS = 3600;

/** How a fault went. Times in ms. */
export interface FaultFigures {
  readonly name: string;
  readonly asked: number;
  /** Requests that got no 200, by the code of their answer. */
  readonly failed: ReadonlyMap<string, number>;
  /** Before the fault. */
  readonly before: { readonly p50Ms: number; readonly maxMs: number };
  /** From the fault until everybody is back. */
  readonly during: { readonly p99Ms: number; readonly maxMs: number };
  /** From the end of the fault until all gateways use Redis, and until all share pools again. */
  readonly backMs: number;
  readonly sharedMs: number;
  readonly bans: number;
  /** Bans that a gateway doesn't know though another set them. */
  readonly lostBans: readonly string[];
}

interface Asked {
  readonly atMs: number;
  readonly tookMs: number;
}

/** The load, while it goes on. */
class Load {
  readonly answered: Asked[] = [];
  readonly failed = new Map<string, number>();
  readonly #end = new AbortController();
  readonly #over: Promise<number[]>;
  #asked = 0;

  constructor(gateways: readonly ServeProcess[]) {
    const perSecond = PER_SECOND / gateways.length;
    this.#over = Promise.all(
      gateways.map((gateway) => {
        const shot = (nth: number): Shot => this.#shot(gateway, nth);
        return crawlAtRate({
          port: gateway.port,
          perSecond,
          seconds: Infinity,
          shot,
          signal: this.#end.signal,
        });
      }),
    );
  }

  /** Waits until it went on for so long. */
  async goOn(seconds: number): Promise<void> {
    const enough = this.#asked + seconds * PER_SECOND;
    await waitFor('the load', () => this.#asked >= enough, seconds * 1000 + 60_000);
  }

  /** Ends it. Returns how many were asked. */
  async end(): Promise<number> {
    this.#end.abort();
    return (await this.#over).reduce((sum, each) => sum + each, 0);
  }

  /** Times of those that were asked within this time. */
  within(fromMs: number, toMs: number): number[] {
    return this.answered.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).map(({ tookMs }) => tookMs);
  }

  /** Of four: a ring and leases, each with and without a session, and every other session is a new one. */
  #shot({ pid }: ServeProcess, nth: number): Shot {
    this.#asked++;
    const site = nth % 4 < 2 ? 'ring.example' : 'lease.example';
    const session = nth % 8 < 4 ? `${pid}-${nth}` : `${pid}-${nth % 40}`;
    const fields = [`X-Gateway: ${pid}`, ...(nth % 2 === 0 ? [] : [`X-Session-Id: ${session}`])];
    return {
      head: headFor(`http://${site}/`, { fields }),
      onAnswer: (answer, tookMs) => {
        this.answered.push({ atMs: performance.now() - tookMs, tookMs });
        if (answer?.status === 200) return;
        const code = answer === null ? 'no answer' : `${answer.status} ${answer.code ?? ''}`;
        this.failed.set(code, (this.failed.get(code) ?? 0) + 1);
      },
    };
  }
}

/** Sets a ban for an hour, of one exit for one site. */
export async function banOn(gateway: ServeProcess, exit: string, site: string): Promise<AdminAnswer> {
  const body = { exit, site, ttl: TTL_SECONDS, reason: 'by hand' };
  const answer = await askAdmin(adminPortOf(gateway), '/api/v1/bans', { method: 'POST', body });
  if (answer.status !== 201) throw new Error(`the ban was refused: ${answer.text}`);
  return answer;
}

/** Ids of the exits of a gateway. */
export const exitIds = (gateway: ServeProcess): Promise<string[]> => idsOf(gateway, 'upstreams');

/** Ids of all that a gateway lists. */
export async function idsOf(gateway: ServeProcess, what: 'bans' | 'upstreams'): Promise<string[]> {
  const ids: string[] = [];
  let query = '';
  do {
    const { body } = await askAdmin(adminPortOf(gateway), `/api/v1/${what}?limit=500${query}`);
    ids.push(...body.items.map(({ id }: { id: string }) => id));
    query = body.next === null ? '' : `&cursor=${encodeURIComponent(body.next)}`;
  } while (query !== '');
  return ids;
}

/** Bans by hand, now here and now there, for as long as a load goes on. */
export class Banning {
  /** Ids of those that were set. */
  readonly set: string[] = [];
  #timer: NodeJS.Timeout | null = null;
  #last: Promise<void> = Promise.resolve();
  #count = 0;

  constructor(
    private readonly gateways: readonly ServeProcess[],
    private readonly exits: readonly string[],
  ) {}

  start(): void {
    this.#timer = setInterval(() => (this.#last = this.#last.then(() => this.#one())), BAN_EVERY_MS);
  }

  /** Ends it. Returns the ids of bans that some gateway doesn't know, by and by. */
  async end(): Promise<string[]> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#last;
    let lost: string[] = [];
    const look = async (): Promise<boolean> => {
      const known = await Promise.all(this.gateways.map(async (each) => new Set(await idsOf(each, 'bans'))));
      lost = this.set.filter((id) => known.some((ids) => !ids.has(id)));
      return lost.length === 0;
    };
    await patiently('all to know all bans', look).catch(() => undefined);
    return lost;
  }

  async #one(): Promise<void> {
    const nth = this.#count++;
    const gateway = this.gateways[nth % this.gateways.length];
    const exit = this.exits[nth % this.exits.length];
    if (gateway === undefined || exit === undefined) throw new Error('nobody to ban');
    this.set.push((await banOn(gateway, exit, `ban-${nth}.example`)).body.id);
  }
}

async function begin(stage: Stage, fault: RedisFault): Promise<{ fleet: ProcessFleet; proxy: FaultProxy }> {
  let proxy: FaultProxy | null = null;
  const fleet = await startFleet(stage, {
    ...{ gateways: GATEWAYS, exits: EXITS, pool: { sharing: 'ring' } },
    more: (urls) => ({ leased: { upstreams: urls.map((url) => ({ url })), sharing: 'broker' } }),
    config: {
      routes: [
        { match: { site: 'ring.example' }, pools: ['main'] },
        { match: {}, pools: ['leased'] },
      ],
    },
    way: async (redis) => {
      proxy = stage.keep(await startFaultProxy(redis.port));
      return fault.isOnTheWay ? proxy.port : redis.port;
    },
  });
  await patiently('all exits to have an owner', async () => {
    const own = await Promise.all(
      fleet.gateways.map((each) => metricOf(each, 'turnpike_exits_own{pool="main"}')),
    );
    return own.reduce((sum, each) => sum + each, 0) === EXITS;
  });
  if (proxy === null) throw new Error('no proxy');
  return { fleet, proxy };
}

/** Waits until a metric has this value on all. Returns how long since then. */
async function untilAll(fleet: ProcessFleet, name: string, value: number, sinceMs: number): Promise<number> {
  await patiently(`${name} to be ${value}`, async () =>
    (await Promise.all(fleet.gateways.map((each) => metricOf(each, name)))).every((each) => each === value),
  );
  return performance.now() - sinceMs;
}

/**
 * Runs two gateways under load through one fault of so many seconds.
 * @param times `around`: how long there is load before it, and after everybody is back
 */
export async function figuresOf(
  stage: Stage,
  fault: RedisFault,
  { seconds, around }: { readonly seconds: number; readonly around: number },
): Promise<FaultFigures> {
  const { fleet, proxy } = await begin(stage, fault);
  const load = new Load(fleet.gateways);
  // Connections, first leases, code that was never run: not what is measured.
  await load.goOn(around);
  const banning = new Banning(fleet.gateways, await exitIds(at(fleet, 0)));
  banning.start();
  const startMs = performance.now();
  await load.goOn(around);
  const brokenMs = performance.now();
  const mend = await fault.begin(fleet.redis, proxy);
  await load.goOn(seconds);
  const isAway = await Promise.all(fleet.gateways.map((each) => metricOf(each, 'turnpike_state_shared')));
  if (isAway.some((isShared) => (isShared === 0) !== fault.isOutage)) throw new Error('the fault was none');
  const mendedMs = performance.now();
  await mend();
  const backMs = await untilAll(fleet, 'turnpike_state_shared', 1, mendedMs);
  const sharedMs = await untilAll(fleet, 'turnpike_sharing_alone', 0, mendedMs);
  await load.goOn(around);
  const endMs = performance.now();
  const asked = await load.end();
  const [before, during] = [load.within(startMs, brokenMs), load.within(brokenMs, endMs)];
  const lostBans = await banning.end();
  return {
    ...{ name: fault.name, asked, failed: load.failed, backMs, sharedMs },
    before: { p50Ms: percentile(before, 50), maxMs: percentile(before, 100) },
    during: { p99Ms: percentile(during, 99), maxMs: percentile(during, 100) },
    ...{ lostBans, bans: banning.set.length },
  };
}

/** One line of the table, or its head. */
export function rowOf(figures: FaultFigures | null): string {
  const cells =
    figures === null
      ? ['fault', 'asked', 'failed (goal 0)', 'slowest before', 'first-request penalty (<= 250 ms)'].concat(
          'p99 then',
          'back (<= 4 s)',
          'all shared',
          'bans',
          'lost (0)',
        )
      : [
          ...[
            figures.name,
            figures.asked,
            [...figures.failed].map((each) => each.join(': ')).join(', ') || 0,
          ],
          ...[figures.before.maxMs, figures.during.maxMs - figures.before.p50Ms, figures.during.p99Ms].map(
            (ms) => `${ms.toFixed(0)} ms`,
          ),
          ...[figures.backMs, figures.sharedMs].map((ms) => `${(ms / 1000).toFixed(1)} s`),
          ...[figures.bans, figures.lostBans.length],
        ];
  return `| ${cells.join(' | ')} |\n`;
}
