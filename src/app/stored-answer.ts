/**
 * Answers as files, for the rule lab:
 *
 *     HTTP/1.1 200 OK
 *     Content-Type: text/html
 *     X-Turnpike-Captured-Url: http://shop.example/p/1
 *
 *     <html>…
 *
 * The body is everything behind the blank line, as it came but not chunked. Fields that begin with
 * `X-Turnpike-Captured-` say where it came from and are no part of the answer. A `.html` or `.json` file is a body
 * alone; a file of the same name with `.head` behind it has its head.
 */
import { Fields } from '../http1/fields.js';

/** What is known of a stored answer. */
export interface StoredAnswer {
  readonly status: number;
  readonly fields: Fields;
  readonly body: Buffer;
  /** Host that it came from; empty where that is not told. */
  readonly host: string;
  readonly path: string;
  readonly firstByteMs: number;
  /** False where the body was cut when it was stored. */
  readonly isWhole: boolean;
  /** Length of the whole body as it came; null where it is not known. */
  readonly length: number | null;
  /** What the site usually sends and takes, as known then. */
  readonly usual: { readonly size: number | null; readonly firstByteMs: number | null };
}

/** Beginning of our fields, in lower case. */
export const CAPTURED = 'x-turnpike-captured-';

const STATUS_LINE = /^HTTP\/[0-9.]+ ([1-9][0-9]{2})(?: .*)?$/;

/** Reads a stored answer; null where it doesn't begin with a status line. */
export function readStoredAnswer(bytes: Buffer): StoredAnswer | null {
  const end = endOfHead(bytes);
  const lines = bytes.subarray(0, end.at).toString('latin1').split(/\r?\n/);
  const status = STATUS_LINE.exec(lines[0] ?? '')?.[1];
  if (status === undefined) return null;
  const all = fieldsOf(lines.slice(1));
  const told = (name: string): string | null => all.get(`${CAPTURED}${name}`) ?? null;
  const number = (name: string): number | null => {
    const value = Number(told(name) ?? NaN);
    return Number.isFinite(value) ? value : null;
  };
  const url = told('url');
  const at = url !== null && URL.canParse(url) ? new URL(url) : null;
  const body = bytes.subarray(end.at + end.length);
  const isWhole = told('whole') !== 'no';
  return {
    status: Number(status),
    fields: all.without((name) => name.startsWith(CAPTURED)),
    body,
    host: at?.hostname ?? '',
    path: at?.pathname ?? '/',
    firstByteMs: number('first-byte-ms') ?? 0,
    isWhole,
    length: number('length') ?? (isWhole ? body.length : null),
    usual: { size: number('usual-size'), firstByteMs: number('usual-first-byte-ms') },
  };
}

/** A body alone, with the head that a sidecar gives or its name lets guess. */
export function withHead(name: string, body: Buffer, head: Buffer | null): Buffer {
  const type = name.endsWith('.json') ? 'application/json' : 'text/html';
  const text = head?.toString('latin1').trimEnd() ?? `HTTP/1.1 200 OK\r\nContent-Type: ${type}`;
  return Buffer.concat([Buffer.from(`${text}\r\n\r\n`, 'latin1'), body]);
}

function endOfHead(bytes: Buffer): { at: number; length: number } {
  const crlf = bytes.indexOf('\r\n\r\n');
  const lf = bytes.indexOf('\n\n');
  if (crlf >= 0 && (lf < 0 || crlf < lf)) return { at: crlf, length: 4 };
  return lf >= 0 ? { at: lf, length: 2 } : { at: bytes.length, length: 0 };
}

function fieldsOf(lines: readonly string[]): Fields {
  const fields = Fields.empty();
  for (const line of lines) {
    const found = /^([A-Za-z0-9!#$%&'*+.^_`|~-]+)[ \t]*:[ \t]*(.*?)[ \t]*$/.exec(line);
    if (found !== null) fields.append(found[1] ?? '', found[2] ?? '');
  }
  return fields;
}
