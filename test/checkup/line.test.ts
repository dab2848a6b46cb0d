import { expect, it } from 'vitest';
import { checkOf, counted, worstOf } from '../../src/checkup/line.js';

it('the worst level of all lines counts', () => {
  const { ok, warn, fail } = checkOf('x');
  expect(worstOf([])).toBe('ok');
  expect(worstOf([ok('a'), warn('b', 'c')])).toBe('warn');
  expect(worstOf([warn('b', 'c'), fail('d', 'e'), ok('a')])).toBe('fail');
  expect(fail('d', 'e')).toEqual({ check: 'x', level: 'fail', says: 'd', todo: 'e' });
});

it('counts things', () => {
  expect([counted(0, 'key'), counted(1, 'key'), counted(2, 'key')]).toEqual(['0 keys', 'one key', '2 keys']);
});
