import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/core/random.js';
import { Fleet } from '../../../src/state/fallback/fleet.js';
import { MemoryMembers } from '../../../src/state/memory/members.js';
import { switched } from '../away.js';
import { ManualClock } from '../manual-clock.js';

async function settled(): Promise<void> {
  for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
}

function gateways(clock = new ManualClock()) {
  const members = new MemoryMembers(clock);
  const gateway = (id: string, store = members) => {
    const { store: far, way } = switched(store);
    const seen: string[] = [];
    const fleet = new Fleet({
      ...{ members: far, clock, random: seededRandom(2) },
      self: () => ({ id, version: '1', load: 1, keys: [] }),
      changed: (ids) => seen.push(ids.join(' ')),
    });
    return { fleet, way, seen };
  };
  return { clock, gateway };
}

async function pass(clock: ManualClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 500) {
    clock.advance(500);
    await settled();
  }
}

describe('Fleet', () => {
  it('S3 gateways find each other, and say when somebody joins or leaves', async () => {
    const { clock, gateway } = gateways();
    const [one, other] = [gateway('g1'), gateway('g2')];
    one.fleet.start();
    await pass(clock, 3000);
    expect(one.fleet.ids).toEqual(['g1']);
    other.fleet.start();
    await pass(clock, 5000);
    expect(one.fleet.ids).toEqual(['g1', 'g2']);
    expect(one.fleet.members).toMatchObject([{ id: 'g1' }, { id: 'g2', version: '1' }]);
    await other.fleet.stop();
    await pass(clock, 3000);
    expect(one.seen).toEqual(['g1 g2', 'g1']);
  });

  it('S3 who crashes is missed after its time', async () => {
    const { clock, gateway } = gateways();
    const [one, other] = [gateway('g1'), gateway('g2')];
    for (const { fleet } of [one, other]) fleet.start();
    await pass(clock, 6000);
    other.way.isUp = false;
    await pass(clock, 8000);
    expect(one.fleet.ids).toEqual(['g1']);
  });

  it('S3 while the store is away the fleet is as it was', async () => {
    const { clock, gateway } = gateways();
    const [one, other] = [gateway('g1'), gateway('g2')];
    for (const { fleet } of [one, other]) fleet.start();
    await pass(clock, 6000);
    for (const { way } of [one, other]) way.isUp = false;
    await pass(clock, 60_000);
    expect([one.fleet.ids, other.fleet.ids]).toEqual([
      ['g1', 'g2'],
      ['g1', 'g2'],
    ]);
    await one.fleet.stop();
  });

  it('S3 nobody believes to be alone because the store came back empty', async () => {
    const { clock, gateway } = gateways();
    const [one, other] = [gateway('g1'), gateway('g2')];
    for (const { fleet } of [one, other]) fleet.start();
    await pass(clock, 6000);
    for (const { way } of [one, other]) way.isUp = false;
    await pass(clock, 10_000);
    one.way.isUp = true;
    one.fleet.back();
    await pass(clock, 3000);
    expect(one.fleet.ids).toEqual(['g1', 'g2']);
    await pass(clock, 5000);
    expect(one.fleet.ids).toEqual(['g1']);
  });
});
