/**
 * The first line of a message: request line (RFC 9112, section 3) and status line (section 4). Decides what is
 * legal in it, also while it is still coming, so that garbage is refused at its first impossible byte.
 * Knows nothing of fields and nothing of what a target means.
 */
import type { HeadFault } from './message.js';
import { malformed } from './message.js';
import { CR, HASH, LF, SP, TARGET, TOKEN, VALUE, isDigit } from './octets.js';
import type { ToleranceName } from './tolerances.js';

/** The longest registered method has 17 letters; a longer run of letters is no request. */
const MAX_METHOD = 64;
const VERSION_LENGTH = 'HTTP/1.1'.length;

export interface RequestLine {
  readonly method: string;
  readonly target: string;
  readonly minor: 0 | 1;
}

export interface StatusLine {
  readonly status: number;
  readonly reason: string;
  readonly minor: 0 | 1;
}

const badMethod = malformed('the request line does not begin with a method');
const badTarget = malformed('a character in the target that may not stand there');
const emptyTarget = malformed('more than one space after the method, or no target');
const fragment = malformed('a fragment in the target');
const badVersion = malformed('the request line does not end with a version of HTTP');
const otherVersion: HeadFault = {
  kind: 'unsupported_version',
  detail: 'only HTTP/1.0 and HTTP/1.1 are spoken',
};

/** Parses the request line `text[0, end)`, without its line end. */
export function parseRequestLine(text: string, end: number): RequestLine | HeadFault {
  let at = 0;
  while (at < end && TOKEN[text.charCodeAt(at)]) at++;
  if (at === 0 || at > MAX_METHOD || text.charCodeAt(at) !== SP) return badMethod;
  const method = text.slice(0, at);
  const targetStart = ++at;
  while (at < end && TARGET[text.charCodeAt(at)]) at++;
  if (at === targetStart) return text.charCodeAt(at) === HASH ? fragment : emptyTarget;
  if (at === end) return badVersion;
  if (text.charCodeAt(at) !== SP) return text.charCodeAt(at) === HASH ? fragment : badTarget;
  const target = text.slice(targetStart, at);
  const minor = minorVersion(text, at + 1, end);
  return typeof minor === 'number' ? { method, target, minor } : minor;
}

function minorVersion(text: string, from: number, end: number): 0 | 1 | HeadFault {
  if (end - from !== VERSION_LENGTH || !text.startsWith('HTTP/', from) || text.charAt(from + 6) !== '.') {
    return badVersion;
  }
  const major = text.charAt(from + 5);
  const minor = text.charAt(from + 7);
  if (major === '1' && minor === '1') return 1;
  if (major === '1' && minor === '0') return 0;
  return isDigit(text.charCodeAt(from + 5)) && isDigit(text.charCodeAt(from + 7)) ? otherVersion : badVersion;
}

/** Looks at the bytes of a request line while it is not whole. */
export class RequestLineWatch {
  private part: 'method' | 'target' | 'version' = 'method';
  private length = 0;

  /** Takes further bytes, none of them after the first LF. Returns a fault if no request line can begin so. */
  feed(bytes: Buffer): HeadFault | null {
    for (const octet of bytes) {
      const fault = this.take(octet);
      if (fault !== null) return fault;
    }
    return null;
  }

  private take(octet: number): HeadFault | null {
    if (octet === SP && this.part !== 'version') return this.nextPart();
    this.length++;
    if (this.part === 'method') return TOKEN[octet] && this.length <= MAX_METHOD ? null : badMethod;
    if (this.part === 'version')
      return this.length <= VERSION_LENGTH + 2 ? this.takeVersion(octet) : badVersion;
    if (TARGET[octet]) return null;
    if (octet === HASH) return fragment;
    return octet === CR || octet === LF ? badVersion : badTarget;
  }

  private nextPart(): HeadFault | null {
    if (this.length === 0) return this.part === 'method' ? badMethod : emptyTarget;
    this.part = this.part === 'method' ? 'target' : 'version';
    this.length = 0;
    return null;
  }

  private takeVersion(octet: number): HeadFault | null {
    const index = this.length - 1;
    if (index < 5) return octet === 'HTTP/'.charCodeAt(index) ? null : badVersion;
    if (index === 6) return octet === 0x2e ? null : badVersion;
    if (index < VERSION_LENGTH) return isDigit(octet) ? null : badVersion;
    return octet === (index === VERSION_LENGTH ? CR : LF) ? null : badVersion;
  }
}

const badStatusLine = malformed('the answer does not begin with a status line of HTTP/1');
const tlsAnswer = malformed('the answer is TLS, not HTTP');
const badStatus = malformed('the status is no number from 100 to 999');
const STATUS_LINE_START = 'HTTP/1.';

/** Parses the status line `text[0, end)`; tells `note` what had to be tolerated. */
export function parseStatusLine(
  text: string,
  end: number,
  note: (name: ToleranceName) => void,
): StatusLine | HeadFault {
  if (!text.startsWith('HTTP/') || end < 9 || text.charCodeAt(8) !== SP) return badStatusLine;
  if (!text.startsWith(STATUS_LINE_START)) {
    return isDigit(text.charCodeAt(5)) && text.charAt(6) === '.' ? otherVersion : badStatusLine;
  }
  const digit = text.charCodeAt(7);
  if (!isDigit(digit)) return badStatusLine;
  if (digit > 0x31) note('later_minor_version');
  const minor = digit === 0x30 ? 0 : 1;
  const status = threeDigits(text, 9);
  if (status < 100 || end < 12 || (end > 12 && text.charCodeAt(12) !== SP)) return badStatus;
  if (status > 599) note('odd_status');
  if (end === 12) note('missing_reason');
  for (let at = 13; at < end; at++) {
    if (VALUE[text.charCodeAt(at)]) continue;
    note('control_byte');
    return { status, reason: '', minor };
  }
  return { status, reason: text.slice(13, end), minor };
}

/** The number that three digits make, or -1. */
function threeDigits(text: string, at: number): number {
  const a = text.charCodeAt(at);
  const b = text.charCodeAt(at + 1);
  const c = text.charCodeAt(at + 2);
  return isDigit(a) && isDigit(b) && isDigit(c) ? (a - 0x30) * 100 + (b - 0x30) * 10 + (c - 0x30) : -1;
}

/** The first octet of a TLS alert or handshake record. */
const looksLikeTls = (octet: number): boolean => octet === 0x15 || octet === 0x16;

/** Looks at the first bytes of a status line while it is not whole. */
export class StatusLineWatch {
  private length = 0;

  /** As {@link RequestLineWatch.feed}. */
  feed(bytes: Buffer): HeadFault | null {
    for (const octet of bytes) {
      if (this.length === 5) return null;
      if (octet !== 'HTTP/'.charCodeAt(this.length)) return looksLikeTls(octet) ? tlsAnswer : badStatusLine;
      this.length++;
    }
    return null;
  }
}
