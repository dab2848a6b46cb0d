import { describe, expect, it } from 'vitest';
import { Fields } from '../../src/http1/fields.js';
import { retryAfterMs } from '../../src/outcome/retry-after.js';

const date = 'Sun, 06 Nov 1994 08:49:37 GMT';

describe('B11 retryAfterMs', () => {
  it.each([
    ['3', 3000],
    [' 120 ', 120_000],
    ['0', 0],
    ['1000000000', 1e12],
    ['99999999999999999999', 1e12],
    ['-1', null],
    ['1.5', null],
    ['soon', null],
    ['', null],
    ['3, 4', null],
    ['Sun, 06 Nov 1994 08:50:07 GMT', 30_000],
    ['Sunday, 06-Nov-94 08:50:07 GMT', 30_000],
    ['Sun, 06 Nov 1994 08:00:00 GMT', 0],
    ['Sun, 99 Nov 1994 08:50:07 GMT', null],
  ])('%j is %j', (text, expected) => {
    expect(retryAfterMs(Fields.of(['Retry-After', text], ['Date', date]), null)).toBe(expected);
  });

  it('a date counts from our clock where the answer has none of its own', () => {
    const receivedMs = Date.parse(date);
    const later = Fields.of(['Retry-After', 'Sun, 06 Nov 1994 08:50:07 GMT']);
    expect(retryAfterMs(later, receivedMs)).toBe(30_000);
    expect(retryAfterMs(later, receivedMs + 60_000)).toBe(0);
    expect(retryAfterMs(later, null)).toBeNull();
    expect(retryAfterMs(Fields.of(['Retry-After', date], ['Date', 'yesterday']), receivedMs)).toBeNull();
    expect(retryAfterMs(Fields.empty(), receivedMs)).toBeNull();
  });
});
