/**
 * Limits of each client: requests and bytes in a time, and tunnels, exchanges and connections at once.
 * Lives longer than a configuration: a reload neither forgives nor forgets what is in flight.
 */
import type { Clock } from '../core/clock.js';
import { charged, msUntilFree, takeOne, used } from '../facts/limit.js';
import type { Rate } from '../facts/limit.js';
import type { Client } from './clients.js';

/** What a client wants to do: `exchange` and `tunnel` also count as one request each. */
export type LimitedKind = 'request' | 'tunnel' | 'exchange' | 'connection';

export type Admission =
  /** Call `release` when it is over; calling it again does nothing. */
  | { readonly kind: 'ok'; readonly release: () => void }
  | { readonly kind: 'limited'; readonly retryAfterMs: number; readonly detail: string };

/** Takes the bytes that pass, either way; false where the tunnel that they pass through is to be cut. */
export type ByteMeter = (count: number) => boolean;

type Held = Exclude<LimitedKind, 'request'>;

interface Usage {
  fullAtMs: number;
  bytesFullAtMs: number;
  readonly held: Record<Held, number>;
}

const UNLIMITED: Admission = { kind: 'ok', release: () => undefined };
/** When a slot comes free is not known; a second is a fair guess. */
const SLOT_RETRY_MS = 1000;

function mostOf(client: Client, kind: Held): number | null {
  if (kind === 'tunnel') return client.limits.tunnels;
  return kind === 'exchange' ? client.limits.exchanges : client.limits.connections;
}

/** Counts what clients do against their limits, in this process. */
export class RateLimits {
  private readonly usages = new Map<string, Usage>();

  /** Asks for one more. Nothing is allocated for a client without the limits in question. */
  admit(client: Client, kind: LimitedKind, nowMs: number): Admission {
    const rate = kind === 'connection' ? null : client.limits.requests;
    const bytes = kind === 'connection' ? null : client.limits.bytes;
    const most = kind === 'request' ? null : mostOf(client, kind);
    if (rate === null && most === null && bytes === null) return UNLIMITED;
    const usage = this.usageOf(client.name);
    if (kind !== 'request' && most !== null && usage.held[kind] >= most) {
      return limited(SLOT_RETRY_MS, `Client ${client.name} is at its limit of ${most} ${kind}s at once.`);
    }
    if (bytes !== null) {
      const waitMs = msUntilFree(bytes, usage.bytesFullAtMs, nowMs);
      if (waitMs > 0) return limited(waitMs, bytesDetail(client.name, bytes));
    }
    if (rate !== null) {
      const taken = takeOne(rate, usage.fullAtMs, nowMs);
      if (taken.kind === 'limited') return limited(taken.retryAfterMs, rateDetail(client.name, rate));
      usage.fullAtMs = taken.fullAtMs;
    }
    return kind === 'request' || most === null ? UNLIMITED : hold(usage, kind);
  }

  /** Counts the bytes of one exchange as they pass; null for a client without such a limit. */
  meter(client: Client, clock: Clock): ByteMeter | null {
    const { bytes, cutsTunnels } = client.limits;
    if (bytes === null) return null;
    const usage = this.usageOf(client.name);
    return (amount) => {
      const nowMs = clock.nowMs();
      usage.bytesFullAtMs = charged(bytes, { fullAtMs: usage.bytesFullAtMs, amount }, nowMs);
      return !cutsTunnels || msUntilFree(bytes, usage.bytesFullAtMs, nowMs) <= 0;
    };
  }

  /** How many of a kind a client holds that has a limit for it. */
  heldBy(clientName: string, kind: Held): number {
    return this.usages.get(clientName)?.held[kind] ?? 0;
  }

  /** Bytes of its rate that a client has used and not got back yet; more than the rate where it went over. */
  bytesUsedBy(clientName: string, rate: Rate, nowMs: number): number {
    return used(rate, this.usages.get(clientName)?.bytesFullAtMs ?? 0, nowMs);
  }

  private usageOf(name: string): Usage {
    let usage = this.usages.get(name);
    if (usage === undefined) {
      usage = { fullAtMs: 0, bytesFullAtMs: 0, held: { tunnel: 0, exchange: 0, connection: 0 } };
      this.usages.set(name, usage);
    }
    return usage;
  }
}

function limited(retryAfterMs: number, detail: string): Admission {
  return { kind: 'limited', retryAfterMs, detail };
}

/** What a client is told that is too fast. */
export function rateDetail(name: string, rate: Rate): string {
  return `Client ${name} is at its limit of ${rate.count} requests in ${rate.perMs / 1000} s.`;
}

function bytesDetail(name: string, rate: Rate): string {
  return `Client ${name} has used up its ${rate.count} bytes in ${rate.perMs / 1000} s.`;
}

function hold(usage: Usage, kind: Held): Admission {
  let isHeld = true;
  usage.held[kind]++;
  const release = (): void => {
    if (isHeld) usage.held[kind]--;
    isHeld = false;
  };
  return { kind: 'ok', release };
}
