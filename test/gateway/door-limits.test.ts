import { describe, expect, it } from 'vitest';
import { DoorLimits } from '../../src/gateway/door-limits.js';
import type { Limits } from '../../src/routing/runtime.js';

function doors(limits: Partial<Limits>): DoorLimits {
  const all = { connections: 2, turnedAway: 1, connectionsPerAddress: Infinity, ...limits } as Limits;
  return new DoorLimits(() => all);
}

describe('sockets of clients', () => {
  it('are let in, then told that there are too many, then passed over', () => {
    const door = doors({});
    const seen = Array.from({ length: 4 }, () => [
      door.opened(),
      door.open <= 3 ? door.enter('a') : 'not asked',
    ]);
    expect(seen).toEqual([
      [true, null],
      [true, null],
      [true, 'limits.connections'],
      [false, 'not asked'],
    ]);
    door.closed();
    door.closed();
    door.closed();
    expect(door.open).toBe(1);
    expect([door.opened(), door.enter('a')]).toEqual([true, null]);
  });

  it('are counted by address', () => {
    const door = doors({ connections: 10, connectionsPerAddress: 1 });
    door.opened();
    expect(door.enter('a')).toBe(null);
    expect(door.enter('b')).toBe(null);
    expect(door.enter('a')).toBe('limits.connections_per_address');
    door.leave('a');
    door.leave('a');
    expect(door.enter('a')).toBe(null);
    door.leave('nobody');
    expect(door.enter('nobody')).toBe(null);
  });
});
