/** The one value that a reload swaps: routes, pools and rules. Immutable. */
import type { BanRules } from '../facts/ban.js';
import type { GuardRules } from '../outcome/site-guard.js';
import type { RuleBook } from '../outcome/rules.js';
import type { PoolCost } from '../outcome/spending.js';
import type { Pool } from '../upstreams/pool.js';
import type { Route } from './route.js';

/** Deadlines of the data plane, in milliseconds. */
export interface Timeouts {
  readonly dialMs: number;
  readonly tlsMs: number;
  readonly firstByteMs: number;
  readonly exchangeMs: number;
  readonly clientHeaderMs: number;
  readonly clientIdleMs: number;
  /** Longest silence inside a body, either way. */
  readonly bodyIdleMs: number;
  readonly halfCloseMs: number;
  readonly tunnelIdleMs: number;
  readonly tunnelLifetimeMs: number;
  readonly upstreamIdleMs: number;
  /** How long a request waits for an exit to become free. */
  readonly acquireMs: number;
  readonly drainMs: number;
  readonly preStopMs: number;
}

/** Bounds of the data plane. */
export interface Limits {
  /** Bytes of a message head, either way. */
  readonly headBytes: number;
  readonly fieldCount: number;
  /** Client connections over all listeners. */
  readonly connections: number;
  /** So many more are told that there are too many; the rest is closed at once. */
  readonly turnedAway: number;
  /** Sockets that either side may have, clients and upstreams, by the files that may be open. */
  readonly sockets: number;
  /** Requests under way, tunnels that stand aside. */
  readonly exchanges: number;
  /** Requests that wait for an exit to become free. */
  readonly waiting: number;
  /** How long requests that are ready together may wait for one another. */
  readonly loopDelayMs: number;
  /** Client connections from one address. */
  readonly connectionsPerAddress: number;
  /** Bytes per second that a client must send of a body, on average over the longest silence inside one. */
  readonly bodyRate: number;
  /** Bytes of a request body kept for a retry, for one request and for the process. */
  readonly replayBytes: number;
  readonly replayTotalBytes: number;
  /** Idle connections kept to one exit. */
  readonly idlePerExit: number;
  readonly idleTotal: number;
}

/** What becomes of tunnels whose exit is banned: kept, ended when silent for `banIdleMs`, or ended at once. */
export interface TunnelRules {
  readonly onBan: 'keep' | 'close_idle' | 'close';
  readonly banIdleMs: number;
}

/** How blocks are seen. */
export interface Detection {
  readonly book: RuleBook;
  /** Content types of bodies that are looked at, in lower case. */
  readonly types: ReadonlySet<string>;
  /** Bytes of a decoded body that are looked at where a rule does not say more. */
  readonly lookAt: number;
  /** Longest time that an answer is held back. */
  readonly holdMs: number;
  /** Whether some rule compares with what is usual. */
  readonly usesBaseline: boolean;
  /** Where judged answers are stored, their bodies held even where no rule wants them; null: nowhere. */
  readonly capture: {
    readonly dir: string;
    readonly which: 'refused' | 'all';
    readonly bodyBytes: number;
    readonly totalBytes: number;
    readonly files: number;
  } | null;
}

/** What the gateway works by. */
export interface Runtime {
  readonly routes: readonly Route[];
  readonly pools: ReadonlyMap<string, Pool>;
  /** Prices and budgets, by pool; a pool without has none. */
  readonly costs: ReadonlyMap<string, PoolCost>;
  readonly timeouts: Timeouts;
  readonly limits: Limits;
  readonly bans: BanRules;
  readonly guard: GuardRules;
  /** How long the word of a client holds, and how many clients make it everybody's. */
  readonly feedback: { readonly holdMs: number; readonly clients: number };
  readonly tunnels: TunnelRules;
  readonly detection: Detection;
  readonly retry: { readonly transportRatio: number; readonly transportFloorPerS: number };
  /** Name of the session header, in lower case. */
  readonly sessionHeader: string;
  readonly sessionTtlMs: number;
}
