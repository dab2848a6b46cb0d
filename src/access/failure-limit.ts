/** Failed logins by source address, or by account: some at once, then one in a while, before any work is done for another. */
import { takeOne } from '../facts/limit.js';
import type { Rate } from '../facts/limit.js';
import { formatAddress, parseAddress } from '../protocol/address.js';

/** Ten at once, then one in six seconds. */
const byAddress: Rate = { count: 10, perMs: 60_000 };
const MOST_ADDRESSES = 10_000;

/** Counts failures. A try that is turned away unseen counts as none, so that waiting always helps. */
export class FailureLimit {
  private readonly fullAtMs = new Map<string, number>();

  /** @param rate failures that are borne; the default is for addresses */
  constructor(private readonly rate: Rate = byAddress) {}

  /** How many addresses are remembered. */
  get size(): number {
    return this.fullAtMs.size;
  }

  /** Whether another try from this address must not even be looked at. Changes nothing. */
  isLimited(remoteAddress: string, nowMs: number): boolean {
    if (this.fullAtMs.size === 0) return false;
    const fullAtMs = this.fullAtMs.get(placeOf(remoteAddress));
    return fullAtMs !== undefined && takeOne(this.rate, fullAtMs, nowMs).kind === 'limited';
  }

  /** One more failure from this address. */
  count(remoteAddress: string, nowMs: number): void {
    const key = placeOf(remoteAddress);
    const taken = takeOne(this.rate, this.fullAtMs.get(key) ?? nowMs, nowMs);
    if (taken.kind === 'limited') return;
    if (this.fullAtMs.size >= MOST_ADDRESSES && !this.fullAtMs.has(key)) this.makeRoom(nowMs);
    this.fullAtMs.set(key, taken.fullAtMs);
  }

  private makeRoom(nowMs: number): void {
    for (const [key, fullAtMs] of this.fullAtMs) if (fullAtMs <= nowMs) this.fullAtMs.delete(key);
    if (this.fullAtMs.size >= MOST_ADDRESSES) this.fullAtMs.clear();
  }
}

/** An IPv6 network of 64 bits is one machine's; what is no address, such as the name of an account, counts as itself. */
export function placeOf(remoteAddress: string): string {
  const address = parseAddress(remoteAddress);
  if (address === null) return remoteAddress;
  if (address.version === 4) return formatAddress(address);
  return formatAddress({ version: 6, groups: [...address.groups.slice(0, 4), 0, 0, 0, 0] });
}
