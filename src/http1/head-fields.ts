/**
 * What the fields of a head must say for the head to be one: the rules about who is meant (Host) and about what
 * a peer may ask to have removed (Connection). How long the body is, `framing.ts` decides.
 */
import type { Fields } from './fields.js';
import { connectionTokens } from './fields.js';
import type { HeadFault } from './message.js';
import { malformed } from './message.js';
import { COLON, HOST_NAME, isDigit, withoutOws } from './octets.js';
import type { ToleranceName } from './tolerances.js';

const MAX_HOST_NAME = 253;
const MAX_PORT = 65_535;

/** Whether a request may not ask to have this field removed on the way: it frames, routes or admits. */
function isUntouchable(token: string): boolean {
  return (
    token === 'content-length' ||
    token === 'transfer-encoding' ||
    token === 'host' ||
    token === 'proxy-authorization' ||
    token === 'x-session-id' ||
    token === 'x-gatekeeper-token' ||
    token.startsWith('x-turnpike-')
  );
}

/**
 * Checks Host (RFC 9112, section 3.2) and Connection (RFC 9110, section 7.6.1) of a request. A CONNECT may come
 * without Host, since its target says the same.
 */
export function checkRequestFields(method: string, minor: 0 | 1, fields: Fields): HeadFault | null {
  let hosts = 0;
  let hasConnection = false;
  for (let i = 0; i < fields.length; i++) {
    const name = fields.lowerNameAt(i);
    if (name === 'host') {
      if (++hosts > 1) return malformed('more than one Host');
      if (!isHost(fields.valueAt(i))) return malformed('an empty or malformed Host');
    } else if (name === 'connection') hasConnection = true;
  }
  if (hosts === 0 && minor === 1 && method !== 'CONNECT') return malformed('no Host');
  return hasConnection ? checkConnection(fields) : null;
}

function checkConnection(fields: Fields): HeadFault | null {
  for (const token of connectionTokens(fields)) {
    if (isUntouchable(token)) return malformed('Connection names a field that must not be removed');
  }
  return null;
}

/** Whether the text is `uri-host [":" port]` (RFC 9110, section 7.2), as narrow as host names on the Web are. */
export function isHost(text: string): boolean {
  const nameEnd = text.startsWith('[') ? text.indexOf(']') + 1 : nameEndOf(text);
  if (nameEnd === 0) return false;
  if (nameEnd < text.length && !isPort(text, nameEnd)) return false;
  return text.startsWith('[') ? isBracketed(text, nameEnd) : hasFullLabels(text, nameEnd);
}

function nameEndOf(text: string): number {
  let at = 0;
  while (at < text.length && HOST_NAME[text.charCodeAt(at)]) at++;
  return at;
}

/** `:` and a port; an empty one is legal (RFC 3986, section 3.2.3). */
function isPort(text: string, from: number): boolean {
  if (text.charCodeAt(from) !== COLON || text.length - from > 6) return false;
  for (let at = from + 1; at < text.length; at++) {
    if (!isDigit(text.charCodeAt(at))) return false;
  }
  return Number(text.slice(from + 1)) <= MAX_PORT;
}

function isBracketed(text: string, end: number): boolean {
  const inside = text.slice(1, end - 1).toLowerCase();
  if (!inside.includes(':')) return false;
  for (const character of inside) {
    if (!'0123456789abcdef:.'.includes(character)) return false;
  }
  return true;
}

/** No empty label; one dot at the end is allowed. */
function hasFullLabels(text: string, end: number): boolean {
  if (end > MAX_HOST_NAME + 1) return false;
  let last = -1;
  for (let at = text.indexOf('.'); at >= 0 && at < end; at = text.indexOf('.', at + 1)) {
    if (at === last + 1) return false;
    last = at;
  }
  return end <= MAX_HOST_NAME || last === end - 1;
}

/**
 * Makes one line of Content-Length lines, or lists, that say the same, and takes leading zeros off (RFC 9110,
 * section 8.6). Returns what it did; lines that contradict each other stay as they are.
 */
export function mendLength(fields: Fields): ToleranceName[] {
  const lines = fields.all('content-length');
  const first = lines[0];
  if (first === undefined) return [];
  const isSingle = lines.length === 1 && !first.includes(',');
  if (isSingle && !first.startsWith('0')) return [];
  const values = lines.flatMap((line) => line.split(',')).map(withoutOws);
  const plain = values.map(withoutLeadingZeros);
  if (plain.some((value) => value !== plain[0])) return [];
  fields.set('Content-Length', plain[0] ?? '');
  const used: ToleranceName[] = values.length > 1 ? ['repeated_length'] : [];
  return values.some((value, i) => value !== plain[i]) ? [...used, 'padded_length'] : used;
}

function withoutLeadingZeros(digits: string): string {
  let at = 0;
  while (at < digits.length - 1 && digits.charAt(at) === '0') at++;
  return digits.slice(at);
}
