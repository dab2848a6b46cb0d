/** Reads `Retry-After` (RFC 9110, section 10.2.3). */
import type { Fields } from '../http1/fields.js';

/** A million seconds and more are said to stay away for good; whoever uses the time has a cap of its own. */
const LONGEST_S = 1_000_000_000;

/**
 * How long the answer asks to stay away, in milliseconds; null where it doesn't, or not in a way that can be read.
 * A date counts from the answer's own `Date`, so that no clock has to agree with the site's; without one from our clock.
 * @param receivedWallMs when the answer came; null where nobody knows
 */
export function retryAfterMs(fields: Fields, receivedWallMs: number | null): number | null {
  const text = fields.get('retry-after')?.trim();
  if (text === undefined || text === '') return null;
  if (/^[0-9]+$/.test(text)) return Math.min(Number(text), LONGEST_S) * 1000;
  const sent = fields.get('date');
  const sentMs = sent === undefined ? (receivedWallMs ?? NaN) : dateMs(sent);
  const waitMs = dateMs(text) - sentMs;
  return Number.isNaN(waitMs) ? null : Math.max(0, waitMs);
}

/** An HTTP date in milliseconds since 1970; NaN for anything that is not clearly one. */
function dateMs(text: string): number {
  return /^[A-Z][a-z]{2,8},? .*[0-9]{2}:[0-9]{2}:[0-9]{2}/.test(text) ? Date.parse(text) : NaN;
}
