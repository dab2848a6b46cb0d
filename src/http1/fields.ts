/**
 * Header fields in the order and case in which they came (RFC 9110, section 5). Lookups ignore case.
 * Values hold one character per byte (latin1), so that bytes ≥ 0x80 go on as they came.
 *
 * No list ever holds a name or value that could break its line: whoever adds one, from a template or a
 * setting, can't write a second line with it.
 */
import { asFieldValue, isToken, withoutOws } from './octets.js';

/** An ordered list of fields; repeated names stay repeated. */
export class Fields {
  private constructor(
    private readonly names: string[],
    private readonly lowerNames: string[],
    private readonly fieldValues: string[],
  ) {}

  /** No fields. */
  static empty(): Fields {
    return new Fields([], [], []);
  }

  /** Fields from name-value pairs. */
  static of(...pairs: readonly (readonly [name: string, value: string])[]): Fields {
    const fields = Fields.empty();
    for (const [name, value] of pairs) fields.append(name, value);
    return fields;
  }

  get length(): number {
    return this.names.length;
  }

  nameAt(index: number): string {
    return this.names[index] ?? '';
  }

  /** The name at this index in lower case. */
  lowerNameAt(index: number): string {
    return this.lowerNames[index] ?? '';
  }

  valueAt(index: number): string {
    return this.fieldValues[index] ?? '';
  }

  /**
   * Adds a field at the end. A character that may not stand in a value (control, or beyond latin1) becomes a
   * space (RFC 9110, section 5.5); a name that is no token throws, since names are ours or were parsed.
   */
  append(name: string, value: string): void {
    if (!isToken(name)) throw new TypeError('a field name must be a token');
    this.appendParsed(name, name.toLowerCase(), asFieldValue(value));
  }

  /** For the codec, which has looked at every octet already. */
  appendParsed(name: string, lowerName: string, value: string): void {
    this.names.push(name);
    this.lowerNames.push(lowerName);
    this.fieldValues.push(value);
  }

  /** Adds all fields of another list at the end. */
  appendAll(others: Fields): void {
    for (let i = 0; i < others.length; i++) {
      this.appendParsed(others.nameAt(i), others.lowerNameAt(i), others.valueAt(i));
    }
  }

  /** For the codec: a new value for the last field, or null to drop it. */
  amendLast(value: string | null): void {
    const last = this.names.length - 1;
    if (last < 0) return;
    if (value !== null) this.fieldValues[last] = value;
    else this.removeFrom(last, () => true);
  }

  /** The first value of this name (given in lower case), or undefined. */
  get(lowerName: string): string | undefined {
    const index = this.lowerNames.indexOf(lowerName);
    return index < 0 ? undefined : this.fieldValues[index];
  }

  /** All values of this name (given in lower case), in order. */
  all(lowerName: string): string[] {
    const values: string[] = [];
    for (let i = 0; i < this.lowerNames.length; i++) {
      if (this.lowerNames[i] === lowerName) values.push(this.valueAt(i));
    }
    return values;
  }

  has(lowerName: string): boolean {
    return this.lowerNames.includes(lowerName);
  }

  /** How many fields have this name (given in lower case). */
  count(lowerName: string): number {
    let count = 0;
    for (const name of this.lowerNames) if (name === lowerName) count++;
    return count;
  }

  /** Puts `value` in the place of the first field of this name and drops the others; appends where there was none. */
  set(name: string, value: string): void {
    const lowerName = name.toLowerCase();
    const first = this.lowerNames.indexOf(lowerName);
    if (first < 0) {
      this.append(name, value);
      return;
    }
    this.fieldValues[first] = asFieldValue(value);
    this.removeFrom(first + 1, (lower) => lower === lowerName);
  }

  /** Drops every field of this name (given in lower case). */
  remove(lowerName: string): void {
    if (this.has(lowerName)) this.removeFrom(0, (lower) => lower === lowerName);
  }

  /** A copy without the fields for which `isDropped(lowerName)` holds. */
  without(isDropped: (lowerName: string) => boolean): Fields {
    const kept = Fields.empty();
    for (let i = 0; i < this.names.length; i++) {
      const lower = this.lowerNameAt(i);
      if (isDropped(lower)) continue;
      kept.names.push(this.nameAt(i));
      kept.lowerNames.push(lower);
      kept.fieldValues.push(this.valueAt(i));
    }
    return kept;
  }

  copy(): Fields {
    return new Fields([...this.names], [...this.lowerNames], [...this.fieldValues]);
  }

  /** Name-value pairs, in order. */
  pairs(): [name: string, value: string][] {
    return this.names.map((name, i) => [name, this.valueAt(i)]);
  }

  /** The field lines as they go on the wire, each with its line end. */
  toWire(): string {
    let text = '';
    for (let i = 0; i < this.names.length; i++) text += `${this.nameAt(i)}: ${this.valueAt(i)}\r\n`;
    return text;
  }

  private removeFrom(start: number, isDropped: (lowerName: string) => boolean): void {
    let write = start;
    for (let read = start; read < this.names.length; read++) {
      if (isDropped(this.lowerNameAt(read))) continue;
      this.names[write] = this.nameAt(read);
      this.lowerNames[write] = this.lowerNameAt(read);
      this.fieldValues[write] = this.valueAt(read);
      write++;
    }
    this.names.length = write;
    this.lowerNames.length = write;
    this.fieldValues.length = write;
  }
}

/** Fields that speak only to the next hop (RFC 9110, section 7.6.1, and what the field sends besides). */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'proxy-authorization',
  'proxy-authenticate',
  'proxy-authentication-info',
  'http2-settings',
]);

/** Whether this field (lower case) never travels on. `Content-Length` does: it is regenerated by whoever frames. */
export function isHopByHop(lowerName: string): boolean {
  return HOP_BY_HOP.has(lowerName);
}

const NO_TOKENS: readonly string[] = [];

/** The tokens of all `Connection` lines, in lower case (RFC 9110, section 7.6.1). */
export function connectionTokens(fields: Fields): readonly string[] {
  return fields.has('connection') ? listTokens(fields, 'connection') : NO_TOKENS;
}

/** The members of a comma-separated list (RFC 9110, section 5.6.1) over all lines of this name, in lower case. */
export function listTokens(fields: Fields, lowerName: string): string[] {
  const tokens: string[] = [];
  for (const value of fields.all(lowerName)) {
    const parts = value.includes(',') ? value.split(',') : [value];
    for (const part of parts) {
      const token = withoutOws(part).toLowerCase();
      if (token !== '') tokens.push(token);
    }
  }
  return tokens;
}
