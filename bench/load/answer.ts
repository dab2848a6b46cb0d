/**
 * Reads one answer at a time from the bytes of a connection and checks it against what was asked:
 * status 200, exact Content-Length, the id of this request, every byte of the body. No sockets here.
 */
import { matchesPattern } from '../support/wire.js';

export type Progress =
  { kind: 'more' } | { kind: 'done'; closes: boolean } | { kind: 'fault'; reason: string };

const MORE: Progress = { kind: 'more' };
const DONE: Progress = { kind: 'done', closes: false };
const DONE_AND_CLOSES: Progress = { kind: 'done', closes: true };
const END_OF_HEAD = Buffer.from('\r\n\r\n');

/** Checks answers of exactly `size` bytes of pattern. */
export class AnswerReader {
  readonly #size: number;
  #id = '';
  #head: Buffer | undefined;
  #seen = -1;
  #closes = false;

  constructor(size: number) {
    this.#size = size;
  }

  /** The next bytes answer the request with this id. */
  expect(id: string): void {
    this.#id = id;
    this.#head = undefined;
    this.#seen = -1;
  }

  /** Takes bytes, which may be overwritten after the call. */
  push(bytes: Buffer): Progress {
    if (this.#seen >= 0) return this.#pushBody(bytes);
    const held = this.#head === undefined ? bytes : Buffer.concat([this.#head, bytes]);
    const end = held.indexOf(END_OF_HEAD);
    if (end < 0) {
      this.#head = Buffer.from(held);
      return MORE;
    }
    const reason = this.#faultOfHead(held.toString('latin1', 0, end + 2));
    if (reason !== undefined) return { kind: 'fault', reason };
    this.#seen = 0;
    return this.#pushBody(held.subarray(end + 4));
  }

  #faultOfHead(head: string): string | undefined {
    if (!/^HTTP\/1\.1 200 /.test(head)) return `answered ${head.slice(0, head.indexOf('\r\n'))}`;
    const length = /\r\ncontent-length: *(\d+) *\r\n/i.exec(head)?.[1];
    if (Number(length) !== this.#size)
      return `Content-Length ${length ?? 'missing'} instead of ${this.#size}`;
    const id = /\r\nx-bench-id: *(\S+) *\r\n/i.exec(head)?.[1];
    if (id !== this.#id) return `the answer to ${id ?? 'nobody'} came for ${this.#id}`;
    this.#closes = /\r\n(proxy-)?connection: *close\r\n/i.test(head);
    return undefined;
  }

  #pushBody(bytes: Buffer): Progress {
    if (this.#seen + bytes.length > this.#size)
      return { kind: 'fault', reason: 'bytes after the end of the answer' };
    if (!matchesPattern(bytes, this.#seen))
      return { kind: 'fault', reason: `wrong bytes after ${this.#seen} of the body` };
    this.#seen += bytes.length;
    if (this.#seen < this.#size) return MORE;
    return this.#closes ? DONE_AND_CLOSES : DONE;
  }
}
