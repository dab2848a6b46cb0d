/**
 * From the host that a client wrote to the one host that everything else sees: IDNA, IPv4 spellings and IPv6 text
 * folded, class and site found. Never through `new URL`.
 */
import { isUtf8 } from 'node:buffer';
import { domainToASCII } from 'node:url';
import { getDomain } from 'tldts';
import { formatAddress, readIpv4Spelling, readIpv6, unmapped } from './address.js';
import type { Address } from './address.js';
import { classOfAddress, classOfName } from './address-class.js';
import type { AddressClass } from './address-class.js';

/** A host in canonical form, and what is known of it. */
export interface HostFacts {
  /** Lower case, IDNA ASCII, IPv4 dotted, IPv6 without brackets, no trailing dot. */
  readonly host: string;
  /** The same as an authority wants it: brackets round IPv6. */
  readonly inAuthority: string;
  readonly addressClass: AddressClass;
  readonly site: string;
}

export type HostResult =
  | { readonly kind: 'host'; readonly facts: HostFacts }
  /** `detail` is a sentence for people; it never repeats what was written. */
  | { readonly kind: 'malformed'; readonly detail: string };

const PLAIN = /^[a-z0-9._-]+$/;
const NOT_ASCII = /[^\0-\x7f]/;
/** What may go to `domainToASCII`, which would cut `é/x` at the slash and drop a tab as URLs do. */
const INTERNATIONAL = /^[a-z0-9._\u0080-\u{10ffff}-]+$/iu;
const BAD_CHARACTER = 'The host has a character that no host may have.';
const LONGEST_RAW = 1024;
const LONGEST_NAME = 253;
const LONGEST_LABEL = 63;

const malformed = (detail: string): HostResult => ({ kind: 'malformed', detail });

/**
 * Reads a host as it stands in a request target or Host field: latin1, one character per byte, IPv6 in brackets.
 * One trailing dot is folded away.
 */
export function readHost(text: string): HostResult {
  if (text === '') return malformed('The host is empty.');
  if (text.length > LONGEST_RAW) return malformed('The host is longer than 253 characters.');
  if (text.startsWith('[')) return readBracketed(text);
  if (NOT_ASCII.test(text)) {
    const unicode = utf8Of(text);
    return unicode === null ? malformed('The host is not valid UTF-8.') : readIdna(unicode);
  }
  const lower = text.toLowerCase();
  if (!PLAIN.test(lower)) return malformed(BAD_CHARACTER);
  return lower.includes('xn--') ? readIdna(lower) : readPlain(lower);
}

function readBracketed(text: string): HostResult {
  if (!text.endsWith(']')) return malformed('The IPv6 address has no closing bracket.');
  if (text.includes('%')) return malformed('An IPv6 address with a zone id is no target.');
  const address = readIpv6(text.slice(1, -1));
  return address === null
    ? malformed('What stands in brackets is not an IPv6 address.')
    : hostOf(unmapped(address));
}

function utf8Of(latin1: string): string | null {
  const bytes = Buffer.from(latin1, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : null;
}

/** UTS 46 by Node's URL code; an empty answer is its refusal. Also checks `xn--` labels that came ready-made. */
function readIdna(unicode: string): HostResult {
  if (!INTERNATIONAL.test(unicode)) return malformed(BAD_CHARACTER);
  const ascii = domainToASCII(unicode);
  return PLAIN.test(ascii) ? readPlain(ascii) : malformed('The host is not a valid international name.');
}

function readPlain(lower: string): HostResult {
  const host = lower.endsWith('.') ? lower.slice(0, -1) : lower;
  if (host.length > LONGEST_NAME) return malformed('The host is longer than 253 characters.');
  for (const label of host.split('.')) {
    if (label === '') return malformed('The host has an empty label.');
    if (label.length > LONGEST_LABEL) return malformed('The host has a label of more than 63 characters.');
  }
  const value = readIpv4Spelling(host);
  if (value === 'malformed') return malformed('The host ends in a number but is not an IPv4 address.');
  if (value !== 'name') return hostOf({ version: 4, value });
  const facts = { host, inAuthority: host, addressClass: classOfName(host), site: siteOf(host) };
  return { kind: 'host', facts };
}

function hostOf(address: Address): HostResult {
  const host = formatAddress(address);
  const inAuthority = address.version === 6 ? `[${host}]` : host;
  return {
    kind: 'host',
    facts: { host, inAuthority, addressClass: classOfAddress(address), site: host },
  };
}

const siteOptions = {
  // Neighbours on one hosting platform are strangers: a block by one says nothing about the other.
  allowPrivateDomains: true,
  extractHostname: false,
  validateHostname: false,
  detectIp: false,
};

/** The registrable domain of a canonical host name, or the host itself where there is none. */
export function siteOf(host: string): string {
  return getDomain(host, siteOptions) ?? host;
}
