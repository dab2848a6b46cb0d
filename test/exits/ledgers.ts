/** Ledgers with pools for tests. */
import type { Random } from '../../src/core/random.js';
import { Ledger } from '../../src/exits/ledger.js';
import type { BanRules } from '../../src/facts/ban.js';
import { buildPool, type Pool } from '../../src/upstreams/pool.js';
import type { Upstream } from '../../src/upstreams/upstream.js';
import { upstreamAt } from '../upstreams/pools.js';

export const HOUR_MS = 3_600_000;
export const SITE = 'shop.example';

export const rules: BanRules = {
  siteMs: HOUR_MS,
  siteCapMs: 24 * HOUR_MS,
  transportMs: 30_000,
  transportCapMs: HOUR_MS,
  jitter: 0.2,
  maxEjected: 0.5,
  suspectCount: 2,
  suspectWindowMs: 600_000,
};

/** Chance that never adds anything, so that times are exact. */
export const noChance: Random = { float: () => 0, below: () => 0, hex: (bytes) => '0'.repeat(bytes * 2) };

export function poolIn(ledger: Ledger, upstreams: readonly Upstream[], name = 'main'): Pool {
  return buildPool({ name, strategy: 'round_robin', slotsPerExit: Infinity, upstreams }, (upstream) =>
    ledger.intern(upstream),
  );
}

/** A ledger with one pool of `count` exits, whose slots are 0 … count − 1. */
export function ledgerOf(count: number, changes: Partial<BanRules> = {}): { ledger: Ledger; pool: Pool } {
  const ledger = new Ledger({ ...rules, ...changes }, noChance);
  const pool = poolIn(
    ledger,
    Array.from({ length: count }, (_, n) => upstreamAt(n)),
  );
  ledger.applyPools([pool], 0);
  return { ledger, pool };
}
