/** Failed logins by source address: ten at once, then one in six seconds, before any work is done for another. */
import type { Clock } from '../core/clock.js';
import { takeOne } from '../facts/limit.js';
import type { Rate } from '../facts/limit.js';
import { formatAddress, parseAddress } from '../protocol/address.js';

const rate: Rate = { count: 10, perMs: 60_000, burst: 10 };
const MOST_ADDRESSES = 10_000;

/** Counts failures; a refusal by this limit counts as none. */
export class FailureLimit {
  private readonly fullAtMs = new Map<string, number>();

  constructor(private readonly clock: Clock) {}

  /** Whether another try from this address must not even be looked at. Changes nothing. */
  isLimited(remoteAddress: string): boolean {
    if (this.fullAtMs.size === 0) return false;
    const fullAtMs = this.fullAtMs.get(keyOf(remoteAddress));
    return fullAtMs !== undefined && takeOne(rate, fullAtMs, this.clock.nowMs()).kind === 'limited';
  }

  /** One more failure from this address. */
  count(remoteAddress: string): void {
    const key = keyOf(remoteAddress);
    const nowMs = this.clock.nowMs();
    const taken = takeOne(rate, this.fullAtMs.get(key) ?? 0, nowMs);
    if (taken.kind === 'limited') return;
    if (this.fullAtMs.size >= MOST_ADDRESSES) this.makeRoom(nowMs);
    this.fullAtMs.set(key, taken.fullAtMs);
  }

  private makeRoom(nowMs: number): void {
    for (const [key, fullAtMs] of this.fullAtMs) if (fullAtMs <= nowMs) this.fullAtMs.delete(key);
    if (this.fullAtMs.size >= MOST_ADDRESSES) this.fullAtMs.clear();
  }
}

/** An IPv6 network of 64 bits is one machine's; an address that can't be read counts as itself. */
function keyOf(remoteAddress: string): string {
  const address = parseAddress(remoteAddress);
  if (address === null) return remoteAddress;
  if (address.version === 4) return formatAddress(address);
  return formatAddress({ version: 6, groups: [...address.groups.slice(0, 4), 0, 0, 0, 0] });
}
