/**
 * Bytes into heads and heads into bytes (RFC 9112, sections 2 to 5). Decides where a head ends and whether it is
 * one; strict towards clients, tolerant as `tolerances.ts` says towards targets. Knows nothing of sockets, of
 * time, of where a target leads, nor of how long a body is (`body.ts`).
 */
import { FAULT, FieldLines } from './field-lines.js';
import type { Fields } from './fields.js';
import { HeldBytes } from './held-bytes.js';
import { checkRequestFields, mendLength } from './head-fields.js';
import type { HeadFault, HeadLimits, HeadStep, RequestHead, ResponseHead } from './message.js';
import { malformed, tooLarge } from './message.js';
import { CR, LF, asFieldValue, asTarget, isToken } from './octets.js';
import type { RequestLine, StatusLine } from './start-lines.js';
import { RequestLineWatch, StatusLineWatch, parseRequestLine, parseStatusLine } from './start-lines.js';

export type { HeadFault, HeadFaultKind, HeadLimits, HeadStep, RequestHead, ResponseHead } from './message.js';

/** Empty lines that may come before a request: each CR and LF counts (RFC 9112, section 2.2). */
const MAX_LEADING_BYTES = 8;
/** Bytes of line ends before an answer, as many as browsers skip. */
const MAX_LEADING_LINE_ENDS = 4;
const TLS_HANDSHAKE = 0x16;
const NOTHING = Buffer.alloc(0);
const MORE_STEP = { kind: 'more' } as const;

/** What both readers do: find whole lines, hold unfinished ones, keep to the limits. */
abstract class HeadReader<H extends object> {
  private readonly held = new HeldBytes();
  /** Bytes of the head taken so far, held ones included. */
  private taken = 0;
  private fault: HeadFault | null = null;
  protected lines: FieldLines;

  constructor(
    private readonly limits: HeadLimits,
    private readonly tolerant: boolean,
  ) {
    this.lines = new FieldLines(limits.fieldCount, tolerant);
  }

  /** Parses the start line `text[0, end)`. */
  protected abstract takeStartLine(text: string, end: number): HeadFault | null;
  protected abstract get hasStartLine(): boolean;
  /** Looks at further bytes of an unfinished start line. */
  protected abstract watchStartLine(bytes: Buffer): HeadFault | null;
  /** The head, when its blank line has come. */
  protected abstract finish(): H | HeadFault;
  /** Forgets the start line. */
  protected abstract restart(): void;
  /** The bytes without what may come before a head. */
  protected abstract withoutPrelude(chunk: Buffer): Buffer | HeadFault;

  /** Whether a byte of a head has come; empty lines before it are none. */
  get started(): boolean {
    return this.taken > 0 || this.fault !== null;
  }

  /** Makes the reader ready for the next head. */
  reset(): void {
    this.held.clear();
    this.taken = 0;
    this.fault = null;
    this.lines = new FieldLines(this.limits.fieldCount, this.tolerant);
    this.restart();
  }

  /**
   * Takes the next bytes. They are lent: what must outlive the call is copied, and `rest` is a view into `chunk`.
   * After a head the reader is ready for the next one; after a fault it repeats the fault until {@link reset}.
   */
  push(chunk: Buffer): HeadStep<H> {
    if (this.fault !== null) return { kind: 'fault', fault: this.fault };
    if (this.taken > 0) return this.pushPart(chunk);
    const bytes = this.withoutPrelude(chunk);
    if ('kind' in bytes) return this.refuse(bytes);
    if (bytes.length === 0) return MORE_STEP;
    const blankLine = bytes.indexOf('\r\n\r\n', 0, 'latin1');
    if (blankLine < 0 || blankLine + 4 > this.limits.headBytes) return this.pushPart(bytes);
    const end = this.takeLines(bytes.toString('latin1', 0, blankLine + 4));
    return end >= 0 ? this.complete(bytes.subarray(end)) : this.refuse(this.lines.fault);
  }

  /** Takes bytes that don't hold a whole head, or of which some came before. */
  private pushPart(bytes: Buffer): HeadStep<H> {
    const room = this.limits.headBytes - this.taken;
    const part = bytes.length > room ? bytes.subarray(0, room) : bytes;
    this.taken += part.length;
    const linesEnd = part.lastIndexOf(LF) + 1;
    if (linesEnd > 0) {
      const before = this.held.length;
      const end = this.takeLines(this.held.release() + part.toString('latin1', 0, linesEnd));
      if (end >= 0) return this.complete(bytes.subarray(end - before));
      if (end === FAULT) return this.refuse(this.lines.fault);
    }
    const unfinished = part.subarray(linesEnd);
    const fault = this.hasStartLine ? null : this.watchStartLine(unfinished);
    if (fault !== null) return this.refuse(fault);
    if (this.taken >= this.limits.headBytes) return this.refuse(this.overLimit());
    this.held.append(unfinished);
    return MORE_STEP;
  }

  /** Takes whole lines; returns as {@link FieldLines.read}. */
  private takeLines(text: string): number {
    if (this.hasStartLine) return this.lines.read(text, 0);
    const lf = text.indexOf('\n');
    const hasCr = lf > 0 && text.charCodeAt(lf - 1) === CR;
    if (!hasCr && !this.tolerant) return this.lines.fail(malformed('a line ends with LF alone'));
    if (!hasCr) this.lines.note('lf_line_end');
    const fault = this.takeStartLine(text, hasCr ? lf - 1 : lf);
    return fault === null ? this.lines.read(text, lf + 1) : this.lines.fail(fault);
  }

