import { describe, expect, it } from 'vitest';
import { HANDOVER_MS, OwnShard } from '../../src/exits/own-shard.js';

const exits = Array.from({ length: 10_000 }, (_, index) => ({
  id: `u-${(index * 7919).toString(16)}`,
  index,
}));
const names = (count: number): string[] => Array.from({ length: count }, (_, n) => `g${n}`);
const owned = (shard: OwnShard): Set<string> =>
  new Set(exits.filter((exit) => shard.owns(exit)).map(({ id }) => id));

function fleet(members: readonly string[], ids: readonly string[] = members): Map<string, OwnShard> {
  const shards = new Map(ids.map((id) => [id, new OwnShard(id)]));
  for (const shard of shards.values()) shard.follow(members, 0);
  for (const shard of shards.values()) shard.settle(HANDOVER_MS);
  return shards;
}

/** How many of 2,000 exits have more than one owner. */
function doubled(shards: Iterable<OwnShard>): number {
  const all = [...shards];
  const some = exits.slice(0, 2000);
  return some.filter((exit) => all.filter((shard) => shard.owns(exit)).length > 1).length;
}

describe('OwnShard', () => {
  it('S1 a gateway joins ten, who hear of it one after the other: no exit ever has two owners, few move', () => {
    const shards = fleet(names(10));
    const before = new Map([...shards].map(([id, shard]) => [id, owned(shard)]));
    expect([...before.values()].reduce((sum, { size }) => sum + size, 0)).toBe(exits.length);
    const eleven = names(11);
    const late = new OwnShard('g10');
    late.follow(eleven, 10_000);
    const all = [...shards.values(), late];
    expect(doubled(all)).toBe(0);
    [...shards.values()].forEach((shard, n) => {
      shard.follow(eleven, 10_000 + n * 350);
      expect(doubled(all)).toBe(0);
    });
    for (const shard of all) shard.settle(10_000 + 10 * 350 + HANDOVER_MS);
    expect(doubled(all)).toBe(0);
    const moved = owned(late).size;
    expect(moved).toBeLessThanOrEqual((1.3 / 11) * exits.length);
    expect(all.reduce((sum, shard) => sum + owned(shard).size, 0)).toBe(exits.length);
  });

  it('S1 one of ten leaves: its exits wait for the others to have heard, and at most 1.3/n move', () => {
    const shards = fleet(names(10));
    const nine = names(10).filter((id) => id !== 'g4');
    const gone = shards.get('g4');
    shards.delete('g4');
    const kept = new Map([...shards].map(([id, shard]) => [id, owned(shard)]));
    for (const shard of shards.values()) shard.follow(nine, 10_000);
    expect(doubled([...shards.values(), ...(gone === undefined ? [] : [gone])])).toBe(0);
    for (const shard of shards.values()) shard.settle(10_000 + HANDOVER_MS);
    let moved = 0;
    for (const [id, shard] of shards) {
      const now = owned(shard);
      for (const exit of kept.get(id) ?? []) expect(now.has(exit)).toBe(true);
      moved += now.size - (kept.get(id)?.size ?? 0);
    }
    expect(moved).toBeLessThanOrEqual((1.3 / 10) * exits.length);
    expect(doubled(shards.values())).toBe(0);
  });

  it('one that was always alone waits for nobody; hearing the same again changes nothing', () => {
    const shard = new OwnShard('g0');
    expect(owned(shard).size).toBe(0);
    shard.follow(['g0'], 5);
    const { version } = shard;
    expect(owned(shard).size).toBe(exits.length);
    shard.follow(['g0'], 6);
    shard.settle(7);
    expect(shard.version).toBe(version);
    expect(shard.members).toEqual(['g0']);
    expect(shard.ownerOf({ id: 'u', index: 0 })).toBe('g0');
  });

  it('an exit that goes and comes back within the time waits once more', () => {
    const [shard] = fleet(['g0', 'g1'], ['g0']).values();
    if (shard === undefined) throw new Error('no shard');
    const mine = owned(shard);
    shard.follow(['g0', 'g1', 'g2'], 10_000);
    const kept = owned(shard);
    shard.follow(['g0', 'g1'], 10_001);
    expect(owned(shard)).toEqual(kept);
    shard.settle(10_000 + HANDOVER_MS);
    expect(owned(shard)).toEqual(kept);
    shard.settle(10_001 + HANDOVER_MS);
    expect(owned(shard)).toEqual(mine);
  });

  it('N7 knows until when another gateway may have used an exit that is ours now', () => {
    const shard = new OwnShard('g0');
    shard.follow(['g0'], 0);
    const [first] = exits;
    if (first === undefined) throw new Error('no exit');
    expect(shard.othersUntilMs(first, -1)).toBe(-Infinity);
    shard.follow(['g0', 'g1'], 10_000);
    const moved = exits.filter((exit) => shard.ownerOf(exit) === 'g1');
    const kept = exits.find((exit) => shard.ownerOf(exit) === 'g0');
    shard.follow(['g0'], 50_000);
    shard.settle(60_000);
    const [back] = moved;
    if (back === undefined || kept === undefined) throw new Error('nothing moved');
    expect(shard.owns(back)).toBe(true);
    expect(shard.othersUntilMs(back, 40_000)).toBe(50_000 + HANDOVER_MS);
    expect(shard.othersUntilMs(back, 50_000 + HANDOVER_MS)).toBe(-Infinity);
    expect(shard.othersUntilMs(kept, 0)).toBe(-Infinity);
  });
});
