/**
 * Whether a way out leads back in: an upstream that is one of our own listeners. Exact about addresses, unlike the rule
 * for targets: another proxy may well have our port on another loopback address.
 */
import { formatAddress, parseAddress } from './address.js';
import { classOfAddress, isLoopbackName } from './address-class.js';
import type { OwnAddresses } from './target-policy.js';

/** A listener, by the address that it got. */
export interface Door {
  readonly host: string;
  readonly port: number;
}

const EVERYWHERE = new Set(['0.0.0.0', '::']);

/** Whether dialling this host (without brackets) and port ends at one of the doors. */
export function isOwnDoor(
  host: string,
  port: number,
  doors: readonly Door[],
  own: Pick<OwnAddresses, 'addresses' | 'names'>,
): boolean {
  return doors.some((door) => door.port === port && leadsTo(host, door.host, own));
}

function leadsTo(host: string, doorHost: string, own: Pick<OwnAddresses, 'addresses' | 'names'>): boolean {
  const address = parseAddress(host);
  if (address === null) return own.names.has(host) || isLoopbackName(host);
  const canonical = formatAddress(address);
  const addressClass = classOfAddress(address);
  if (addressClass === 'unspecified' || canonical === doorHost) return true;
  return EVERYWHERE.has(doorHost) && (addressClass === 'loopback' || own.addresses.has(canonical));
}
