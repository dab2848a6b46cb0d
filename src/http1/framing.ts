/**
 * How long the body of a message is (RFC 9112, section 6.3). Strict for requests: what two servers could read in
 * two ways is refused. For responses: what browsers take, as long as it has one meaning.
 */
import type { Fields } from './fields.js';
import type { HeadFault, RequestHead, ResponseHead } from './message.js';
import { malformed } from './message.js';
import { isDigit, isToken, withoutOws } from './octets.js';

/** Where a body ends: there is none, after so many bytes, after the last chunk, or when the peer closes. */
export type Framing =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly length: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'close' };

export type FramingResult =
  | { readonly kind: 'framing'; readonly framing: Framing }
  | { readonly kind: 'fault'; readonly fault: HeadFault };

const NONE: FramingResult = { kind: 'framing', framing: { kind: 'none' } };
const CHUNKED: FramingResult = { kind: 'framing', framing: { kind: 'chunked' } };
const CLOSE: FramingResult = { kind: 'framing', framing: { kind: 'close' } };

const refuse = (fault: HeadFault): FramingResult => ({ kind: 'fault', fault });

/**
 * The framing of a request body (RFC 9112, sections 6.1 to 6.3). Without Content-Length and Transfer-Encoding there
 * is none. A CONNECT has no body at all (RFC 9110, section 9.3.6), so one that announces a body is refused.
 */
export function requestFraming(head: RequestHead): FramingResult {
  const codings = head.fields.has('transfer-encoding');
  const lengths = head.fields.count('content-length');
  if (!codings && lengths === 0) return NONE;
  if (codings && lengths > 0) return refuse(malformed('Content-Length together with Transfer-Encoding'));
  if (codings) return requestCodings(head);
  if (lengths > 1) return refuse(malformed('more than one Content-Length'));
  const length = parseLength(head.fields.get('content-length') ?? '');
  if (length < 0) return refuse(malformed('a Content-Length that is no plain number'));
  if (head.method !== 'CONNECT') return { kind: 'framing', framing: { kind: 'length', length } };
  return length === 0 ? NONE : refuse(malformed('a CONNECT with a body'));
}

function requestCodings(head: RequestHead): FramingResult {
  if (head.minor === 0) return refuse(malformed('Transfer-Encoding in HTTP/1.0'));
  if (head.method === 'CONNECT') return refuse(malformed('a CONNECT with a body'));
  return codingsFraming(codingsOf(head.fields));
}

/**
 * The framing of a response body (RFC 9112, section 6.3), given the method of its request: none after HEAD, with
 * 1xx, 204 and 304, and after a 2xx to CONNECT, whose framing fields mean nothing.
 */
export function responseFraming(head: ResponseHead, requestMethod: string): FramingResult {
  const { status, fields } = head;
  if (status < 200 || (requestMethod === 'CONNECT' && status < 300)) return NONE;
  const codings = fields.has('transfer-encoding');
  const lengths = fields.count('content-length');
  if (codings && lengths > 0) return refuse(malformed('Content-Length together with Transfer-Encoding'));
  if (lengths > 1) return refuse(malformed('Content-Lengths that contradict each other'));
  const length = lengths === 0 ? 0 : parseLength(fields.get('content-length') ?? '');
  if (length < 0) return refuse(malformed('a Content-Length that is no plain number'));
  if (requestMethod === 'HEAD' || status === 204 || status === 304) return NONE;
  if (codings) return tolerantCodings(codingsOf(fields));
  return lengths === 0 ? CLOSE : { kind: 'framing', framing: { kind: 'length', length } };
}

/** Empty list members and `identity` change nothing; when nothing else is there, the body lasts until the close. */
function tolerantCodings(codings: readonly string[]): FramingResult {
  const telling = codings.filter((coding) => coding !== '' && coding !== 'identity');
  return telling.length === 0 && codings.includes('identity') ? CLOSE : codingsFraming(telling);
}

/** The transfer codings of all lines, in order and lower case, empty list elements included. */
function codingsOf(fields: Fields): string[] {
  return fields
    .all('transfer-encoding')
    .flatMap((line) => line.split(','))
    .map((coding) => withoutOws(coding).toLowerCase());
}

function codingsFraming(codings: readonly string[]): FramingResult {
  if (codings.length === 1 && codings[0] === 'chunked') return CHUNKED;
  if (!codings.every(isToken)) return refuse(malformed('a Transfer-Encoding that is no list of codings'));
  if (codings.length === 0 || codings.indexOf('chunked') !== codings.length - 1) {
    return refuse(malformed('Transfer-Encoding without chunked as its last coding, or with it twice'));
  }
  return refuse({ kind: 'unsupported_coding', detail: 'a transfer coding besides chunked' });
}

/** The number that the digits make (RFC 9110, section 8.6), or -1: no sign, no leading zero, exact as a double. */
function parseLength(text: string): number {
  if (text === '' || text.length > 16 || (text.length > 1 && text.startsWith('0'))) return -1;
  for (let at = 0; at < text.length; at++) {
    if (!isDigit(text.charCodeAt(at))) return -1;
  }
  const length = Number(text);
  return Number.isSafeInteger(length) ? length : -1;
}
