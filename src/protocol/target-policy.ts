/**
 * Which targets may be visited. Private, loopback and special ones need an entry; our own ports are never a target,
 * entry or not. Decided on the canonical target only, so that no spelling makes a difference.
 */
import type { Failure } from '../core/errors.js';
import { cidrContains, formatAddress, parseAddress, parseCidr } from './address.js';
import type { Address, Cidr } from './address.js';
import { classOfAddress, isLoopbackName } from './address-class.js';
import type { AddressClass } from './address-class.js';
import { readHost } from './host.js';
import { Memo } from './memo.js';
import type { Target } from './target.js';

/** One exception: a range or a name, with or without a port. */
export type AllowEntry =
  | { readonly kind: 'range'; readonly cidr: Cidr; readonly port: number | null }
  | { readonly kind: 'name'; readonly host: string; readonly port: number | null };

/** What may be visited though it isn't public. */
export interface TargetPolicy {
  readonly allow: readonly AllowEntry[];
}

/**
 * Where this gateway itself listens. Addresses and names in canonical form. Every loopback or unspecified address
 * with one of the ports is ours, listed or not.
 */
export interface OwnAddresses {
  readonly ports: ReadonlySet<number>;
  readonly addresses: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
}

/**
 * Reads an entry of `targets.allow`: `10.1.2.3`, `10.0.0.0/8`, `::1`, `fd00::/8`, each also with a port
 * (`10.1.2.3:8000`, `[::1]:8000`, `[fd00::/8]:8000`), and `intranet.internal`, `localhost:3000`. Null for anything else,
 * odd spellings of addresses included: an exception should be read as it is written.
 */
export function parseAllowEntry(text: string): AllowEntry | null {
  const whole = parseCidr(text);
  if (whole !== null) return { kind: 'range', cidr: whole, port: null };
  const match = /^(.*?)(?::([1-9][0-9]{0,4}))?$/.exec(text);
  const port = match?.[2] === undefined ? null : Number(match[2]);
  if (port !== null && port > 65_535) return null;
  const place = match?.[1] ?? '';
  const cidr = parseCidr(place.replace(/^\[(.*)\]$/, '$1'));
  if (cidr !== null) return { kind: 'range', cidr, port };
  const result = readHost(Buffer.from(place, 'utf8').toString('latin1'));
  if (result.kind === 'malformed') return null;
  const { host, addressClass } = result.facts;
  const isName = addressClass === 'name' || addressClass === 'special_name';
  return isName ? { kind: 'name', host, port } : null;
}

const classNouns: Readonly<Record<AddressClass, string>> = {
  name: 'a name',
  public: 'a public address',
  loopback: 'a loopback address',
  private: 'a private address',
  link_local: 'a link-local or metadata address',
  cgnat: 'an address of a carrier’s own net',
  multicast: 'a multicast address',
  unspecified: 'an unspecified address',
  reserved: 'a reserved address',
  special_name: 'a name for local use',
};

const isOpen = (addressClass: AddressClass): boolean => addressClass === 'public' || addressClass === 'name';
const isHere = (addressClass: AddressClass): boolean =>
  addressClass === 'loopback' || addressClass === 'unspecified';

function refusal(hostPort: string, addressClass: AddressClass): Failure {
  return { code: 'target_refused', detail: `${hostPort} is ${classNouns[addressClass]}; see targets.allow.` };
}

function loop(hostPort: string): Failure {
  return { code: 'loop_detected', detail: `${hostPort} is this gateway itself.` };
}

/** Null where the target may be visited, else why not. For names, what they resolve to is not known here. */
export function checkTarget(target: Target, policy: TargetPolicy, own: OwnAddresses): Failure | null {
  const { host, port, addressClass } = target;
  if (own.ports.has(port) && isOwnHost(host, addressClass, own)) return loop(target.hostPort);
  if (isOpen(addressClass)) return null;
  return isAllowed(host, port, policy) ? null : refusal(target.hostPort, addressClass);
}

/**
 * The same for one address that the target's name resolved to, for exits where we resolve ourselves: dial what was
 * checked here, nothing else. An entry for the name admits every address of it but our own.
 */
export function checkResolvedAddress(
  target: Target,
  resolved: string,
  policy: TargetPolicy,
  own: OwnAddresses,
): Failure | null {
  const address = parseAddress(resolved);
  if (address === null) return refusal(target.hostPort, 'reserved');
  const { port, hostPort } = target;
  const canonical = formatAddress(address);
  const addressClass = classOfAddress(address);
  if (own.ports.has(port) && isOwnHost(canonical, addressClass, own)) return loop(hostPort);
  if (isOpen(addressClass)) return null;
  const isExcepted = isAllowed(canonical, port, policy) || isAllowed(target.host, port, policy);
  return isExcepted ? null : refusal(hostPort, addressClass);
}

function isOwnHost(host: string, addressClass: AddressClass, own: OwnAddresses): boolean {
  if (isHere(addressClass) || own.addresses.has(host) || own.names.has(host)) return true;
  return addressClass === 'special_name' && isLoopbackName(host);
}

const knownAddresses = new Memo<Address | null>(1000);

/** The host as an address, null for a name; remembered, for the few that a crawl of one's own net goes to. */
function addressOf(host: string): Address | null {
  const known = knownAddresses.get(host);
  if (known !== undefined) return known;
  const address = parseAddress(host);
  knownAddresses.set(host, address);
  return address;
}

function isAllowed(host: string, port: number, policy: TargetPolicy): boolean {
  if (policy.allow.length === 0) return false;
  const address = addressOf(host);
  return policy.allow.some((entry) => (entry.port ?? port) === port && entryCovers(entry, host, address));
}

function entryCovers(entry: AllowEntry, host: string, address: Address | null): boolean {
  if (entry.kind === 'name') return entry.host === host;
  return address !== null && cidrContains(entry.cidr, address);
}
