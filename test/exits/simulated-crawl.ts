/** A crawl in simulated time: workers, a paced pool, and a site that refuses as the test says. No sockets, no clock. */
import { seededRandom, type Random } from '../../src/core/random.js';
import { Paces } from '../../src/exits/paces.js';
import type { Said } from '../../src/exits/pool-at-site.js';
import type { Pool } from '../../src/upstreams/pool.js';

/** What the site does with a page asked for through this exit at this time. */
export type SimulatedSite = (exit: number, nowMs: number) => Said;

/** At most `most` pages within a sliding `windowMs`; a refused exit has to stay away for `banMs`. */
export function limitedSite(most: number, windowMs: number, banMs = 0): SimulatedSite {
  const seen = new Map<number, number[]>();
  const bans = new Map<number, number>();
  return (exit, nowMs) => {
    if ((bans.get(exit) ?? 0) > nowMs) return 'refused';
    const recent = (seen.get(exit) ?? []).filter((atMs) => atMs > nowMs - windowMs);
    seen.set(exit, recent);
    if (recent.length >= most) {
      bans.set(exit, nowMs + banMs);
      return 'refused';
    }
    recent.push(nowMs);
    return 'good';
  };
}

export interface Crawl {
  readonly pool: Pool;
  readonly site: SimulatedSite;
  /** Pages wanted per second. */
  readonly perS: number;
  readonly seconds: number;
  /** How long a refused exit is left alone by the gateway itself. */
  readonly restAfterRefusalMs: number;
  readonly paces?: Paces;
  readonly answerMs?: number;
}

export interface Crawled {
  good: number;
  refused: number;
  waited: number;
  spacingMs: number;
  /** Good and refused in the last third. */
  late: { good: number; refused: number };
}

/** Spends exits as the strategy `adaptive` does, as soon as they are rested. */
export function crawl(ask: Crawl, random: Random = seededRandom(1)): Crawled {
  const paces = ask.paces ?? new Paces();
  const { slots } = ask.pool;
  const away = new Map<number, number>();
  const done: Crawled = { good: 0, refused: 0, waited: 0, spacingMs: 0, late: { good: 0, refused: 0 } };
  const stepMs = 1000 / ask.perS;
  for (let nowMs = 1000; nowMs < 1000 + ask.seconds * 1000; nowMs += stepMs * (0.5 + random.float())) {
    const view = paces.view(ask.pool, 'shop.example', nowMs);
    if (view === null) throw new Error('the pool has no pacing');
    done.spacingMs = view.spacingMs;
    let best = -1;
    let bestScore = Infinity;
    for (const slot of slots) {
      if ((away.get(slot) ?? 0) > nowMs || view.restedAtMs(slot) > nowMs) continue;
      const usedMs = view.lastUsedMs(slot);
      const score = usedMs === -Infinity ? -Infinity : (usedMs - nowMs) * view.promise(slot, nowMs, random);
      if (score >= bestScore) continue;
      best = slot;
      bestScore = score;
    }
    if (best < 0) {
      done.waited++;
      continue;
    }
    const visit = paces.begin(ask.pool, best, { site: 'shop.example', nowMs });
    const said = ask.site(best, nowMs + 5);
    visit.learn(said, 20, nowMs + (ask.answerMs ?? 0));
    visit.end(nowMs + (ask.answerMs ?? 0));
    if (said === 'refused') away.set(best, nowMs + ask.restAfterRefusalMs);
    const kind = said === 'good' ? 'good' : 'refused';
    done[kind]++;
    if (nowMs > 1000 + (ask.seconds * 2000) / 3) done.late[kind]++;
  }
  return done;
}
