import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePinKey, pinKey } from '../../src/facts/pin.js';

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

describe('parsePinKey', () => {
  it.each([
    ['a', 's'],
    ['', ''],
    ['a:b', '3:x:y'],
    ['12:', ':'],
  ])('gives back client %j and session %j', (client, session) => {
    expect(parsePinKey(pinKey(client, session))).toEqual({ client, session });
  });

  it.each(['', 'a', '3:ab', '2:ab', '2:abc', ':a:b', '99999:a:b', '1:ab:c'])('%j is no key', (text) => {
    expect(parsePinKey(text)).toBeNull();
  });
});
