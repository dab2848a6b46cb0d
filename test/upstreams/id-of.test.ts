import { describe, expect, it } from 'vitest';
import { idOf } from '../../src/upstreams/id-of.js';

describe('idOf', () => {
  it('is the same each time, sixty bits in base32, and another for another identity', () => {
    expect(idOf('a')).toMatch(/^u-[a-z2-7]{12}$/);
    expect(idOf('a')).toBe(idOf('a'));
    const ids = Array.from({ length: 1000 }, (_, n) => idOf(`exit ${n}`));
    expect(new Set(ids).size).toBe(1000);
  });
});
