import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WakeHeap } from '../../src/credentials/wake-heap.js';

describe('the heap of who comes up when', () => {
  it('gives all that are due, the soonest first, and none before its time', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50)), fc.nat(50), (times, nowMs) => {
        const heap = new WakeHeap();
        times.forEach((atMs, slot) => heap.push(atMs, slot));
        const came: number[] = [];
        for (let slot = heap.popDue(nowMs); slot !== null; slot = heap.popDue(nowMs))
          came.push(times[slot] ?? -1);
        expect(came).toEqual(times.filter((atMs) => atMs <= nowMs).sort((a, b) => a - b));
        expect(heap.size).toBe(times.length - came.length);
      }),
    );
  });
});
