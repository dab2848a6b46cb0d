import { expect, it } from 'vitest';
import type { TurnpikeEvent } from '../../src/core/events.js';
import { createEmit } from '../../src/telemetry/hub.js';
import { exchange } from './events.js';

it('tells everybody in order, and also those who come later', () => {
  const heard: string[] = [];
  const subscribers = [() => heard.push('a'), () => heard.push('b')].map((fn) => () => void fn());
  const emit = createEmit(subscribers);
  emit(exchange());
  subscribers.push(() => void heard.push('c'));
  emit(exchange());
  expect(heard.join('')).toBe('ababc');
});

it('passes over a subscriber that throws, and says so', () => {
  const heard: TurnpikeEvent[] = [];
  const faults: unknown[] = [];
  const fault = new Error('log broken');
  const broken = (): void => {
    throw fault;
  };
  const event = exchange();
  createEmit([broken, (each) => void heard.push(each)], (error) => faults.push(error))(event);
  createEmit([broken, (each) => void heard.push(each)])(event);
  expect(heard).toEqual([event, event]);
  expect(faults).toEqual([fault]);
});
