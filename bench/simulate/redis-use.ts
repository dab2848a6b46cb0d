/**
 * Calls of Redis and what they cost it, by what they are for. The costs were measured on one core (Redis 7.0, this
 * project's scripts, once, on a machine that had other work too): they are good for orders of magnitude. Rates follow from the intervals of the gateway.
 */
import { MEMBER_TTL_MS } from '../../src/facts/member.js';
import { leaseBucket, renewEveryMs } from '../../src/facts/lease.js';

/** Microseconds of Redis' one core. */
const COST_US = {
  beat: 12,
  /** Of a heartbeat, for each gateway that it lists. */
  member: 0.6,
  /** The same squared, while Redis keeps the list as one flat piece (up to 512 entries). */
  memberFlat: 0.0033,
  poll: 7.3,
  word: 2.4,
  put: 26.5,
  hearer: 0.9,
  lease: 22,
  pin: 12,
};
const FLAT = 512;
const BUCKETS = 16;
const POLL_S = 1.9;
const POLLS_PER_READING = 30;
const PAGE = 500;
const LEASE_TTL_MS = 30_000;

/** What the calls are for. */
export const purposes = [
  'heartbeats',
  'ban polls',
  'ban readings',
  'bans said',
  'leases',
  'sessions',
] as const;
export type Purpose = (typeof purposes)[number];

/** Calls a second, and the share of a core that they take. */
export type Use = Record<Purpose, { ops: number; busy: number }>;

/** What happens in a stretch of time. */
export interface Stretch {
  readonly seconds: number;
  readonly gateways: number;
  /** Words about bans that Redis remembers. */
  readonly words: number;
  readonly bans: number;
  /** Exits that one gateway has leased, by id; none: the pool is not leased. */
  readonly leased: readonly string[];
  /** Leases taken and given back besides, by all. */
  readonly leaseChanges: number;
  /** Calls for sessions, by all. */
  readonly sessionCalls: number;
}

/** What a stretch costs. */
export function useOf(stretch: Stretch): Use {
  const { seconds, gateways, words, bans } = stretch;
  const at = (ops: number, us: number) => ({ ops, busy: (ops * us) / 1e6 });
  const beatUs =
    COST_US.beat + COST_US.member * gateways + (gateways <= FLAT ? COST_US.memberFlat * gateways ** 2 : 0);
  const readings = gateways / (POLL_S * POLLS_PER_READING);
  const pages = BUCKETS * Math.max(1, Math.ceil(words / BUCKETS / PAGE));
  const buckets = new Set(stretch.leased.map(leaseBucket)).size;
  const renewals = (gateways * buckets * 1000) / renewEveryMs(LEASE_TTL_MS);
  return {
    heartbeats: at((gateways * 1000) / (MEMBER_TTL_MS / 3), beatUs),
    'ban polls': at((gateways / POLL_S) * BUCKETS, COST_US.poll),
    'ban readings': at(readings * pages, (COST_US.word * words) / pages),
    'bans said': at(bans / seconds, COST_US.put + COST_US.hearer * gateways),
    leases: at(renewals + stretch.leaseChanges / seconds, COST_US.lease),
    sessions: at(stretch.sessionCalls / seconds, COST_US.pin),
  };
}

/** All purposes together. */
export function total(use: Use): { ops: number; busy: number } {
  const all = Object.values(use);
  return { ops: sumOf(all.map(({ ops }) => ops)), busy: sumOf(all.map(({ busy }) => busy)) };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
