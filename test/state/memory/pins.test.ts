import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Pin } from '../../../src/state/ports.js';
import { MemoryPins } from '../../../src/state/memory/pins.js';
import { ManualClock } from '../manual-clock.js';

describe('MemoryPins: bounds', () => {
  it('K09 drops the longest unused session when it is full', async () => {
    const clock = new ManualClock();
    const pins = new MemoryPins(clock, 3);
    for (const key of ['a', 'b', 'c']) await pins.bind(key, `u-${key}`, 1000);
    clock.advance(500);
    pins.find('a', 1000);
    await pins.bind('d', 'u-d', 1000);
    const found = await Promise.all(['a', 'b', 'c', 'd'].map(async (key) => pins.find(key, 1000)));
    expect(found.map((pin) => pin?.exit)).toEqual(['u-a', undefined, 'u-c', 'u-d']);
    expect(pins.size).toBe(3);
  });

  it('K09 sweeps what ran out while others come', async () => {
    const clock = new ManualClock();
    const pins = new MemoryPins(clock);
    for (let n = 0; n < 1000; n++) await pins.bind(`old-${n}`, 'u', 1000);
    clock.advance(2000);
    for (let n = 0; n < 600; n++) await pins.bind(`new-${n}`, 'u', 1000);
    expect(pins.size).toBeLessThanOrEqual(700);
  });

  it('K09 turns over 300,000 sessions in a table of 100,000 without a pause', async () => {
    const clock = new ManualClock();
    const pins = new MemoryPins(clock, 100_000);
    let longestMs = 0;
    for (let round = 0; round < 300; round++) {
      const startMs = performance.now();
      for (let n = 0; n < 1000; n++) void pins.bind(`${round}-${n}`, 'u', 600_000);
      longestMs = Math.max(longestMs, performance.now() - startMs);
      await Promise.resolve();
      clock.advance(10);
    }
    expect(pins.size).toBe(100_000);
    expect(longestMs).toBeLessThan(500);
  });

  it('a table of none still remembers one', async () => {
    const pins = new MemoryPins(new ManualClock(), 0);
    await pins.bind('a', 'u-a', 1000);
    expect(pins.size).toBe(1);
  });
});

describe('MemoryPins: 10,000 random histories', () => {
  type Step = { what: 'find' | 'bind' | 'move' | 'drop'; key: string; exit: string; waitMs: number };
  const step: fc.Arbitrary<Step> = fc.record({
    what: fc.constantFrom('find', 'bind', 'move', 'drop'),
    key: fc.constantFrom('a', 'b'),
    exit: fc.constantFrom('u-1', 'u-2'),
    waitMs: fc.constantFrom(0, 400, 1000),
  });

  /** The same in the plainest words: pins with their ends. */
  class Model {
    readonly pins = new Map<string, { pin: Pin; dueMs: number }>();

    run({ what, key, exit }: Step, from: Pin, nowMs: number): Pin | null {
      const held = this.pins.get(key);
      let pin = held !== undefined && nowMs < held.dueMs ? held.pin : null;
      if (what === 'drop') pin = null;
      if (what === 'bind') pin ??= { exit, generation: 1 };
      if (what === 'move') {
        const isThere = pin === null || (pin.exit === from.exit && pin.generation === from.generation);
        if (isThere) pin = { exit, generation: from.generation + 1 };
      }
      if (pin === null) this.pins.delete(key);
      else this.pins.set(key, { pin, dueMs: nowMs + 1000 });
      return pin;
    }
  }

  it('equal the model', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const clock = new ManualClock();
        const pins = new MemoryPins(clock);
        const model = new Model();
        let from: Pin = { exit: 'u-1', generation: 1 };
        for (const next of steps) {
          clock.advance(next.waitMs);
          const expected = model.run(next, from, clock.nowMs());
          const { key, exit } = next;
          if (next.what === 'find') expect(pins.find(key, 1000)).toEqual(expected);
          if (next.what === 'bind') expect(await pins.bind(key, exit, 1000)).toEqual(expected);
          if (next.what === 'drop') await pins.drop(key);
          if (next.what === 'move') {
            expect(await pins.move(key, from, { exit, ttlMs: 1000 })).toEqual(expected);
          }
          from = expected ?? from;
        }
      }),
      { numRuns: 10_000 },
    );
  });
});
