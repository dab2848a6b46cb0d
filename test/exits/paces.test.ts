import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/core/random.js';
import { Paces } from '../../src/exits/paces.js';
import { pacedPool, poolOf } from '../upstreams/pools.js';
import { crawl, limitedSite } from './simulated-crawl.js';

const SITE = 'shop.example';
const auto = { spacing: 'auto', siteSlots: Infinity } as const;
const fixed = pacedPool(3, { spacing: 2000, siteSlots: 2 });
const [first = 0, second = 0, third = 0] = fixed.slots;

describe('N7 rest between two uses of an exit for a site', () => {
  it('begins when the answer came, and none goes out before it', () => {
    const paces = new Paces();
    const view = paces.view(fixed, SITE, 0);
    const visit = paces.begin(fixed, first, { site: SITE, nowMs: 100 });
    expect(view?.restedAtMs(first)).toBe(Infinity);
    visit.answered(400);
    expect(view?.restedAtMs(first)).toBe(2400);
    visit.end(9000);
    expect(view?.restedAtMs(first)).toBe(2400);
    expect(view?.restedAtMs(second)).toBe(-Infinity);
    expect(paces.view(fixed, 'other.example', 400)?.restedAtMs(first)).toBe(-Infinity);
  });

  it('a try that ends without an answer rests from its end', () => {
    const paces = new Paces();
    const visit = paces.begin(fixed, first, { site: SITE, nowMs: 0 });
    visit.end(700);
    visit.end(800);
    visit.answered(900);
    expect(paces.view(fixed, SITE, 0)?.restedAtMs(first)).toBe(2700);
  });

  it('an exit in two pools rests for both', () => {
    const paces = new Paces();
    paces.begin({ ...fixed, name: 'other' }, first, { site: SITE, nowMs: 0 }).end(0);
    expect(paces.view(fixed, SITE, 0)?.restedAtMs(first)).toBe(2000);
  });

  it('a request that was kept back by another gateway leaves the rest that the other one began', () => {
    const paces = new Paces();
    const view = paces.view(fixed, SITE, 0);
    paces.begin(fixed, first, { site: SITE, nowMs: 100 }).end(100);
    paces.begin(fixed, first, { site: SITE, nowMs: 3000 }).withdraw(null);
    expect([view?.restedAtMs(first), view?.isFull]).toEqual([2100, false]);
    const visit = paces.begin(fixed, first, { site: SITE, nowMs: 4000 });
    visit.withdraw(3500);
    visit.end(9000);
    visit.withdraw(9000);
    expect([view?.restedAtMs(first), view?.isFull]).toEqual([5500, false]);
    paces.begin(fixed, first, { site: SITE, nowMs: 6000 }).withdraw(50);
    expect(view?.restedAtMs(first)).toBe(5500);
  });

  it('slots of a site are full until an exchange is over', () => {
    const paces = new Paces();
    const view = paces.view(fixed, SITE, 0);
    const visits = [first, second].map((slot) => paces.begin(fixed, slot, { site: SITE, nowMs: 0 }));
    expect(view?.isFull).toBe(true);
    visits[0]?.answered(1);
    expect(view?.isFull).toBe(true);
    visits[0]?.end(2);
    expect(view?.isFull).toBe(false);
  });

  it('a reload that asks for another pace is obeyed where the site is known', () => {
    const paces = new Paces();
    paces.begin(fixed, first, { site: SITE, nowMs: 0 }).end(0);
    const slower = { ...fixed, pacing: { spacing: 5000, siteSlots: 2 } };
    expect(paces.view(slower, SITE, 0)?.restedAtMs(first)).toBe(5000);
  });

  it('asking about sites where no exit is free is bounded too', () => {
    const paces = new Paces(2, 100);
    for (let nth = 0; nth < 10; nth++) paces.view(fixed, `s${nth}.example`, nth);
    expect(paces.siteCount).toBe(2);
  });

  it('a pool without pacing costs nothing and remembers nothing', () => {
    const paces = new Paces();
    const plain = poolOf(1);
    const visit = paces.begin(plain, 1000, { site: SITE, nowMs: 0 });
    visit.answered(1);
    visit.learn('good', 1, 1);
    visit.end(1);
    expect([paces.view(plain, SITE, 0), paces.size]).toEqual([null, 0]);
  });
});

describe('memory', () => {
  it('is bounded: the site visited least recently goes first', () => {
    const paces = new Paces(2, 100);
    for (const site of ['a', 'b', 'a', 'c']) paces.begin(fixed, first, { site, nowMs: 0 }).end(0);
    expect([paces.siteCount, paces.size]).toEqual([2, 2]);
    expect(paces.view(fixed, 'a', 0)?.lastUsedMs(first)).toBe(0);
    expect(paces.view(fixed, 'b', 0)?.lastUsedMs(first)).toBe(-Infinity);
  });

  it('of a single site the exits used least recently', () => {
    const paces = new Paces(10, 2);
    for (const [n, slot] of [first, second, first, third].entries())
      paces.begin(fixed, slot, { site: SITE, nowMs: n }).end(n);
    const view = paces.view(fixed, SITE, 0);
    expect([first, second, third].map((slot) => view?.lastUsedMs(slot))).toEqual([2, -Infinity, 3]);
    expect(paces.size).toBe(2);
  });

  it('forgets exits that are gone', () => {
    const paces = new Paces();
    for (const slot of [first, second]) paces.begin(fixed, slot, { site: SITE, nowMs: 0 }).end(0);
    paces.forget((slot) => slot === first);
    expect([paces.size, paces.view(fixed, SITE, 0)?.lastUsedMs(first)]).toEqual([1, -Infinity]);
  });
});

