/**
 * How we connect to Redis: alone, behind Sentinels, or as a cluster. The settings make a fault visible at once, where
 * the defaults would queue and retry for minutes: no offline queue, no retry of a command (it may have been done), short
 * times. Who decides what a fault means is `link.ts`.
 */
import { Cluster, Redis } from 'ioredis';
import './quick-strings.js';
import type { Secret } from '../../core/secret.js';
import type { Random } from '../../core/random.js';

/** Where a node or a Sentinel listens. */
export interface NodeAt {
  readonly host: string;
  readonly port: number;
}

/** Which Redis, and how to log in. */
export interface RedisPlace {
  readonly kind: 'single' | 'sentinel' | 'cluster';
  /** The server, the Sentinels, or some nodes of the cluster. */
  readonly nodes: readonly NodeAt[];
  /** Name of the primary, for Sentinels. */
  readonly primary: string;
  readonly username: string | null;
  readonly password: Secret | null;
  readonly tls: boolean;
  /** Number of the database; 0 in a cluster. */
  readonly db: number;
}

/** Either of the two that ioredis has. */
export type RedisClient = Redis | Cluster;

const CONNECT_TIMEOUT_MS = 300;
/** Longest wait between two tries to connect. */
const MAX_RECONNECT_MS = 500;

/** Makes a client that connects when told to. */
export function makeClient(place: RedisPlace, random: Random): RedisClient {
  const retryAfter = (times: number): number =>
    Math.min(50 * 2 ** Math.min(times, 6), MAX_RECONNECT_MS) * (0.8 + 0.4 * random.float());
  const [first] = place.nodes;
  if (place.kind === 'cluster') {
    return new Cluster([...place.nodes], {
      ...{
        lazyConnect: true,
        enableOfflineQueue: false,
        scaleReads: 'master' as const,
        slotsRefreshTimeout: 300,
      },
      ...{ retryDelayOnFailover: 0, retryDelayOnClusterDown: 0, retryDelayOnTryAgain: 0, maxRedirections: 4 },
      slotsRefreshInterval: 5000,
      clusterRetryStrategy: retryAfter,
      redisOptions: commonOptions(place),
    });
  }
  const common = { ...commonOptions(place), db: place.db, retryStrategy: retryAfter };
  const own = { lazyConnect: true, enableOfflineQueue: false };
  if (place.kind === 'single') return new Redis({ ...common, ...own, ...first });
  return new Redis({
    ...{ ...common, ...own },
    ...{ sentinels: [...place.nodes], name: place.primary, role: 'master' as const, failoverDetector: true },
    ...{ sentinelRetryStrategy: retryAfter, sentinelCommandTimeout: CONNECT_TIMEOUT_MS },
  });
}

function commonOptions({ username, password, tls }: RedisPlace) {
  return {
    ...{ protocol: 2 as const, connectTimeout: CONNECT_TIMEOUT_MS, maxRetriesPerRequest: 0, noDelay: true },
    ...{ autoResendUnfulfilledCommands: false, autoResubscribe: false, disableClientInfo: true },
    ...(username === null ? {} : { username }),
    ...(password === null ? {} : { password: password.reveal() }),
    ...(tls ? { tls: {} } : {}),
  };
}
