import { seededRandom } from '../../src/core/random.js';
import { MemoryPins } from '../../src/state/memory/pins.js';
import { ManualClock } from '../state/manual-clock.js';
import { DelayedPins } from './delayed-pins.js';
import { pinsContract } from './pins.js';

pinsContract('memory', () => {
  const clock = new ManualClock();
  return { pins: new MemoryPins(clock), passMs: (ms) => clock.advance(ms) };
});

pinsContract('memory, delayed and reordered', () => {
  const clock = new ManualClock();
  const pins = new DelayedPins(new MemoryPins(clock), seededRandom(3));
  return { pins, passMs: (ms) => clock.advance(ms) };
});