describe('what an exit promises', () => {
  const visitOften = (paces: Paces, slot: number, said: 'good' | 'failed', latencyMs: number): void => {
    for (let n = 0; n < 20; n++) {
      const visit = paces.begin(fixed, slot, { site: SITE, nowMs: n * 10 });
      visit.learn(said, latencyMs, n * 10 + 5);
      visit.end(n * 10 + 5);
    }
  };

  it('less when it fails, when it is slow, and when it is busy', () => {
    const paces = new Paces();
    visitOften(paces, first, 'good', 50);
    visitOften(paces, second, 'failed', 50);
    visitOften(paces, third, 'good', 1000);
    const promise = (slot: number): number =>
      paces.view(fixed, SITE, 300)?.promise(slot, 300, seededRandom(1)) ?? 0;
    expect(promise(second)).toBeLessThan(promise(first) / 20);
    expect(promise(third)).toBeLessThan(promise(first) / 10);
    const alone = promise(first);
    paces.begin(fixed, first, { site: SITE, nowMs: 300 });
    expect(promise(first)).toBeCloseTo(alone / 2);
    expect(paces.view(fixed, 'new.example', 0)?.promise(first, 0, seededRandom(1))).toBe(1);
  });
});

/** The figures of the seeded simulation are the same on every machine. */
describe('N7 spacing: auto learns what a site tolerates', () => {
  const late = (done: ReturnType<typeof crawl>): number =>
    done.late.good / (done.late.good + done.late.refused);

  it.each([
    {
      what: 'a page a second each',
      exits: 50,
      site: limitedSite(10, 10_000),
      capacityPerS: 50,
      seconds: 120,
    },
    { what: 'one page in two seconds', exits: 10, site: limitedSite(1, 2000), capacityPerS: 5, seconds: 600 },
    {
      ...{ what: 'five pages a minute, else a ban', exits: 200, site: limitedSite(5, 60_000, 60_000) },
      ...{ capacityPerS: 200 / 12, seconds: 600 },
    },
  ])(
    '$what: at least 90 % of the pages there are, and 99 of 100 tries good',
    ({ exits, site, capacityPerS, seconds }) => {
      const pool = pacedPool(exits, auto);
      const done = crawl({ pool, site, perS: capacityPerS * 1.6, seconds, restAfterRefusalMs: 20_000 });
      expect((done.late.good * 3) / seconds).toBeGreaterThan(capacityPerS * 0.9);
      expect(late(done)).toBeGreaterThan(0.99);
    },
  );

  it.each([30_000, 0])(
    'a pool does not burn out while it learns: scouts are refused, not all (ban of %i ms)',
    (banMs) => {
      const limited = limitedSite(5, 10_000, banMs);
      const seen: { exit: number; atMs: number }[] = [];
      let worst = 0;
      const done = crawl({
        pool: pacedPool(60, auto),
        site: (exit, nowMs) => {
          const said = limited(exit, nowMs);
          if (said === 'refused') seen.push({ exit, atMs: nowMs });
          while ((seen[0]?.atMs ?? nowMs) < nowMs - 5000) seen.shift();
          worst = Math.max(worst, new Set(seen.map((each) => each.exit)).size);
          return said;
        },
        perS: 45,
        seconds: 180,
        restAfterRefusalMs: 33_000,
      });
      expect(worst).toBeLessThanOrEqual(10);
      expect(done.good / 180).toBeGreaterThan(30 * 0.85);
      expect(late(done)).toBeGreaterThan(0.995);
    },
  );

  it('a site that refuses one in ten, whatever the pace, is not slowed down', () => {
    const chance = seededRandom(7);
    const site = (): 'good' | 'refused' => (chance.float() < 0.1 ? 'refused' : 'good');
    const done = crawl({ pool: pacedPool(50, auto), site, perS: 40, seconds: 300, restAfterRefusalMs: 500 });
    expect(done.late.good / 100).toBeGreaterThan(40 * 0.9 * 0.95);
  });

  it('one exit of its own mind rests longer and slows nobody else down', () => {
    const strict = limitedSite(1, 8000);
    const pool = pacedPool(20, auto);
    const [odd] = pool.slots;
    const site = limitedSite(1, 1000);
    const done = crawl({
      pool,
      site: (exit, nowMs) => (exit === odd ? strict(exit, nowMs) : site(exit, nowMs)),
      perS: 40,
      seconds: 300,
      restAfterRefusalMs: 10_000,
    });
    expect(done.spacingMs).toBeLessThan(2000);
    expect(late(done)).toBeGreaterThan(0.98);
  });

  it('an exit that never served says nothing about the pace', () => {
    const pool = pacedPool(20, auto);
    const dead = new Set(pool.slots.slice(0, 6));
    const done = crawl({
      pool,
      site: (exit) => (dead.has(exit) ? 'refused' : 'good'),
      perS: 20,
      seconds: 120,
      restAfterRefusalMs: 5000,
    });
    expect(done.spacingMs).toBeLessThan(1000);
  });
});

describe('what was learnt, for people', () => {
  it('names the sites that want a rest, those visited last first, bounded; a fixed rest was not learnt', () => {
    const paces = new Paces();
    const pool = pacedPool(20, auto);
    crawl({ pool, site: limitedSite(1, 2000), perS: 40, seconds: 60, restAfterRefusalMs: 500, paces });
    paces.begin(fixed, first, { site: 'fixed.example', nowMs: 0 }).end(0);
    const [learnt, ...others] = paces.learnt(50);
    expect([learnt?.site, learnt?.pool, others]).toEqual(['shop.example', pool.name, []]);
    expect(learnt?.spacingMs).toBeGreaterThan(100);
    expect(paces.learnt(0)).toEqual([]);
  });
});
