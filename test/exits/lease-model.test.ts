/**
 * Several gateways on one store of leases, whatever happens to them in whatever order: an exclusive exit is never taken
 * up by two at once. Chance says who asks, uses, is told what when; the test only looks.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/core/random.js';
import { Shares } from '../../src/exits/shares.js';
import { HeldLeases } from '../../src/state/fallback/held-leases.js';
import { MemoryLeases } from '../../src/state/memory/leases.js';
import { buildPool, type Pool } from '../../src/upstreams/pool.js';
import type { OnLoss } from '../../src/upstreams/sharing.js';
import { switched } from '../state/away.js';
import { ManualClock } from '../state/manual-clock.js';
import { upstreamAt } from '../upstreams/pools.js';

const GATEWAYS = 3;
const EXITS = 3;
const TTL_MS = 30_000;
const SITE = 'shop.example';

/** `slow`: one call hangs, and Redis is there. `cut`: all lose it. `alone`: one does. What is lost is noticed later. */
const step = fc.record({
  what: fc.constantFrom('ask', 'ask', 'want', 'slow', 'wait', 'cut', 'alone', 'mend', 'hold', 'free'),
  gateway: fc.nat(GATEWAYS - 1),
  exit: fc.nat(EXITS - 1),
  waitMs: fc.constantFrom(100, 500, 1000, 10_000, 24_000, 31_000),
  noticedMs: fc.array(fc.nat(1600), { minLength: GATEWAYS, maxLength: GATEWAYS }),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function settled(): Promise<void> {
  for (let n = 0; n < 4; n++) await new Promise((resolve) => setImmediate(resolve));
}

class World {
  readonly clock = new ManualClock();
  readonly pool: Pool;
  readonly gateways;
  #isCut = false;

  constructor(onLoss: OnLoss) {
    const sharing = {
      ...{ kind: 'broker' as const, lease: { holders: 1, ttlMs: TTL_MS, idleMs: 10_000 } },
      ...{ onLoss, siteGroups: null },
    };
    const upstreams = Array.from({ length: EXITS }, (_, n) => upstreamAt(n));
    const rules = { name: 'main', strategy: 'round_robin' as const, slotsPerExit: Infinity, sharing };
    this.pool = buildPool({ ...rules, upstreams }, () => 0);
    const { clock } = this;
    const far = new MemoryLeases(clock, seededRandom(3));
    const names = Array.from({ length: GATEWAYS }, (_, n) => `g${n}`);
    this.gateways = names.map((id, n) => {
      const { store, way } = switched(far);
      const times = { ttlMs: TTL_MS, idleMs: 10_000 };
      const link = { isUp: true };
      const leases = new HeldLeases({ leases: store, clock, ...times, isUp: () => link.isUp });
      const parts = { clock, random: seededRandom(n), gatewayId: id, leases, place: null };
      const shares = new Shares({ ...parts, isSound: () => true, changed: () => undefined }, true);
      shares.linked(true);
      shares.heard(names);
      shares.start();
      leases.start();
      return { shares, leases, way, link, held: null as ReturnType<Shares['begin']> };
    });
  }

  async take(each: Step): Promise<void> {
    const gateway = this.gateways[each.gateway];
    if (gateway === undefined) return;
    const { shares, way } = gateway;
    if (each.what === 'ask' || each.what === 'want') await this.#ask(each, each.what === 'want');
    else if (each.what === 'slow' && way.isUp) {
      way.isUp = false;
      await this.#ask(each, false);
      way.isUp = true;
    } else if (each.what === 'wait') await this.pass(each.waitMs);
    else if (each.what === 'cut' && !this.#isCut) this.#turn(each, false, this.gateways);
    else if (each.what === 'alone' && !this.#isCut) this.#turn(each, false, [gateway]);
    else if (each.what === 'mend' && this.#isCut) this.#turn(each, true, this.gateways);
    else if (each.what === 'hold') gateway.held ??= shares.begin(this.pool, this.#id(each.exit));
    else if (each.what === 'free') this.#free(gateway);
    await settled();
  }

  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 500) {
      this.clock.advance(Math.min(left, 500));
      await settled();
    }
  }

  /** Who would go out by the exit now, whenever it was chosen. */
  usersOf(exit: number): number[] {
    return this.gateways.flatMap(({ shares }, n) => {
      const held = shares.begin(this.pool, this.#id(exit));
      if (held === null || held === 'lost') return [];
      // Ended without a word, so that looking changes nothing.
      held.uses--;
      return [n];
    });
  }

  stop(): void {
    for (const { shares, leases } of this.gateways) {
      shares.stop();
      void leases.stop();
    }
  }

  async #ask({ gateway, exit }: Step, isWanted: boolean): Promise<void> {
    const asks = this.gateways[gateway]?.shares;
    const view = asks?.askable(this.pool, SITE, this.clock.nowMs());
    if (view?.isOurs(exit, false) === true) await asks?.ask(this.pool, exit, isWanted);
    if (isWanted) for (const { leases } of this.gateways) leases.want('main', this.#id(exit));
  }

  #turn(each: Step, isUp: boolean, whom: World['gateways']): void {
    this.#isCut = !isUp;
    whom.forEach(({ shares, way, link }, n) => {
      if (way.isUp === isUp) return;
      way.isUp = isUp;
      this.clock.after(each.noticedMs[n] ?? 0, () => {
        if (way.isUp !== isUp || link.isUp === isUp) return;
        link.isUp = isUp;
        shares.linked(isUp);
      });
    });
  }

  #free(gateway: World['gateways'][number]): void {
    if (gateway.held !== null && gateway.held !== 'lost') gateway.shares.end(gateway.held);
    gateway.held = null;
  }

  #id(exit: number): string {
    return this.pool.upstreams[exit]?.id ?? '';
  }
}

async function neverTwo(steps: readonly Step[], onLoss: OnLoss): Promise<void> {
  const world = new World(onLoss);
  for (const each of steps) {
    await world.take(each);
    for (let exit = 0; exit < EXITS; exit++) expect(world.usersOf(exit).length).toBeLessThan(2);
  }
  world.stop();
}

const lists = (one: fc.Arbitrary<Step>): fc.Arbitrary<Step[]> =>
  fc.array(one, { minLength: 30, maxLength: 60 });

describe('S2 an exclusive exit is never taken up by two', () => {
  it('with on_redis_loss: shard, as long as nobody loses Redis alone', async () => {
    const together = step.filter(({ what }) => what !== 'alone');
    await fc.assert(
      fc.asyncProperty(lists(together), (steps) => neverTwo(steps, { kind: 'shard' })),
      { numRuns: 150, seed: 5 },
    );
  });

  it.each<OnLoss>([{ kind: 'fail' }, { kind: 'reserve', pool: 'spare' }])(
    'with on_redis_loss: $kind, whoever loses Redis',
    async (onLoss) => {
      await fc.assert(
        fc.asyncProperty(lists(step), (steps) => neverTwo(steps, onLoss)),
        { numRuns: 100, seed: 6 },
      );
    },
  );
});
