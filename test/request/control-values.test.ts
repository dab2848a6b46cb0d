import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as values from '../../src/request/control-values.js';

const DAY_MS = 86_400_000;
const seconds = (text: string): number | null => values.readSeconds(text, DAY_MS);

describe('values of controls', () => {
  it.each<[string, (text: string) => unknown, string, unknown]>([
    ['session id', values.readSessionId, 'A-b.C_d~9', 'A-b.C_d~9'],
    ['session id', values.readSessionId, 'a'.repeat(128), 'a'.repeat(128)],
    ['mode', values.readMode, 'soft', 'soft'],
    ['mode', values.readMode, 'HARD', 'hard'],
    ['name', values.readName, 'pool-1.a_B', 'pool-1.a_B'],
    ['country', values.readCountry, 'US', 'us'],
    ['city', values.readCity, 'New York', 'new_york'],
    ['city', values.readCity, "L'Aquila", "l'aquila"],
    ['city', values.readCity, 'new_york', 'new_york'],
    ['asn', values.readAsn, '64500', 64_500],
    ['asn', values.readAsn, 'AS64500', 64_500],
    ['asn', values.readAsn, 'as4294967295', 4_294_967_295],
    ['tags', values.readTags, 'fast', ['fast']],
    ['tags', values.readTags, 'fast, cheap,fast', ['fast', 'cheap']],
    ['retries', values.readRetries, '0', 0],
    ['retries', values.readRetries, '100', 100],
    ['seconds', seconds, '30', 30_000],
    ['seconds', seconds, '0.25', 250],
    ['seconds', seconds, '86400', DAY_MS],
    ['switch', values.readSwitch, 'on', true],
    ['switch', values.readSwitch, 'OFF', false],
  ])('%s: %s', (_what, read, text, value) => {
    expect(read(text)).toEqual(value);
  });

  it.each<[string, (text: string) => unknown, readonly string[]]>([
    [
      'session id',
      values.readSessionId,
      ['', ' ', 'a b', 'ü', 'a/b', 'a:b', 'a+b', 'a'.repeat(129), 'a\n', 's1, s2'],
    ],
    ['mode', values.readMode, ['', 'on', 'softer']],
    ['name', values.readName, ['', 'a b', 'a,b', 'a'.repeat(65)]],
    ['country', values.readCountry, ['', 'u', 'usa', 'u1', 'ü']],
    ['city', values.readCity, ['', '1', ' york', 'münchen', 'a'.repeat(65)]],
    ['asn', values.readAsn, ['', '0', '-1', '4294967296', 'AS', '1.5', '99999999999']],
    [
      'tags',
      values.readTags,
      ['', ',', 'a,', 'a,,b', 'a b', Array(17).fill('a').join(','), 'a'.repeat(2000)],
    ],
    ['retries', values.readRetries, ['', '-1', '01', '101', '1.5', '1e1', 'two']],
    ['seconds', seconds, ['', '0', '0.0', '-1', '1e3', '86401', '1.2345', '01', 'ten', '99999999']],
    ['switch', values.readSwitch, ['', 'yes', '1', 'true']],
  ])('%s refuses what it must', (_what, read, texts) => {
    for (const text of texts) expect([text, read(text)]).toEqual([text, null]);
  });

  it('never throws', () => {
    const property = fc.property(fc.string({ unit: 'binary' }), (text) => {
      for (const read of Object.values(values))
        (read as (text: string, maxMs: number) => unknown)(text, 1000);
    });
    fc.assert(property, { seed: 20_240_611, numRuns: 2000 });
  });
});
