/**
 * Which exits are alike: those of one network (/24, /48) or of one vendor's host. What a site or an outage did to one of
 * them it most likely does to the others, so a retry looks further away first.
 */
import { parseAddress } from '../protocol/address.js';
import { siteOf } from '../protocol/host.js';
import type { Upstream } from './upstream.js';

/** How many exits that are alike are passed over for one choice; then anyone will do. */
const PATIENCE = 64;

/** The network or the vendor of an exit. */
export function placeOf({ host }: Upstream): string {
  const address = parseAddress(host);
  if (address === null) return siteOf(host);
  if (address.version === 4) return `4:${address.value >>> 8}`;
  return `6:${address.groups.slice(0, 3).join(':')}`;
}

/** The places that an exchange has tried. */
export class Neighbours {
  readonly #places = new Set<string>();
  #patience = PATIENCE;

  add(upstream: Upstream): void {
    this.#places.add(placeOf(upstream));
  }

  /** A choice begins: so many exits may be passed over for it. */
  begin(): void {
    this.#patience = PATIENCE;
  }

  /** Whether the exit is to be passed over. */
  isNear(upstream: Upstream): boolean {
    return this.#patience > 0 && this.#places.has(placeOf(upstream)) && this.#patience-- > 0;
  }
}
