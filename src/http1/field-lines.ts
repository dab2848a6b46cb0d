/**
 * Field lines into fields (RFC 9112, section 5): of heads and of trailer sections, strict for what clients send,
 * tolerant for what targets send. Decides which lines are legal; knows nothing of what a field means, except
 * that a line about framing is never silently dropped.
 */
import { Fields } from './fields.js';
import type { HeadFault } from './message.js';
import { malformed, tooLarge } from './message.js';
import { COLON, CR, TOKEN, VALUE, dropBlanks, isBlank, skipBlanks } from './octets.js';
import type { ToleranceName } from './tolerances.js';

/** {@link FieldLines.read}: all lines were taken, the blank line has not come. */
export const MORE = -1;
/** {@link FieldLines.read}: see {@link FieldLines.fault}. */
export const FAULT = -2;

const framesBody = (lowerName: string): boolean =>
  lowerName === 'content-length' || lowerName === 'transfer-encoding';

/** Reads the field lines of one section. */
export class FieldLines {
  readonly fields = Fields.empty();
  fault: HeadFault | null = null;
  private lineCount = 0;
  private lastLineDropped = true;
  private readonly notes: ToleranceName[] = [];

  constructor(
    private readonly maxLines: number,
    private readonly tolerant: boolean,
  ) {}

  /** The tolerances that were used, each once. */
  get tolerated(): readonly ToleranceName[] {
    return this.notes;
  }

  note(name: ToleranceName): void {
    if (!this.notes.includes(name)) this.notes.push(name);
  }

  /**
   * Takes whole lines from index `from` on; `text` ends with a line end.
   * Returns the index after the blank line, or {@link MORE}, or {@link FAULT}.
   */
  read(text: string, from: number): number {
    let at = from;
    while (at < text.length) {
      const lf = text.indexOf('\n', at);
      let end = lf;
      if (lf > at && text.charCodeAt(lf - 1) === CR) end--;
      else if (!this.tolerant) return this.fail(malformed('a line ends with LF alone'));
      else this.note('lf_line_end');
      if (end === at) return lf + 1;
      if (++this.lineCount > this.maxLines) return this.fail(tooLarge(`more than ${this.maxLines} fields`));
      if (this.tolerant) this.readTolerant(text, at, end);
      else this.readStrict(text, at, end);
      if (this.fault !== null) return FAULT;
      at = lf + 1;
    }
    return MORE;
  }

  private readStrict(text: string, from: number, end: number): void {
    let at = from;
    let hasUpper = 0;
    for (; at < end; at++) {
      const kind = TOKEN[text.charCodeAt(at)];
      if (!kind) break;
      hasUpper |= kind;
    }
    if (at === from || at === end || text.charCodeAt(at) !== COLON) {
      this.fail(malformed(whyNoName(text, from, at, end)));
      return;
    }
    const name = text.slice(from, at);
    const start = skipBlanks(text, at + 1, end);
    const stop = dropBlanks(text, start, end);
    if (!isLegalValue(text, start, stop)) {
      this.fail(malformed('a control byte in a field value'));
      return;
    }
    this.fields.appendParsed(name, hasUpper & 2 ? name.toLowerCase() : name, text.slice(start, stop));
  }

  private readTolerant(text: string, from: number, end: number): void {
    if (isBlank(text.charCodeAt(from))) {
      this.fold(text, from, end);
      return;
    }
    this.lastLineDropped = true;
    let at = from;
    while (at < end && TOKEN[text.charCodeAt(at)]) at++;
    const colon = skipBlanks(text, at, end);
    if (at === from || colon === end || text.charCodeAt(colon) !== COLON) {
      this.note('bad_line');
      return;
    }
    if (colon !== at) this.note('blank_before_colon');
    const name = text.slice(from, at);
    const start = skipBlanks(text, colon + 1, end);
    const stop = dropBlanks(text, start, end);
    const lowerName = name.toLowerCase();
    if (!isLegalValue(text, start, stop)) {
      this.dropForControlByte(lowerName);
      return;
    }
    this.lastLineDropped = false;
    this.fields.appendParsed(name, lowerName, text.slice(start, stop));
  }

  /** A line that continues the one before it (RFC 9112, section 5.2), or a dropped one. */
  private fold(text: string, from: number, end: number): void {
    if (this.lastLineDropped) {
      this.note('bad_line');
      return;
    }
    this.note('folded_line');
    const start = skipBlanks(text, from, end);
    const stop = dropBlanks(text, start, end);
    if (start === stop) return;
    const last = this.fields.length - 1;
    if (!isLegalValue(text, start, stop)) {
      this.dropForControlByte(this.fields.lowerNameAt(last));
      this.fields.amendLast(null);
      this.lastLineDropped = true;
      return;
    }
    const before = this.fields.valueAt(last);
    const more = text.slice(start, stop);
    this.fields.amendLast(before === '' ? more : `${before} ${more}`);
  }

  private dropForControlByte(lowerName: string): void {
    if (framesBody(lowerName)) this.fail(malformed(`a control byte in ${lowerName}`));
    else this.note('control_byte');
  }

  /** Refuses the section. */
  fail(fault: HeadFault): number {
    this.fault = fault;
    return FAULT;
  }
}

function isLegalValue(text: string, from: number, end: number): boolean {
  for (let at = from; at < end; at++) {
    if (!VALUE[text.charCodeAt(at)]) return false;
  }
  return true;
}

/** Says why the strict reader refused the name that stops at `at`. */
function whyNoName(text: string, from: number, at: number, end: number): string {
  if (at === end) return 'a field line without colon';
  if (isBlank(text.charCodeAt(at))) {
    return at === from ? 'a folded field line' : 'a blank in a field name or before its colon';
  }
  return at === from ? 'an empty or bad field name' : 'a bad character in a field name';
}
