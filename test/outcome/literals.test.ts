import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Literals } from '../../src/outcome/literals.js';

const found = (literals: readonly string[], text: string, end?: number): number[] => [
  ...new Literals(literals).find(Buffer.from(text), end),
];

describe('many literals in one pass', () => {
  it('tells the place behind the first find of each', () => {
    expect(found(['she', 'he', 'hers', 'x'], 'ushers, she')).toEqual([4, 4, 6, -1]);
  });

  it('ASCII case aside, other bytes as they are', () => {
    expect(found(['CapTCHA', 'größe'], 'a captcha, GRÖßE größe')).toEqual([
      9,
      Buffer.byteLength('a captcha, GRÖßE größe'),
    ]);
  });

  it('looks no further than told', () => {
    expect(found(['abc'], '..abc', 4)).toEqual([-1]);
    expect(found(['abc'], '..abc', 5)).toEqual([5]);
  });

  it('takes no literal that is empty or longer than 256 bytes', () => {
    expect(() => new Literals([''])).toThrow(RangeError);
    expect(() => new Literals(['x'.repeat(257)])).toThrow(RangeError);
    expect(new Literals(['x'.repeat(256)]).count).toBe(1);
  });

  it('agrees with indexOf, whatever the literals and the text', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'A', '<', 'é'), minLength: 1, maxLength: 6 });
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'B', '<', 'é'), maxLength: 60 });
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 12 }), text, (literals, haystack) => {
        const lower = Buffer.from(ascii(haystack));
        const expected = literals.map((literal) => {
          const at = lower.indexOf(Buffer.from(ascii(literal)));
          return at < 0 ? -1 : at + Buffer.byteLength(literal);
        });
        expect(found(literals, haystack)).toEqual(expected);
      }),
    );
  });
});

const ascii = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
