/** Random messages: good ones as values and as bytes, and good ones spoiled. */
import fc from 'fast-check';
import { encodeChunkHead } from '../../src/http1/body.js';

export interface Message {
  readonly startLine: string;
  readonly pairs: readonly (readonly [string, string])[];
  readonly body: string;
  /** The whole message as it goes on the wire. */
  readonly wire: string;
}

const charactersOf = (text: string) => fc.constantFrom(...text);
const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const fieldName = fc.string({
  unit: charactersOf(`${letters}0123456789-_!#$%&'*+.^\`|~`),
  minLength: 1,
  maxLength: 14,
});
const latin1 = fc.integer({ min: 0x20, max: 0xff }).filter((octet) => octet !== 0x7f);
const valueText = fc
  .array(latin1, { maxLength: 20 })
  .map((octets) => octets.map((octet) => String.fromCharCode(octet)).join(''))
  .map((text) => text.replace(/^[ \t]+|[ \t]+$/g, ''));
const special = /^(host|connection|content-length|transfer-encoding|upgrade|proxy-connection)$/i;
const otherFields = fc.array(
  fc.tuple(
    fieldName.filter((name) => !special.test(name)),
    valueText,
  ),
  { maxLength: 6 },
);
const binary = fc
  .array(fc.integer({ min: 0, max: 255 }), { maxLength: 60 })
  .map((octets) => octets.map((octet) => String.fromCharCode(octet)).join(''));

const target = fc
  .array(fc.integer({ min: 0x21, max: 0xff }), { maxLength: 20 })
  .map((octets) => octets.filter((octet) => octet !== 0x7f && octet !== 0x23))
  .map((octets) => `/${octets.map((octet) => String.fromCharCode(octet)).join('')}`);
const methodName = fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH');
const reasonText = fc.constantFrom('', 'OK', 'Not  Found', 'Sch\xf6n', 'a\tb');
const framingKind = fc.constantFrom('none', 'length', 'chunked');

function inChunks(body: string, size: number): string {
  let wire = '';
  for (let at = 0; at < body.length; at += size) {
    const data = body.slice(at, at + size);
    wire += `${encodeChunkHead(data.length)}${data}\r\n`;
  }
  return `${wire}0\r\n\r\n`;
}

interface Parts {
  readonly startLine: string;
  readonly required: readonly (readonly [string, string])[];
  readonly fields: readonly (readonly [string, string])[];
  readonly framing: string;
  readonly body: string;
  readonly chunkSize: number;
}

function assemble(parts: Parts): Message {
  const { startLine, framing, chunkSize } = parts;
  const body = framing === 'none' ? '' : parts.body;
  const framed: [string, string][] =
    framing === 'length' ? [['Content-Length', String(body.length)]] : [['Transfer-Encoding', 'chunked']];
  const pairs = [...parts.required, ...parts.fields, ...(framing === 'none' ? [] : framed)];
  const lines = pairs.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const payload = framing === 'chunked' ? inChunks(body, chunkSize) : body;
  return { startLine, pairs, body, wire: `${startLine}\r\n${lines}\r\n${payload}` };
}

const shared = {
  fields: otherFields,
  framing: framingKind,
  body: binary,
  chunkSize: fc.integer({ min: 1, max: 30 }),
};

/** Requests that every strict reader must take. */
export const goodRequests = fc
  .record({ ...shared, method: methodName, target })
  .map(({ method, target: path, ...rest }) =>
    assemble({ ...rest, startLine: `${method} ${path} HTTP/1.1`, required: [['Host', 'a.test']] }),
  );

/** Answers that need no tolerance. */
export const goodResponses = fc
  .record({ ...shared, status: fc.integer({ min: 200, max: 599 }), reason: reasonText })
  .filter(({ status }) => status !== 204 && status !== 304)
  .map(({ status, reason, ...rest }) =>
    assemble({ ...rest, startLine: `HTTP/1.1 ${status} ${reason}`, required: [] }),
  );

const spoilers = fc.constantFrom(
  ...[
    '\0',
    '\t',
    '\n',
    '\r',
    '\r\n',
    '\r\n\r\n',
    ' ',
    ':',
    ';',
    ',',
    '#',
    '"',
    '0',
    '1',
    'f',
    '+',
    '-',
    '\x7f',
    '\x80',
  ],
  ...[
    '\r\n ',
    'Content-Length: 1\r\n',
    'Transfer-Encoding: chunked\r\n',
    'Host: b\r\n',
    '0\r\n\r\n',
    'HTTP/1.1',
  ],
);

const spoiling = fc.record({
  kind: fc.constantFrom('insert', 'replace', 'remove', 'repeat', 'swap_case'),
  at: fc.nat({ max: 400 }),
  length: fc.integer({ min: 1, max: 12 }),
  text: spoilers,
});

function spoil(wire: string, how: { kind: string; at: number; length: number; text: string }): string {
  const at = wire.length === 0 ? 0 : how.at % wire.length;
  const before = wire.slice(0, at);
  const part = wire.slice(at, at + how.length);
  const after = wire.slice(at + how.length);
  if (how.kind === 'insert') return before + how.text + part + after;
  if (how.kind === 'replace') return before + how.text + after;
  if (how.kind === 'remove') return before + after;
  if (how.kind === 'repeat') return before + part + part + after;
  const swapped = part === part.toUpperCase() ? part.toLowerCase() : part.toUpperCase();
  return before + (swapped.length === part.length ? swapped : part) + after;
}

/** Good messages with one to three things done to their bytes. */
export const spoiled = (messages: fc.Arbitrary<Message>): fc.Arbitrary<string> =>
  fc
    .tuple(messages, fc.array(spoiling, { minLength: 1, maxLength: 3 }))
    .map(([message, ways]) => ways.reduce(spoil, message.wire));
