/**
 * A second reader of HTTP/1.1, as referee: whole buffers in, one message or a reason out. Written from RFC 9112 with
 * patterns and not from src/http1/, so that both can't share a mistake. It knows no tolerance and no speed.
 */

/** A message as it stood on the wire, its body decoded. */
export interface StrictMessage {
  readonly line: string;
  /** As written, in order. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** What stands at a place: a whole message, the beginning of one, or none. */
export type StrictStep =
  | { readonly kind: 'message'; readonly message: StrictMessage; readonly end: number }
  | { readonly kind: 'cut' }
  | { readonly kind: 'bad'; readonly why: string };

interface Head {
  readonly line: string;
  readonly fields: [string, string][];
  readonly end: number;
}

const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";
const REQUEST_LINE = new RegExp(`^(${TOKEN}) ([\\x21\\x22\\x24-\\x7e\\x80-\\xff]+) HTTP/1\\.([01])$`);
const STATUS_LINE = /^HTTP\/1\.[01] ([1-9][0-9]{2}) [\t\x20-\x7e\x80-\xff]*$/;
const FIELD = new RegExp(`^(${TOKEN}):[ \\t]*([\\t\\x20-\\x7e\\x80-\\xff]*)$`);
const EXTENSION = `;${TOKEN}(?:=(?:${TOKEN}|"(?:[\\t\\x20\\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t\\x20-\\x7e\\x80-\\xff])*"))?`;
const CHUNK_LINE = new RegExp(`^([0-9a-fA-F]{1,16})((?:${EXTENSION})*)$`);
const LENGTH = /^(?:0|[1-9][0-9]{0,15})$/;

const cut: StrictStep = { kind: 'cut' };
const bad = (why: string): StrictStep => ({ kind: 'bad', why });
const isStep = (value: object): value is StrictStep => 'kind' in value;

/** All values of a field. */
export function valuesOf(message: Pick<StrictMessage, 'fields'>, lowerName: string): string[] {
  return message.fields.filter(([name]) => name.toLowerCase() === lowerName).map(([, value]) => value);
}

/** The members of a list field, in lower case. */
export function membersOf(message: Pick<StrictMessage, 'fields'>, lowerName: string): string[] {
  const members = valuesOf(message, lowerName).flatMap((value) => value.split(','));
  return members.map((member) => member.replace(/^[ \t]+|[ \t]+$/g, '').toLowerCase()).filter(Boolean);
}

/** Method, target and minor version. */
export function partsOf({
  line,
}: Pick<StrictMessage, 'line'>): [method: string, target: string, minor: string] {
  const [, method = '', target = '', minor = ''] = REQUEST_LINE.exec(line) ?? [];
  return [method, target, minor];
}

/** The status of an answer. */
export function statusOf({ line }: Pick<StrictMessage, 'line'>): number {
  return Number(STATUS_LINE.exec(line)?.[1] ?? NaN);
}

/** Reads the request that begins at `from`. */
export function readRequest(text: string, from: number): StrictStep {
  const head = readHead(text, from);
  if (isStep(head)) return head;
  if (!REQUEST_LINE.test(head.line)) return bad('no request line');
  const [method, , minor] = partsOf(head);
  const hosts = valuesOf(head, 'host');
  if (hosts.length > 1) return bad('two Hosts');
  if (hosts.length === 0 && minor === '1' && method !== 'CONNECT') return bad('no Host');
  const framing = framingOf(head);
  if (typeof framing === 'string') return bad(framing);
  if (framing.isChunked && minor === '0') return bad('chunks in HTTP/1.0');
  if (method === 'CONNECT' && (framing.isChunked || (framing.length ?? 0) > 0))
    return bad('a CONNECT with a body');
  return withBody(text, head, framing.isChunked ? 'chunked' : (framing.length ?? 0));
}

/** Reads the answer at `from` to a request of this method; `isClosed`: nothing comes behind the text. */
export function readAnswer(text: string, from: number, method: string, isClosed: boolean): StrictStep {
  const head = readHead(text, from);
  if (isStep(head)) return head;
  if (!STATUS_LINE.test(head.line)) return bad('no status line');
  const status = statusOf(head);
  const framing = framingOf(head);
  if (typeof framing === 'string') return bad(framing);
  const isInterim = status < 200;
  if ((isInterim || status === 204) && (framing.isChunked || framing.length !== null))
    return bad(`a ${status} with a body`);
  const isTunnel = method === 'CONNECT' && status < 300;
  if (isInterim || isTunnel || method === 'HEAD' || status === 204 || status === 304)
    return withBody(text, head, 0);
  if (framing.isChunked) return withBody(text, head, 'chunked');
  if (framing.length !== null) return withBody(text, head, framing.length);
  return isClosed ? withBody(text, head, text.length - head.end) : cut;
}

/** Lines up to the blank one, each ending in CR LF with neither inside. */
function readHead(text: string, from: number): Head | StrictStep {
  const lines: string[] = [];
  for (let at = from; ;) {
    const lf = text.indexOf('\n', at);
    if (lf < 0) return cut;
    if (text[lf - 1] !== '\r' || lf === at) return bad('an LF alone');
    const line = text.slice(at, lf - 1);
    at = lf + 1;
    if (line === '' && lines.length > 0) return headOf(lines, at);
    if (line.includes('\r')) return bad('a CR alone');
    lines.push(line);
  }
}

function headOf([line = '', ...rest]: string[], end: number): Head | StrictStep {
  const fields: [string, string][] = [];
  for (const each of rest) {
    const [, name, value] = FIELD.exec(each) ?? [];
    if (name === undefined || value === undefined) return bad('a line that is no field');
    fields.push([name, value.replace(/[ \t]+$/, '')]);
  }
  return { line, fields, end };
}

function framingOf(head: Head): { isChunked: boolean; length: number | null } | string {
  const codings = valuesOf(head, 'transfer-encoding');
  const lengths = valuesOf(head, 'content-length');
  if (codings.length > 0 && lengths.length > 0) return 'a length beside a coding';
  if (codings.length > 1 || lengths.length > 1) return 'framed twice';
  if (codings.length === 1)
    return codings[0]?.toLowerCase() === 'chunked' ? { isChunked: true, length: null } : 'a coding';
  const [length] = lengths;
  if (length === undefined) return { isChunked: false, length: null };
  const value = LENGTH.test(length) ? Number(length) : NaN;
  return Number.isSafeInteger(value) ? { isChunked: false, length: value } : 'a bad length';
}

function withBody(text: string, { line, fields, end }: Head, length: number | 'chunked'): StrictStep {
  if (length === 'chunked') return withChunks(text, { line, fields, end });
  if (text.length < end + length) return cut;
  const message = { line, fields, body: text.slice(end, end + length) };
  return { kind: 'message', message, end: end + length };
}

function withChunks(text: string, { line, fields, end }: Head): StrictStep {
  let body = '';
  for (let at = end; ;) {
    const lf = text.indexOf('\n', at);
    if (lf < 0) return cut;
    const size = CHUNK_LINE.exec(text.slice(at, lf - 1))?.[1];
    if (size === undefined || text[lf - 1] !== '\r') return bad('a bad chunk size');
    const length = Number.parseInt(size, 16);
    at = lf + 1;
    if (length === 0) return endOfChunks(text, at, { line, fields, body });
    body += text.slice(at, at + length);
    at += length;
    if (text.length < at + 2) return !'\r\n'.startsWith(text.slice(at)) ? bad('no end of a chunk') : cut;
    if (text.slice(at, at + 2) !== '\r\n') return bad('no end of a chunk');
    at += 2;
  }
}

function endOfChunks(text: string, at: number, message: StrictMessage): StrictStep {
  if (text.startsWith('\r\n', at)) return { kind: 'message', message, end: at + 2 };
  // A section of trailers looks like a head without its first line.
  const trailers = readHead(`X\r\n${text.slice(at)}`, 0);
  if (isStep(trailers)) return trailers;
  const framing = ['content-length', 'transfer-encoding'].some((name) => valuesOf(trailers, name).length > 0);
  return framing ? bad('a trailer about framing') : { kind: 'message', message, end: at + trailers.end - 3 };
}
