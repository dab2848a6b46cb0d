import { describe, expect, it } from 'vitest';
import { IdMap } from '../../src/upstreams/id-map.js';

describe('IdMap', () => {
  it('is a map', () => {
    const ids = new IdMap();
    for (let n = 0; n < 5000; n++) ids.set(`u-${n.toString(36)}`, n);
    expect([ids.size, ids.get('u-1'), ids.get('u-zz'), ids.get('u-zzz'), ids.has('')]).toEqual([
      ...[5000, 1, 1295, undefined, false],
    ]);
    ids.delete('u-1');
    expect([ids.size, ids.has('u-1'), ids.has('u-2')]).toEqual([4999, false, true]);
    expect([...ids].reduce((sum, [, n]) => sum + n, 0)).toBe((4999 * 5000) / 2 - 1);
  });
});
