/**
 * What an address is good for, decided on its binary value by the IANA special-purpose registries (RFC 6890),
 * and which host names lead to special places without any address being seen.
 */
import { ipv4In, parseAddress, parseCidr, readIpv4Spelling, unmapped } from './address.js';
import type { Address } from './address.js';

/** The class of a literal address; `name` for a host name. */
export type AddressClass =
  | 'name'
  | 'public'
  | 'loopback'
  | 'private'
  | 'link_local'
  | 'cgnat'
  | 'multicast'
  | 'unspecified'
  | 'reserved'
  | 'special_name';

type Row = readonly [cidr: string, addressClass: AddressClass];

/** First match wins; everything else is public. */
const ipv4Rows: readonly Row[] = [
  ['0.0.0.0/8', 'unspecified'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'cgnat'],
  ['127.0.0.0/8', 'loopback'],
  // The platform's own address inside every Azure machine; public by its number only.
  ['168.63.129.16/32', 'link_local'],
  ['169.254.0.0/16', 'link_local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'reserved'],
  ['192.0.2.0/24', 'reserved'],
  ['192.88.99.0/24', 'reserved'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'reserved'],
  ['198.51.100.0/24', 'reserved'],
  ['203.0.113.0/24', 'reserved'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
];

interface Range {
  readonly base: number;
  readonly shift: number;
  readonly addressClass: AddressClass;
}

const ipv4Ranges: readonly Range[] = ipv4Rows.map(([text, addressClass]) => {
  const cidr = parseCidr(text);
  if (cidr?.base.version !== 4) throw new Error(`not an IPv4 range: ${text}`);
  const shift = 32 - cidr.bits;
  return { base: cidr.base.value >>> shift, shift, addressClass };
});

function classOfIpv4(value: number): AddressClass {
  for (const range of ipv4Ranges) if (value >>> range.shift === range.base) return range.addressClass;
  return 'public';
}

/** By the first groups, where no IPv4 address is embedded. Global unicast is 2000::/3 and nothing else. */
function classOfIpv6Prefix(groups: readonly number[]): AddressClass {
  const first = groups[0] ?? 0;
  const second = groups[1] ?? 0;
  if ((first & 0xfe00) === 0xfc00 || (first & 0xffc0) === 0xfec0) return 'private';
  if ((first & 0xffc0) === 0xfe80) return 'link_local';
  if ((first & 0xff00) === 0xff00) return 'multicast';
  const isDocumentation = (first === 0x2001 && second === 0xdb8) || (first === 0x3fff && second < 0x1000);
  const isProtocolAssignment = first === 0x2001 && second < 0x200;
  const isGlobal = (first & 0xe000) === 0x2000;
  return isGlobal && !isDocumentation && !isProtocolAssignment ? 'public' : 'reserved';
}

function startsWith(groups: readonly number[], prefix: readonly number[]): boolean {
  return prefix.every((group, i) => groups[i] === group);
}

const ZERO_64 = [0, 0, 0, 0];

/** IPv6, with the IPv4 address looked at that a transition mechanism would go to. */
function classOfIpv6(groups: readonly number[]): AddressClass {
  const last = ipv4In(groups, 6);
  if (startsWith(groups, ZERO_64)) return classUnderZero(ipv4In(groups, 4), last);
  if (startsWith(groups, [0x64, 0xff9b, ...ZERO_64])) return classOfIpv4(last); // NAT64, RFC 6052
  if (startsWith(groups, [0x2002])) return classOfIpv4(ipv4In(groups, 1)); // 6to4, RFC 3056
  if (startsWith(groups, [0x2001, 0])) {
    // Teredo, RFC 4380: the server's address, and the client's with all bits turned over.
    const server = classOfIpv4(ipv4In(groups, 2));
    return server === 'public' ? classOfIpv4(~last >>> 0) : server;
  }
  return classOfIpv6Prefix(groups);
}

/** `::`, `::1`, and IPv4-compatible or -translated addresses, which are not used on the public net any more. */
function classUnderZero(middle: number, last: number): AddressClass {
  if (middle === 0 && last <= 1) return last === 0 ? 'unspecified' : 'loopback';
  const isCompatible = middle === 0 || middle === 0xffff0000;
  const embedded = isCompatible ? classOfIpv4(last) : 'reserved';
  return embedded === 'public' ? 'reserved' : embedded;
}

/** The class of a binary address. */
export function classOfAddress(address: Address): AddressClass {
  const plain = unmapped(address);
  return plain.version === 4 ? classOfIpv4(plain.value) : classOfIpv6(plain.groups);
}

/** Names that stand for the machine itself (RFC 6761, and what Linux distributions write into /etc/hosts). */
const LOOPBACK_NAMES =
  /^(?:(?:.+\.)?localhost|localhost[46]?(?:\.localdomain[46]?)?|ip6-(?:localhost|loopback)|loopback)$/;
const SPECIAL_SUFFIX = /(?:^|\.)(?:local|localdomain|internal|home\.arpa)$/;
/** Names under which clouds show a machine its own keys, beside those under `.internal`. */
const METADATA_NAMES = new Set([
  'metadata',
  'metadata.goog',
  'instance-data',
  'metadata.tencentyun.com',
  'metadata.platformequinix.com',
]);

/** Whether a canonical host name stands for the machine itself. */
export function isLoopbackName(host: string): boolean {
  return LOOPBACK_NAMES.test(host);
}

/** The class of a canonical host name: with an upstream, it is the upstream that resolves, so the name must do. */
export function classOfName(host: string): 'name' | 'special_name' {
  const isSpecial = isLoopbackName(host) || SPECIAL_SUFFIX.test(host) || METADATA_NAMES.has(host);
  return isSpecial ? 'special_name' : 'name';
}

/**
 * The class of a host: an address in any spelling (brackets and zone id ignored), or a name.
 * Text that is neither counts as `reserved`, so that nothing malformed is ever taken for public.
 */
export function classifyAddress(host: string): AddressClass {
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  if (bare.includes(':')) {
    const address = parseAddress(bare);
    return address === null ? 'reserved' : classOfAddress(address);
  }
  const lower = bare.toLowerCase().replace(/\.$/, '');
  const value = readIpv4Spelling(lower);
  if (value === 'name') return classOfName(lower);
  return value === 'malformed' ? 'reserved' : classOfIpv4(value);
}
