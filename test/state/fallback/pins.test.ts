import { describe, expect, it } from 'vitest';
import { NearPins } from '../../../src/state/fallback/pins.js';
import { MemoryPins } from '../../../src/state/memory/pins.js';
import type { Pin } from '../../../src/state/ports.js';
import { pinsContract } from '../../contract/pins.js';
import { switched } from '../away.js';
import { ManualClock } from '../manual-clock.js';

const TTL_MS = 600_000;

/** A store that tells of moves and drops, as Redis does. */
class TellingMemoryPins extends MemoryPins {
  readonly hearers = new Set<(key: string) => void>();

  listen(hear: (key: string) => void): () => void {
    this.hearers.add(hear);
    return () => void this.hearers.delete(hear);
  }

  override async move(key: string, from: Pin, move: { exit: string; ttlMs: number }): Promise<Pin> {
    const pin = await super.move(key, from, move);
    for (const hear of this.hearers) hear(key);
    return pin;
  }
}

function fleet(clock = new ManualClock()) {
  const far = new TellingMemoryPins(clock);
  const gateway = () => {
    const { store, way } = switched(far);
    return { pins: new NearPins({ far: store, clock, isUp: () => way.isUp }), way };
  };
  return { clock, far, one: gateway(), other: gateway() };
}

pinsContract('near a store', () => {
  const { clock, one } = fleet();
  return { store: one.pins, passMs: (ms) => clock.advance(ms) };
});

pinsContract('near, with the store away', () => {
  const { clock, one } = fleet();
  one.way.isUp = false;
  return { store: one.pins, passMs: (ms) => clock.advance(ms) };
});

