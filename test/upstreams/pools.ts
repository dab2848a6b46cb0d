/** Upstreams, pools and a ledger's view for tests, without URLs or a ledger. */
import { seededRandom } from '../../src/core/random.js';
import { type Ask, type ExitFilter } from '../../src/upstreams/choose.js';
import {
  buildPool,
  type LedgerView,
  type Pacing,
  type Pool,
  type StrategyName,
} from '../../src/upstreams/pool.js';
import { Cursors } from '../../src/upstreams/strategies.js';
import { makeUpstream, type Upstream, type UpstreamOptions } from '../../src/upstreams/upstream.js';

/** Upstream number `n`, the same one each time. */
export function upstreamAt(n: number, options: UpstreamOptions = {}): Upstream {
  const host = `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
  const parsed = makeUpstream({ protocol: 'http', host, port: 8000, login: null }, options);
  if (parsed.kind === 'bad') throw new Error(parsed.reason);
  return parsed.upstream;
}

/** A pool of `count` upstreams whose slots are 1000 + index, so that nobody takes one for the other. */
export function poolOf(
  count: number,
  strategy: StrategyName = 'round_robin',
  optionsOf: (n: number) => UpstreamOptions = () => ({}),
): Pool {
  const upstreams = Array.from({ length: count }, (_, n) => upstreamAt(n, optionsOf(n)));
  return poolFrom(upstreams, strategy);
}

export function poolFrom(
  upstreams: readonly Upstream[],
  strategy: StrategyName = 'round_robin',
  slotsPerExit = Infinity,
): Pool {
  let next = 1000;
  return buildPool({ name: 'main', strategy, slotsPerExit, upstreams }, () => next++);
}

/** A pool of `count` upstreams that spares them as the test says. */
export function pacedPool(count: number, pacing: Pacing, strategy: StrategyName = 'round_robin'): Pool {
  let next = 1000;
  const upstreams = Array.from({ length: count }, (_, n) => upstreamAt(n));
  return buildPool({ name: 'main', strategy, slotsPerExit: Infinity, pacing, upstreams }, () => next++);
}

/** A ledger's view that says what the test wants, by index. */
export class ScriptedView implements LedgerView {
  readonly out = new Map<number, number>();
  readonly busy = new Map<number, number>();
  readonly frozen = new Set<number>();
  readonly speeds = new Map<number, number>();
  readonly usedMs = new Map<number, number>();
  asked = 0;

  inFlight(slot: number): number {
    return this.busy.get(slot - 1000) ?? 0;
  }

  readonly most = new Map<number, number>();

  mostInFlight(slot: number): number {
    return this.most.get(slot - 1000) ?? Infinity;
  }

  isOpenToNew(slot: number): boolean {
    return !this.frozen.has(slot - 1000);
  }

  isUsable(slot: number, _site: string, nowMs: number): boolean {
    this.asked++;
    return (this.out.get(slot - 1000) ?? -Infinity) <= nowMs;
  }

  usableAtMs(slot: number): number {
    return this.out.get(slot - 1000) ?? -Infinity;
  }

  firstByteMs(slot: number): number {
    return this.speeds.get(slot - 1000) ?? 0;
  }

  lastUsedMs(slot: number): number {
    return this.usedMs.get(slot - 1000) ?? -Infinity;
  }
}

export const anyExit: ExitFilter = { country: null, city: null, asn: null, tags: [], upstream: null };

/** An ask for any exit of this pool, with what the test changes. */
export function askOf(pool: Pool, view: LedgerView, changes: Partial<Ask> = {}): Ask {
  return {
    pool,
    view,
    cursors: new Cursors(),
    nowMs: 1000,
    random: seededRandom(1),
    site: 'shop.example',
    pace: null,
    filter: anyExit,
    avoid: new Set(),
    pinned: null,
    sessionKey: null,
    hashKey: null,
    ...changes,
  };
}

export function idAt(pool: Pool, index: number): string {
  return pool.upstreams[index]?.id ?? '';
}
