import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/core/random.js';
import { BanNews } from '../../../src/state/fallback/ban-news.js';
import { MemoryBans } from '../../../src/state/memory/bans.js';
import type { SharedBan } from '../../../src/state/ports.js';
import { delayed } from '../../contract/delayed.js';
import { switched } from '../away.js';
import { ManualClock } from '../manual-clock.js';

const KEEP_MS = 3_600_000;

/** All that is under way arrives. */
async function settled(): Promise<void> {
  for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve));
}

class Fleet {
  readonly clock = new ManualClock();
  store = new MemoryBans(this.clock, KEEP_MS);
  readonly random = seededRandom(5);

  gateway(by: string, maxJournal?: number) {
    const far = delayed(this.store, this.random);
    const { store, way } = switched(far);
    const held = new Map<string, SharedBan>();
    const news = new BanNews({
      ...{ bans: store, clock: this.clock, random: this.random, by, keepMs: KEEP_MS },
      ...(maxJournal === undefined ? {} : { maxJournal }),
      apply: (ban) => held.set(ban.exit, ban),
    });
    const ban = (exit: string, leftMs = 60_000): void =>
      news.say({ exit, site: null, leftMs, strikes: 1, reason: 'timeout' });
    return { news, way, held, ban };
  }
}

describe('BanNews', () => {
  it('S4 what one gateway says the other hears', async () => {
    const fleet = new Fleet();
    const [one, other] = [fleet.gateway('g1'), fleet.gateway('g2')];
    for (const { news } of [one, other]) news.start();
    one.ban('u-a');
    await settled();
    expect(other.held.get('u-a')).toMatchObject({ version: 1, by: 'g1', leftMs: 60_000 });
    expect(one.held.size).toBe(0);
    other.news.say({ exit: 'u-a', site: null, leftMs: 0, strikes: 1, reason: 'lifted' });
    await settled();
    expect(one.held.get('u-a')).toMatchObject({ version: 2, by: 'g2', leftMs: 0 });
  });

  it('S4 with every message lost it is known after one poll', async () => {
    const fleet = new Fleet();
    const [one, other] = [fleet.gateway('g1'), fleet.gateway('g2')];
    fleet.store.listen = () => () => undefined;
    for (const { news } of [one, other]) news.start();
    await settled();
    one.ban('u-a');
    await settled();
    expect(other.held.size).toBe(0);
    fleet.clock.advance(2000);
    await settled();
    expect(other.held.get('u-a')).toMatchObject({ exit: 'u-a' });
    other.news.stop();
    one.ban('u-b');
    fleet.clock.advance(10_000);
    await settled();
    expect(other.held.has('u-b')).toBe(false);
  });

  it('S3 what was said while the store was away is said afterwards, with the time that is left', async () => {
    const fleet = new Fleet();
    const [one, other] = [fleet.gateway('g1'), fleet.gateway('g2')];
    for (const { news } of [one, other]) news.start();
    await settled();
    one.way.isUp = false;
    for (let n = 0; n < 100; n++) one.ban(`u-${n}`);
    one.ban('u-0', 90_000);
    await settled();
    expect(one.news.waiting).toBe(100);
    fleet.clock.advance(20_000);
    await settled();
    one.way.isUp = true;
    await one.news.readAll();
    await settled();
    expect(one.news.waiting).toBe(0);
    expect(other.held.size).toBe(100);
    expect(other.held.get('u-0')).toMatchObject({ version: 2, leftMs: 70_000 });
    expect(other.held.get('u-1')).toMatchObject({ leftMs: 40_000 });
  });

  it('S3 keeps a bounded number of words, the newest of them, and counts the others', async () => {
    const fleet = new Fleet();
    const one = fleet.gateway('g1', 10);
    one.way.isUp = false;
    for (let n = 0; n < 25; n++) one.ban(`u-${n}`);
    await settled();
    expect([one.news.waiting, one.news.counts.dropped]).toEqual([10, 15]);
    one.way.isUp = true;
    await one.news.flush();
    expect((await fleet.store.changes(null)).bans.map(({ exit }) => exit).sort()).toEqual(
      Array.from({ length: 10 }, (_, n) => `u-${n + 15}`),
    );
  });

  it('S4 bans that are taken back here are lifted elsewhere, but not those of others', async () => {
    const fleet = new Fleet();
    const [one, other] = [fleet.gateway('g1'), fleet.gateway('g2')];
    for (const { news } of [one, other]) news.start();
    for (const exit of ['u-a', 'u-b']) one.ban(exit);
    other.ban('u-c');
    one.ban('u-over', 10);
    await settled();
    fleet.clock.advance(20);
    one.news.takeBack(({ exit }) => exit === 'u-b');
    await settled();
    expect(other.held.get('u-a')).toMatchObject({ version: 2, leftMs: 0 });
    expect(other.held.get('u-b')).toMatchObject({ version: 1 });
    expect(other.held.get('u-over')).toMatchObject({ version: 1 });
    expect(one.held.get('u-c')).toMatchObject({ version: 1 });
    expect(other.held.has('u-c')).toBe(false);
  });

  it('S3 a lift that came while this gateway was away is not undone by what it heard before', async () => {
    const fleet = new Fleet();
    const [one, other] = [fleet.gateway('g1'), fleet.gateway('g2')];
    for (const { news } of [one, other]) news.start();
    one.ban('u-a');
    await settled();
    one.way.isUp = false;
    other.news.say({ exit: 'u-a', site: null, leftMs: 0, strikes: 1, reason: 'lifted' });
    await settled();
    one.way.isUp = true;
    await one.news.readAll();
    await settled();
    expect(one.held.get('u-a')).toMatchObject({ version: 2, leftMs: 0 });
    expect(other.held.get('u-a')).toMatchObject({ version: 1 });
  });

  it('S3 a store that was emptied, or set back, is told again', async () => {
    const fleet = new Fleet();
    const one = fleet.gateway('g1');
    one.news.start();
    one.ban('u-a');
    one.ban('u-over', 10);
    await settled();
    fleet.clock.advance(100);
    const empty = new MemoryBans(fleet.clock, KEEP_MS);
    Object.assign(fleet.store, { put: empty.put.bind(empty), changes: empty.changes.bind(empty) });
    await one.news.readAll();
    await settled();
    expect((await empty.changes(null)).bans).toMatchObject([{ exit: 'u-a', version: 1 }]);
  });

  it('S3 reads all again once a minute, for what nobody noticed', async () => {
    const fleet = new Fleet();
    const one = fleet.gateway('g1');
    one.news.start();
    const since: (string | null)[] = [];
    const changes = fleet.store.changes.bind(fleet.store);
    fleet.store.changes = (from) => {
      since.push(from);
      return changes(from);
    };
    for (let n = 0; n < 65; n++) {
      await settled();
      fleet.clock.advance(2000);
    }
    expect(since.filter((from) => from === null)).toHaveLength(2);
  });

  it('forgets words when the store does, so that a new first word counts', async () => {
    const fleet = new Fleet();
    const [one, other] = [fleet.gateway('g1'), fleet.gateway('g2')];
    for (const { news } of [one, other]) news.start();
    for (let version = 0; version < 3; version++) one.ban('u-a', 1000);
    await settled();
    expect(other.held.get('u-a')).toMatchObject({ version: 3 });
    fleet.clock.advance(KEEP_MS * 0.95);
    for (let n = 0; n < 5; n++) one.ban(`u-${n}`);
    await settled();
    fleet.clock.advance(KEEP_MS * 0.1);
    const third = fleet.gateway('g3');
    third.ban('u-a');
    await settled();
    expect(other.held.get('u-a')).toMatchObject({ version: 1, by: 'g3' });
  });
});