describe('NearPins', () => {
  it('S6 a session that was seen lately costs no call', async () => {
    const { clock, one } = fleet();
    await one.pins.bind('k', 'u-a', TTL_MS);
    one.way.calls = 0;
    for (let n = 0; n < 20; n++) {
      clock.advance(10_000);
      expect(one.pins.find('k', TTL_MS)).toEqual({ exit: 'u-a', generation: 1 });
    }
    expect(one.way.calls).toBe(0);
  });

  it('S6 below half of its time one call keeps it, and nobody waits for that', async () => {
    const { clock, one, other } = fleet();
    await one.pins.bind('k', 'u-a', TTL_MS);
    one.way.calls = 0;
    clock.advance(TTL_MS * 0.6);
    for (let n = 0; n < 10; n++) expect(one.pins.find('k', TTL_MS)).not.toBeInstanceOf(Promise);
    expect(one.way.calls).toBe(1);
    await Promise.resolve();
    clock.advance(TTL_MS * 0.99);
    expect(await other.pins.find('k', TTL_MS)).toEqual({ exit: 'u-a', generation: 1 });
  });

  it('S6 lives its whole time after its last use, wherever that was', async () => {
    const { clock, one, other } = fleet();
    await one.pins.bind('k', 'u-a', TTL_MS);
    clock.advance(TTL_MS * 0.45);
    await one.pins.find('k', TTL_MS);
    clock.advance(TTL_MS * 0.99);
    expect(await other.pins.find('k', TTL_MS)).toEqual({ exit: 'u-a', generation: 1 });
  });

  it('S6 hears when another gateway moves a session', async () => {
    const { one, other } = fleet();
    const pin = await one.pins.bind('k', 'u-a', TTL_MS);
    await other.pins.find('k', TTL_MS);
    await other.pins.move('k', pin, { exit: 'u-b', ttlMs: TTL_MS });
    expect(await one.pins.find('k', TTL_MS)).toEqual({ exit: 'u-b', generation: 2 });
  });

  it('S6 asks again about sessions of an exit that was banned, and about all when messages may be missing', async () => {
    const { clock, far, one } = fleet();
    const pin = await one.pins.bind('k', 'u-a', TTL_MS);
    await one.pins.bind('l', 'u-c', TTL_MS);
    far.hearers.clear();
    await far.move('k', pin, { exit: 'u-b', ttlMs: TTL_MS });
    await far.move('l', { exit: 'u-c', generation: 1 }, { exit: 'u-d', ttlMs: TTL_MS });
    expect(one.pins.find('k', TTL_MS)).toEqual(pin);
    clock.advance(1);
    one.pins.doubt('u-a');
    expect(await one.pins.find('k', TTL_MS)).toEqual({ exit: 'u-b', generation: 2 });
    expect(one.pins.find('l', TTL_MS)).toMatchObject({ exit: 'u-c' });
    one.pins.doubtAll();
    expect(await one.pins.find('l', TTL_MS)).toMatchObject({ exit: 'u-d' });
  });

  it('S3 while the store is away sessions stay, begin and move', async () => {
    const { one } = fleet();
    const pin = await one.pins.bind('old', 'u-a', TTL_MS);
    one.way.isUp = false;
    expect(await one.pins.find('old', TTL_MS)).toEqual(pin);
    expect(await one.pins.bind('new', 'u-b', TTL_MS)).toEqual({ exit: 'u-b', generation: 1 });
    expect(await one.pins.move('old', pin, { exit: 'u-c', ttlMs: TTL_MS })).toMatchObject({ generation: 2 });
  });

  it('S3 what began and moved meanwhile is told when it is next used', async () => {
    const { one, other } = fleet();
    const pin = await one.pins.bind('old', 'u-a', TTL_MS);
    one.way.isUp = false;
    await one.pins.bind('new', 'u-b', TTL_MS);
    await one.pins.move('old', pin, { exit: 'u-c', ttlMs: TTL_MS });
    one.way.isUp = true;
    await one.pins.find('old', TTL_MS);
    await one.pins.find('new', TTL_MS);
    expect(await other.pins.find('old', TTL_MS)).toEqual({ exit: 'u-c', generation: 2 });
    expect(await other.pins.find('new', TTL_MS)).toEqual({ exit: 'u-b', generation: 1 });
  });

  it('S6 K02 of two gateways that both had to begin a session alone the first to tell wins', async () => {
    const { one, other } = fleet();
    for (const { way } of [one, other]) way.isUp = false;
    await one.pins.bind('k', 'u-a', TTL_MS);
    await other.pins.bind('k', 'u-b', TTL_MS);
    for (const { way } of [one, other]) way.isUp = true;
    expect(await other.pins.find('k', TTL_MS)).toMatchObject({ exit: 'u-b' });
    expect(await one.pins.find('k', TTL_MS)).toMatchObject({ exit: 'u-b' });
  });

  it('S3 a store that was emptied is told of sessions again, but not of those that somebody dropped', async () => {
    const { clock, far, one, other } = fleet();
    const pin = await one.pins.bind('k', 'u-a', TTL_MS);
    const moved = await one.pins.move('k', pin, { exit: 'u-b', ttlMs: TTL_MS });
    await one.pins.find('k', TTL_MS);
    await one.pins.bind('dropped', 'u-a', TTL_MS);
    for (const hear of far.hearers) hear('dropped');
    for (const key of ['k', 'dropped']) await far.drop(key);
    clock.advance(1);
    one.pins.doubtAll();
    expect(await one.pins.find('k', TTL_MS)).toEqual(moved);
    expect(await other.pins.find('k', TTL_MS)).toEqual(moved);
    expect(await one.pins.find('dropped', TTL_MS)).toBeNull();
  });

  it('S3 a request whose question was in vain asks nothing more', async () => {
    const { clock, far } = fleet();
    const { store, way } = switched(far);
    const pins = new NearPins({ far: store, clock, isUp: () => true });
    way.isUp = false;
    expect(await pins.find('k', TTL_MS)).toBeNull();
    expect(await pins.bind('k', 'u-a', TTL_MS)).toMatchObject({ exit: 'u-a' });
    expect(way.calls).toBe(1);
  });

  it('K09 remembers a bounded number', async () => {
    const clock = new ManualClock();
    const { store, way } = switched(new TellingMemoryPins(clock));
    const pins = new NearPins({ far: store, clock, isUp: () => way.isUp, maxEntries: 10 });
    for (let n = 0; n < 100; n++) await pins.bind(`k${n}`, 'u-a', TTL_MS);
    expect(await pins.find('k0', TTL_MS)).toMatchObject({ exit: 'u-a' });
    way.isUp = false;
    expect((await pins.list({ after: null, limit: 100, client: null, exit: null })).length).toBeLessThan(12);
  });
});
