import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineBuffer } from '../../src/telemetry/line-buffer.js';

describe('lines on their way to a file', () => {
  it('come out as they went in, whatever their characters and sizes', () => {
    const line = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.nat(70_000).map((n) => 'x'.repeat(n)),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
        const buffer = new LineBuffer(10_000_000);
        for (const each of lines) expect(buffer.add(`${each}\n`)).toBe(true);
        const expected = Buffer.from(lines.map((each) => `${each}\n`).join(''));
        expect(buffer.bytes).toBe(expected.length);
        expect(buffer.take().equals(expected)).toBe(true);
        expect(buffer.bytes).toBe(0);
      }),
      { seed: 5, numRuns: 100 },
    );
  });

  it('are refused past the bound, and taken again after a take', () => {
    const buffer = new LineBuffer(10);
    expect([buffer.add('12345\n'), buffer.add('67890\n'), buffer.add('678\n')]).toEqual([true, false, true]);
    expect(buffer.take().toString()).toBe('12345\n678\n');
    expect(buffer.add('67890\n')).toBe(true);
  });
});
