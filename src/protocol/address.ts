/**
 * IP addresses from text to binary and back. Knows spellings, not meanings: what an address is good for
 * is decided in address-class.ts, on the binary value only.
 */

/** A binary address. IPv4 as an unsigned 32-bit number, IPv6 as eight 16-bit groups. */
export type Address =
  | { readonly version: 4; readonly value: number }
  | { readonly version: 6; readonly groups: readonly number[] };

const ENDS_IN_NUMBER = /(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$/;
const DOTTED = /^(?:0|[1-9][0-9]{0,2})(?:\.(?:0|[1-9][0-9]{0,2})){3}$/;
const GROUP = /^[0-9a-f]{1,4}$/i;

/**
 * Reads every spelling of IPv4 that resolvers and the WHATWG URL standard know: decimal, octal, hex, one to four
 * parts. `name`: not an address at all. `malformed`: ends in a number but is none (`1.2.3.4.5`, `09.1.1.1`).
 * Wants lower case and no trailing dot.
 */
export function readIpv4Spelling(text: string): number | 'name' | 'malformed' {
  if (!ENDS_IN_NUMBER.test(text)) return 'name';
  const parts = text.split('.');
  if (parts.length > 4) return 'malformed';
  let value = 0;
  for (let i = 0; i < parts.length; i++) {
    const number = readNumber(parts[i] ?? '');
    const isLast = i === parts.length - 1;
    const limit = isLast ? 256 ** (5 - parts.length) : 256;
    if (number === null || number >= limit) return 'malformed';
    value += isLast ? number : number * 256 ** (3 - i);
  }
  return value;
}

/** A number as inet_aton reads it: `0x` hex (`0x` alone is 0), leading `0` octal, else decimal. */
function readNumber(text: string): number | null {
  if (text === '') return null;
  if (text.startsWith('0x')) {
    if (text.length === 2) return 0;
    return /^[0-9a-f]+$/.test(text.slice(2)) ? Number.parseInt(text.slice(2), 16) : null;
  }
  if (text.length > 1 && text.startsWith('0')) return /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : null;
  return /^[0-9]+$/.test(text) ? Number(text) : null;
}

/** Reads IPv6 text (RFC 4291, section 2.2) without brackets; null for anything else, zone ids included. */
export function readIpv6(text: string): Address | null {
  if (text.length > 45) return null;
  const halves = text.split('::');
  if (halves.length > 2) return null;
  const head = readGroups(halves[0] ?? '', halves.length === 1);
  if (head === null) return null;
  if (halves.length === 1) return head.length === 8 ? { version: 6, groups: head } : null;
  const tail = readGroups(halves[1] ?? '', true);
  if (tail === null || head.length + tail.length > 7) return null;
  const zeros = new Array<number>(8 - head.length - tail.length).fill(0);
  return { version: 6, groups: [...head, ...zeros, ...tail] };
}

/** Groups between colons; the last one may be a dotted IPv4 address where the text ends with it. */
function readGroups(text: string, endsAddress: boolean): number[] | null {
  if (text === '') return [];
  const groups: number[] = [];
  const parts = text.split(':');
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i] ?? '';
    if (GROUP.test(part)) {
      groups.push(Number.parseInt(part, 16));
      continue;
    }
    const value = endsAddress && i === parts.length - 1 ? readDotted(part) : null;
    if (value === null) return null;
    groups.push(value >>> 16, value & 0xffff);
  }
  return groups;
}

/** Four decimal parts without leading zeros; null for every other spelling. */
export function readDotted(text: string): number | null {
  if (!DOTTED.test(text)) return null;
  let value = 0;
  for (const part of text.split('.')) {
    const byte = Number(part);
    if (byte > 255) return null;
    value = value * 256 + byte;
  }
  return value;
}

/** An address as sockets and configuration spell it: dotted IPv4 or IPv6, a zone id ignored. Null for anything else. */
export function parseAddress(text: string): Address | null {
  const value = readDotted(text);
  if (value !== null) return { version: 4, value };
  const zone = text.indexOf('%');
  const address = readIpv6(zone < 0 ? text : text.slice(0, zone));
  return address === null ? null : unmapped(address);
}

/** An IPv4-mapped IPv6 address (`::ffff:a.b.c.d`) as the IPv4 address that it is; others as they are. */
export function unmapped(address: Address): Address {
  if (address.version === 4) return address;
  const { groups } = address;
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  return isMapped ? { version: 4, value: ipv4In(groups, 6) } : address;
}

/** The IPv4 address in two groups of an IPv6 address. */
export function ipv4In(groups: readonly number[], at: number): number {
  return (groups[at] ?? 0) * 0x10000 + (groups[at + 1] ?? 0);
}

/** Canonical text: dotted decimal, or IPv6 by RFC 5952 without brackets. */
export function formatAddress(address: Address): string {
  return address.version === 4 ? formatIpv4(address.value) : formatIpv6(address.groups);
}

function formatIpv4(value: number): string {
  return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`;
}

function formatIpv6(groups: readonly number[]): string {
  const hex = groups.map((group) => group.toString(16));
  const run = longestZeroRun(groups);
  if (run.length < 2) return hex.join(':');
  return `${hex.slice(0, run.start).join(':')}::${hex.slice(run.start + run.length).join(':')}`;
}

function longestZeroRun(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
  }
  return best;
}

/** A range of addresses. */
export interface Cidr {
  readonly base: Address;
  readonly bits: number;
}

/** Reads `10.0.0.0/8`, `fd00::/8`, or one address. Null for anything else; bits below the prefix may be set. */
export function parseCidr(text: string): Cidr | null {
  const slash = text.indexOf('/');
  const base = parseAddress(slash < 0 ? text : text.slice(0, slash));
  if (base === null || text.includes('%')) return null;
  const width = base.version === 4 ? 32 : 128;
  if (slash < 0) return { base, bits: width };
  const digits = text.slice(slash + 1);
  const bits = /^(?:0|[1-9][0-9]{0,2})$/.test(digits) ? Number(digits) : Infinity;
  return bits <= width ? { base, bits } : null;
}

/** Whether the address lies in the range; IPv4 and IPv6 never meet. */
export function cidrContains(cidr: Cidr, address: Address): boolean {
  if (cidr.base.version === 4 || address.version === 4) {
    if (cidr.base.version !== 4 || address.version !== 4) return false;
    return cidr.bits === 0 || (cidr.base.value ^ address.value) >>> (32 - cidr.bits) === 0;
  }
  for (let i = 0, left = cidr.bits; i < 8 && left > 0; i++, left -= 16) {
    const differing = (cidr.base.groups[i] ?? 0) ^ (address.groups[i] ?? 0);
    if (differing >>> Math.max(0, 16 - left) !== 0) return false;
  }
  return true;
}
