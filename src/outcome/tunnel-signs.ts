/**
 * What the end of a tunnel that nobody looks into says of its exit. Each sign alone is weak: a site closes early, a client
 * offers a bad certificate. They count together, for an exit at a site, and only where another exit was good there
 * meanwhile: what all exits get is the site's own.
 */
import { dropEldest } from '../core/eldest.js';
import { smoothed } from '../core/smoothed.js';

/** How a tunnel ended, as its bytes told. */
export interface TunnelEnd {
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** First byte from the client and from the target; -1 where there was none. */
  readonly firstIn: number;
  readonly firstOut: number;
  /** Whether the far side ended first, by FIN or reset. */
  readonly isFarEnd: boolean;
}

/**
 * `cut`: it ended before its first byte; `silence`: nothing came for as long as it stood; `alert`: a TLS hello was answered
 * by an alert; `tiny`: much less came than usual, and the far side ended it.
 */
export type TunnelSign = 'cut' | 'silence' | 'alert' | 'tiny';

/** What to hold against an exit. */
export interface SignCount {
  readonly kinds: readonly TunnelSign[];
  readonly count: number;
}

const TLS_HANDSHAKE = 0x16;
const TLS_ALERT = 0x15;
const TINY_BYTES = 16 * 1024;
const TINY_SHARE = 0.1;
/** Weight of the newest tunnel in what is usual. */
const SMOOTHING = 0.2;
/** Signs of one kind that agree; of two kinds it takes two. */
const ENOUGH = 3;
const MOST_SITES = 5000;
const MOST_EXITS = 1000;

/**
 * The sign in the end of a tunnel, or null.
 * @param usualOut bytes that tunnels to this site bring; 0 where that is not known
 */
export function signOf(end: TunnelEnd, usualOut: number): TunnelSign | null {
  if (end.bytesIn === 0) return null;
  if (end.bytesOut === 0) return end.isFarEnd ? 'cut' : 'silence';
  if (end.firstIn === TLS_HANDSHAKE && isAlert(end.firstOut)) return 'alert';
  const isTiny = end.bytesOut < TINY_BYTES && end.bytesOut < usualOut * TINY_SHARE;
  return isTiny && end.isFarEnd ? 'tiny' : null;
}

/** Whether what came first is a TLS alert, which is no good answer to anything. */
export function isAlert(firstOut: number): boolean {
  return firstOut === TLS_ALERT;
}

interface Held {
  readonly sinceMs: number;
  readonly kinds: readonly TunnelSign[];
  readonly count: number;
}

interface SiteTunnels {
  usualOut: number;
  /** The exits of the last two good tunnels that were not the same, the newer first. */
  good: readonly { readonly exit: number; readonly atMs: number }[];
  readonly exits: Map<number, Held>;
}

/** Counts signs, by site and exit; one for the process. Bounded: the site known for the longest goes first. */
export class TunnelSigns {
  readonly #sites = new Map<string, SiteTunnels>();

  /** @param windowMs within how long signs have to come together */
  constructor(private readonly windowMs: () => number) {}

  /** Takes in the end of a tunnel: the sign in it, and what to hold against the exit, if it is enough. */
  saw(
    site: string,
    exit: number,
    end: TunnelEnd,
    nowMs: number,
  ): { readonly sign: TunnelSign | null; readonly against: SignCount | null } {
    const tunnels = this.#tunnelsOf(site);
    const sign = signOf(end, tunnels.usualOut);
    if (sign !== null) return { sign, against: this.#hold(tunnels, exit, sign, nowMs) };
    if (end.bytesOut > 0) noteGood(tunnels, exit, end.bytesOut, nowMs);
    return { sign, against: null };
  }

  #hold(tunnels: SiteTunnels, exit: number, sign: TunnelSign, nowMs: number): SignCount | null {
    const known = tunnels.exits.get(exit);
    const before = known !== undefined && nowMs - known.sinceMs <= this.windowMs() ? known : null;
    const kinds = before?.kinds ?? [];
    const held: Held = {
      sinceMs: before?.sinceMs ?? nowMs,
      kinds: kinds.includes(sign) ? kinds : [...kinds, sign],
      count: (before?.count ?? 0) + 1,
    };
    const isEnough = held.count >= ENOUGH || held.kinds.length > 1;
    const other = tunnels.good.find((good) => good.exit !== exit);
    if (isEnough && other !== undefined && other.atMs >= nowMs - this.windowMs()) {
      tunnels.exits.delete(exit);
      return held;
    }
    if (known === undefined && tunnels.exits.size >= MOST_EXITS) dropEldest(tunnels.exits);
    tunnels.exits.set(exit, held);
    return null;
  }

  #tunnelsOf(site: string): SiteTunnels {
    const known = this.#sites.get(site);
    if (known !== undefined) return known;
    if (this.#sites.size >= MOST_SITES) dropEldest(this.#sites);
    const made: SiteTunnels = { usualOut: 0, good: [], exits: new Map() };
    this.#sites.set(site, made);
    return made;
  }
}

function noteGood(tunnels: SiteTunnels, exit: number, bytesOut: number, nowMs: number): void {
  const { usualOut } = tunnels;
  tunnels.usualOut = smoothed(usualOut, bytesOut, SMOOTHING);
  tunnels.exits.delete(exit);
  const other = tunnels.good.find((good) => good.exit !== exit);
  const latest = { exit, atMs: nowMs };
  tunnels.good = other === undefined ? [latest] : [latest, other];
}
