/** A client with the ranges that it may come from, read once; the same for those of the configuration and stored ones. */
import { cidrContains, parseAddress, parseCidr } from '../protocol/address.js';
import type { Address, Cidr } from '../protocol/address.js';
import { Memo } from '../protocol/memo.js';
import type { Client } from './clients.js';

/** From where a client may come. */
export interface Places {
  readonly client: Client;
  /** With a proved password; null for anywhere. */
  readonly ranges: readonly Cidr[] | null;
  /** Without. */
  readonly rangesWithoutLogin: readonly Cidr[];
}

const thisMachine = ['127.0.0.0/8', '::1/128'].map((text) => rangeOf(text, 'this machine'));
const addresses = new Memo<Address | null>(1000);

/** Reads them. @throws Error where an `allowFrom` is no range; settings were checked for that */
export function placesOf(client: Client): Places {
  const ranges = client.allowFrom.map((text) => rangeOf(text, `client ${client.name}`));
  const isAnywhere = ranges.length === 0;
  return {
    client,
    ranges: isAnywhere ? null : ranges,
    rangesWithoutLogin: isAnywhere ? thisMachine : ranges,
  };
}

/** Whether an address is in one of these ranges. */
export function isWithin(ranges: readonly Cidr[] | null, remoteAddress: string): boolean {
  if (ranges === null) return true;
  let address = addresses.get(remoteAddress);
  if (address === undefined) {
    address = parseAddress(remoteAddress);
    addresses.set(remoteAddress, address);
  }
  const found = address;
  return found !== null && ranges.some((range) => cidrContains(range, found));
}

function rangeOf(text: string, owner: string): Cidr {
  const cidr = parseCidr(text);
  if (cidr === null) throw new Error(`allow_from of ${owner} is not a range: ${text}`);
  return cidr;
}
