import { expect, it } from 'vitest';
import { smoothed } from '../../src/core/smoothed.js';

it('begins with the first value, and goes a part of the way to each one after it', () => {
  expect(smoothed(0, 80, 0.25)).toBe(80);
  expect(smoothed(80, 160, 0.25)).toBe(100);
  expect(smoothed(100, 0, 0.25)).toBe(75);
});
