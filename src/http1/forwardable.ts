/**
 * Which fields of a message travel on (RFC 9110, section 7.6.1). Decides by name only; what a field says, and which
 * of our own control fields are consumed, the caller knows.
 */
import type { Fields } from './fields.js';
import { connectionTokens, isHopByHop } from './fields.js';

/**
 * A copy without the hop-by-hop fields, without those that Connection names, and without what `alsoDrop` (given
 * names in lower case) says. Order and case stay. Content-Length stays: whoever frames the message anew sets it.
 */
export function endToEnd(fields: Fields, alsoDrop: (lowerName: string) => boolean): Fields {
  const named = connectionTokens(fields);
  return fields.without((name) => isHopByHop(name) || named.includes(name) || alsoDrop(name));
}
