/** Several `turnpike serve` that share a Redis and a pool, and crawlers that ask all of them. */
import http from 'node:http';
import { adminSection, askAdmin } from './admin.js';
import { startExits, type LoggingExits } from './logging-exits.js';
import { startRedis, type RealRedis } from './real-redis.js';
import { startServe, type ServeOptions, type ServeProcess } from './serve-process.js';
import type { Stage } from './stage.js';
import { eventually } from './wait.js';

/** A fleet. */
export interface ProcessFleet {
  readonly redis: RealRedis;
  readonly exits: LoggingExits;
  readonly gateways: ServeProcess[];
  /** One more gateway. */
  join(config?: Record<string, unknown>, options?: ServeOptions): Promise<ServeProcess>;
  /** Waits until all that run know of each other. */
  settled(): Promise<void>;
}

/** What a fleet is made of. */
export interface FleetOptions {
  readonly gateways: number;
  /** How many, or those that are to be used. */
  readonly exits: number | LoggingExits;
  /** Settings of the pool `main`. */
  readonly pool: Record<string, unknown>;
  /** Other pools, with the exits of `main` or others. */
  readonly more?: (urls: readonly string[]) => Record<string, unknown>;
  /** Other sections. */
  readonly config?: Record<string, unknown>;
  /** Settings of the Redis, as on its command line. */
  readonly redis?: readonly string[];
  /** The port at which gateways find Redis, where something stands between. */
  readonly way?: (redis: RealRedis) => Promise<number>;
}

/** Starts one. */
export async function startFleet(stage: Stage, options: FleetOptions): Promise<ProcessFleet> {
  const redis = stage.keep(await startRedis(options.redis));
  const { exits: wanted } = options;
  const exits = stage.keep(typeof wanted === 'number' ? await startExits(wanted) : wanted);
  const port = (await options.way?.(redis)) ?? redis.port;
  const state = { kind: 'redis', url: `redis://127.0.0.1:${port}`, secret: 'a secret of the fleet' };
  const gateways: ServeProcess[] = [];
  const join: ProcessFleet['join'] = async (config = {}, how = {}) => {
    const main = { upstreams: exits.urls.map((url) => ({ url })), ...options.pool };
    const pools = { main, ...options.more?.(exits.urls) };
    const timeouts = { pre_stop: 0, drain: '1s' };
    const base = { admin: adminSection, state, timeouts, pools, ...options.config, ...config };
    const gateway = stage.keep(await startServe([], base, how));
    gateways.push(gateway);
    return gateway;
  };
  await Promise.all(Array.from({ length: options.gateways }, () => join()));
  const settled = (): Promise<void> => {
    const running = gateways.filter(({ child }) => child.exitCode === null && child.signalCode === null);
    return patiently('all to find each other', async () => {
      const counts = await Promise.all(running.map((each) => metricOf(each, 'turnpike_state_gateways')));
      return counts.every((count) => count === running.length);
    });
  };
  await settled();
  return { redis, exits, gateways, join, settled };
}

/** A value of a gateway's metrics, 0 where it has none. */
export async function metricOf(gateway: ServeProcess, name: string): Promise<number> {
  const { text } = await askAdmin(adminPortOf(gateway), '/metrics');
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? 0);
}

export function adminPortOf(gateway: ServeProcess): number {
  return Number(new URL(gateway.admin).port);
}

/** A crawler's page, through a gateway that the exit is told the name of. */
export interface Page {
  readonly status: number;
  /** The name of the exit. */
  readonly body: string;
  readonly tookMs: number;
}

/** Gets a page; connections are kept. */
export class FleetClient {
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 500 });

  get(
    gateway: ServeProcess,
    ask: { url?: string; session?: string; headers?: Record<string, string> } = {},
  ): Promise<Page> {
    const { url = 'http://site.example/', session, headers } = ask;
    const startMs = performance.now();
    return new Promise((resolve, reject) => {
      const request = http.request(
        {
          ...{ host: '127.0.0.1', port: gateway.port, path: url, agent: this.#agent },
          headers: {
            ...{ host: new URL(url).host, 'x-gateway': String(gateway.pid) },
            ...(session !== undefined && { 'x-session-id': session }),
            ...headers,
          },
        },
        (answer) => {
          let body = '';
          answer.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
          answer.on('end', () =>
            resolve({ status: answer.statusCode ?? 0, body, tookMs: performance.now() - startMs }),
          );
          answer.on('error', reject);
        },
      );
      request.on('error', reject);
      request.end();
    });
  }

  close(): Promise<void> {
    this.#agent.destroy();
    return Promise.resolve();
  }
}

/** The value below which so many of a hundred are. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? 0;
}

/** A crawl that goes on. */
export interface Crawl extends PromiseLike<Crawled> {
  /** Asks this gateway, too. */
  also(gateway: ServeProcess): Promise<void>;
  /** Asks this one no more. */
  without(gateway: ServeProcess): void;
  /** Ends it, when what is under way is over. */
  end(): Promise<Crawled>;
}

/** What came of it. Requests to a gateway that went away are not counted. */
export interface Crawled {
  readonly statuses: ReadonlyMap<number, number>;
  readonly tookMs: readonly number[];
}

/** Sends so many requests to all gateways, `atOnce` at a time to each. */
export function crawl(
  stage: Stage,
  fleet: ProcessFleet,
  how: { requests: number; atOnce: number; urls?: readonly string[]; session?: string },
): Crawl {
  const client = stage.keep(new FleetClient());
  const statuses = new Map<number, number>();
  const tookMs: number[] = [];
  const { urls = ['http://site.example/'], session } = how;
  let left = how.requests;
  let sent = 0;
  const asked = new Set<ServeProcess>();
  const worker = async (gateway: ServeProcess): Promise<void> => {
    while (asked.has(gateway) && left-- > 0) {
      const url = urls[sent++ % urls.length] ?? '';
      try {
        const page = await client.get(gateway, { url, ...(session !== undefined && { session }) });
        statuses.set(page.status, (statuses.get(page.status) ?? 0) + 1);
        tookMs.push(page.tookMs);
      } catch (error) {
        if (asked.has(gateway)) throw error;
      }
    }
  };
  const workers: Promise<void>[] = [];
  const also = (gateway: ServeProcess): void => {
    if (asked.has(gateway)) return;
    asked.add(gateway);
    for (let n = 0; n < how.atOnce; n++) workers.push(worker(gateway));
  };
  fleet.gateways.forEach(also);
  const ended = async (): Promise<Crawled> => {
    for (let n = 0; n < workers.length; n++) await workers[n];
    return { statuses, tookMs };
  };
  return {
    also: async (gateway) => also(gateway),
    without: (gateway) => void asked.delete(gateway),
    end: () => {
      left = 0;
      return ended();
    },
    then: (done, failed) => ended().then(done, failed),
  };
}

/** The n-th gateway. */
export function at(fleet: ProcessFleet, n: number): ServeProcess {
  const gateway = fleet.gateways[n];
  if (gateway === undefined) throw new Error('no such gateway');
  return gateway;
}

/** Exits that a gateway has used since then. */
export const exitsOf = (fleet: ProcessFleet, gateway: ServeProcess, sinceMs = 0): Set<string> =>
  new Set(
    fleet.exits.uses
      .filter((use) => use.gateway === String(gateway.pid) && use.startMs >= sinceMs)
      .map(({ exit }) => exit),
  );

/** Waits as long as several processes may take on a machine that has much else to do. */
export function patiently(what: string, look: () => Promise<boolean>): Promise<void> {
  return eventually(what, look, 60_000);
}