  private complete(rest: Buffer): HeadStep<H> {
    const head = this.finish();
    if (isFault(head)) return this.refuse(head);
    this.reset();
    return { kind: 'head', head, rest };
  }

  private refuse(fault: HeadFault | null): HeadStep<H> {
    this.fault = fault ?? malformed('a head that is none');
    this.held.clear();
    return { kind: 'fault', fault: this.fault };
  }

  private overLimit(): HeadFault {
    return tooLarge(`more than ${this.limits.headBytes} bytes`);
  }
}

function isFault(value: object): value is HeadFault {
  return 'kind' in value;
}

/** Reads requests, strictly (RFC 9112, sections 2.2, 3 and 5). */
export class RequestHeadReader extends HeadReader<RequestHead> {
  private line: RequestLine | null = null;
  private watch: RequestLineWatch | null = null;
  private leading = 0;

  constructor(limits: HeadLimits) {
    super(limits, false);
  }

  protected override get hasStartLine(): boolean {
    return this.line !== null;
  }

  protected override takeStartLine(text: string, end: number): HeadFault | null {
    const line = parseRequestLine(text, end);
    if (isFault(line)) return line;
    this.line = line;
    return null;
  }

  protected override watchStartLine(bytes: Buffer): HeadFault | null {
    this.watch ??= new RequestLineWatch();
    return this.watch.feed(bytes);
  }

  protected override finish(): RequestHead | HeadFault {
    const { method, target, minor } = this.line as RequestLine;
    const { fields } = this.lines;
    return checkRequestFields(method, minor, fields) ?? { method, target, minor, fields };
  }

  protected override restart(): void {
    this.line = null;
    this.watch = null;
    this.leading = 0;
  }

  /** Skips a few empty lines and tells a TLS peer by its first byte. */
  protected override withoutPrelude(chunk: Buffer): Buffer | HeadFault {
    let at = 0;
    for (; at < chunk.length; at++) {
      const expected = this.leading % 2 === 0 ? CR : LF;
      if (chunk[at] !== expected) break;
      if (++this.leading > MAX_LEADING_BYTES) return malformed('too many empty lines before a request');
    }
    if (at === chunk.length) return NOTHING;
    if (this.leading % 2 === 1) return malformed('a CR without LF before a request');
    if (chunk[at] === TLS_HANDSHAKE) return tlsHello;
    return at === 0 ? chunk : chunk.subarray(at);
  }
}

const tlsHello: HeadFault = { kind: 'tls_hello', detail: 'the peer speaks TLS and this port does not' };

/** Reads responses, tolerating what `tolerances.ts` lists (RFC 9112, sections 4 and 5). */
export class ResponseHeadReader extends HeadReader<ResponseHead> {
  private line: StatusLine | null = null;
  private watch: StatusLineWatch | null = null;
  private leading = 0;

  constructor(limits: HeadLimits) {
    super(limits, true);
  }

  protected override get hasStartLine(): boolean {
    return this.line !== null;
  }

  protected override takeStartLine(text: string, end: number): HeadFault | null {
    const line = parseStatusLine(text, end, (name) => this.lines.note(name));
    if (isFault(line)) return line;
    this.line = line;
    return null;
  }

  protected override watchStartLine(bytes: Buffer): HeadFault | null {
    this.watch ??= new StatusLineWatch();
    return this.watch.feed(bytes);
  }

  protected override finish(): ResponseHead {
    const { status, reason, minor } = this.line as StatusLine;
    const { fields } = this.lines;
    for (const name of mendLength(fields)) this.lines.note(name);
    return { status, reason, minor, fields, tolerated: this.lines.tolerated };
  }

  protected override restart(): void {
    this.line = null;
    this.watch = null;
    this.leading = 0;
  }

  /** Skips a few line ends. */
  protected override withoutPrelude(chunk: Buffer): Buffer | HeadFault {
    let at = 0;
    for (; chunk[at] === CR || chunk[at] === LF; at++) {
      if (++this.leading > MAX_LEADING_LINE_ENDS) return malformed('empty lines before an answer');
    }
    if (this.leading > 0 && at < chunk.length) this.lines.note('empty_line_before');
    return at === 0 ? chunk : chunk.subarray(at);
  }
}

/**
 * A request head as it goes on the wire, latin1 text with its blank line (RFC 9112, section 3). No part can break
 * out of its line: in a target, what may not stand there is percent-encoded. A method that is no token throws.
 */
export function serializeRequestHead(head: RequestHead): string {
  if (!isToken(head.method)) throw new TypeError('a method must be a token');
  return `${head.method} ${asTarget(head.target)} HTTP/1.${head.minor}\r\n${head.fields.toWire()}\r\n`;
}

/** A response head as it goes on the wire; `minor` is what we speak unless told otherwise (RFC 9112, section 4). */
export function serializeResponseHead(head: {
  readonly status: number;
  readonly reason: string;
  readonly minor?: 0 | 1;
  readonly fields: Fields;
}): string {
  const { status, reason, minor = 1, fields } = head;
  return `HTTP/1.${minor} ${status} ${asFieldValue(reason)}\r\n${fields.toWire()}\r\n`;
}

/** The value of Host, or undefined where none was sent. */
export function hostFieldOf(head: RequestHead): string | undefined {
  return head.fields.get('host');
}
