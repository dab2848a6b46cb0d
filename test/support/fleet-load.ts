/**
 * A load on all gateways of a fleet, as crawlers make it: requests at a fixed rate to two sites, many of them the first of a
 * session; and bans by hand all the while, that every gateway has to know in the end.
 */
import { askAdmin, type AdminAnswer } from './admin.js';
import { headFor } from './ask.js';
import { crawlAtRate, type Shot } from './crawl-load.js';
import {
  adminPortOf,
  metricOf,
  patiently,
  startFleet,
  type FleetOptions,
  type ProcessFleet,
} from './fleet.js';
import type { ServeProcess } from './serve-process.js';
import type { Stage } from './stage.js';
import { waitFor } from './wait.js';

/** Unless told otherwise. */
const PER_SECOND = 200;
const EXITS = 100;
const BAN_EVERY_MS = 250;
const TTL_SECONDS = 3600;

/** Starts gateways that share exits by a ring for one site of the load, and by leases for the other. */
export function startSharingFleet(
  stage: Stage,
  gateways: number,
  way?: NonNullable<FleetOptions['way']>,
): Promise<ProcessFleet> {
  return startFleet(stage, {
    ...{ gateways, exits: EXITS, pool: { sharing: 'ring' } },
    more: (urls) => ({ leased: { upstreams: urls.map((url) => ({ url })), sharing: 'broker' } }),
    config: {
      routes: [
        { match: { site: 'ring.example' }, pools: ['main'] },
        { match: {}, pools: ['leased'] },
      ],
    },
    ...(way !== undefined && { way }),
  });
}

/** Waits until each exit of the ring has its gateway; those that move are nobody's for a while. */
export function allOwned(fleet: ProcessFleet): Promise<void> {
  return patiently('all exits to have an owner', async () => {
    const own = await Promise.all(
      fleet.gateways.map((each) => metricOf(each, 'turnpike_exits_own{pool="main"}')),
    );
    return own.every((count) => count > 0) && own.reduce((sum, each) => sum + each, 0) === EXITS;
  });
}

interface Asked {
  readonly atMs: number;
  readonly tookMs: number;
}

/** A load, while it goes on. */
export class FleetLoad {
  readonly answered: Asked[] = [];
  readonly failed = new Map<string, number>();
  readonly #end = new AbortController();
  readonly #over: Promise<number[]>;
  #asked = 0;

  /** @param all what all gateways together are asked each second */
  constructor(
    gateways: readonly ServeProcess[],
    private readonly all = PER_SECOND,
  ) {
    const perSecond = all / gateways.length;
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
    const enough = this.#asked + seconds * this.all;
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
    this.#timer = setInterval(() => {
      this.#last = this.#last.then(() => this.#one());
    }, BAN_EVERY_MS);
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
