import { expect, it } from 'vitest';
import { Reclaim } from '../../src/app/reclaim.js';
import { FakeClock } from '../support/fake-clock.js';

function watched() {
  const clock = new FakeClock();
  let collections = 0;
  const reclaim = new Reclaim(clock, () => collections++);
  const many = (type: 'client_connected' | 'client_disconnected', count: number): void => {
    for (let n = 0; n < count; n++) reclaim.subscribe({ type, listener: 'proxy' });
  };
  return { clock, many, collections: () => collections };
}

it('a crowd that leaves is followed by one collection, once it is quiet', () => {
  const { clock, many, collections } = watched();
  many('client_connected', 1000);
  many('client_disconnected', 900);
  expect(collections()).toBe(0);
  clock.advance(2000);
  expect(collections()).toBe(1);
  many('client_disconnected', 100);
  clock.advance(10_000);
  expect(collections()).toBe(1);
});

it('few that leave, or a part of many, are not', () => {
  const { clock, many, collections } = watched();
  many('client_connected', 499);
  many('client_disconnected', 499);
  many('client_connected', 2000);
  many('client_disconnected', 900);
  clock.advance(10_000);
  expect(collections()).toBe(0);
});

it('a crowd that comes back at once is not', () => {
  const { clock, many, collections } = watched();
  many('client_connected', 1000);
  many('client_disconnected', 1000);
  many('client_connected', 1000);
  clock.advance(10_000);
  expect(collections()).toBe(0);
});

it('collects for real without a flag', () => {
  const clock = new FakeClock();
  const reclaim = new Reclaim(clock);
  for (let n = 0; n < 600; n++) reclaim.subscribe({ type: 'client_connected', listener: 'proxy' });
  for (let n = 0; n < 600; n++) reclaim.subscribe({ type: 'client_disconnected', listener: 'proxy' });
  expect(() => clock.advance(2000)).not.toThrow();
});
