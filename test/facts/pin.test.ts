import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pinKey } from '../../src/facts/pin.js';

describe('pinKey', () => {
  it('names client and session', () => {
    expect(pinKey('crawler', 's1')).toBe('7:crawler:s1');
  });

  it('G4 differs whenever client or session does', () => {
    const name = fc.string({ unit: fc.constantFrom('a', ':', '1'), maxLength: 5 });
    fc.assert(
      fc.property(name, name, name, name, (client, session, otherClient, otherSession) => {
        const isSame = client === otherClient && session === otherSession;
        expect(pinKey(client, session) === pinKey(otherClient, otherSession)).toBe(isSame);
      }),
      { numRuns: 5000 },
    );
  });
});
