/**
 * The only way out: opens a channel for plain requests or a tunnel through an upstream, whatever it speaks.
 * A protocol is one more row here and one more file beside `http.ts`.
 */
import type { Emit } from '../core/events.js';
import type { Fault } from '../core/fault.js';
import type { TimerWheel } from '../core/timer-wheel.js';
import type { HeadLimits, ResponseHead } from '../http1/head.js';
import type { Target } from '../protocol/target.js';
import type { Upstream } from '../upstreams/upstream.js';
import type { UpstreamChannel } from './channel.js';
import type { OpenOptions } from './dial.js';
import { openHttpHop, openHttpTunnel } from './http.js';
import type { IdleConnections } from './idle-connections.js';
import { openFault } from './local-faults.js';
import type { Wire } from './wire.js';

/** What all openings share. */
export interface Opener {
  readonly wheel: TimerWheel;
  readonly idle: IdleConnections;
  readonly headLimits: () => HeadLimits;
  readonly emit: Emit;
  /** Whether the upstream is this gateway itself. */
  readonly isOwn: (upstream: Upstream) => boolean;
}

/** What came of asking for a tunnel. The wire of a tunnel is paused; `rest` came behind the answer. */
export type TunnelOutcome =
  | { readonly kind: 'tunnel'; readonly wire: Wire; readonly rest: Buffer }
  | { readonly kind: 'refused'; readonly head: ResponseHead; readonly bodyPrefix: Buffer }
  | Fault;

/** How a channel is opened. */
export interface HopOptions extends OpenOptions {
  /** Connections are shared only under the same key: exit and session. */
  readonly idleKey: string;
  /** Never take a kept connection, for requests that could not be repeated were it stale. */
  readonly isFresh: boolean;
}

/** A channel on which the request can be sent: a kept one at once, else a new one. */
export function openHop(
  opener: Opener,
  upstream: Upstream,
  options: HopOptions,
): UpstreamChannel | Fault | Promise<UpstreamChannel | Fault> {
  switch (upstream.protocol) {
    case 'http':
    case 'https':
      return openHttpHop(opener, upstream, options);
    default:
      return notSpoken(upstream);
  }
}

/** A tunnel to the target. Nothing was written into it yet. */
export function openTunnel(
  opener: Opener,
  upstream: Upstream,
  ask: OpenOptions & { readonly target: Target; readonly handshakeMs: number; readonly loopTrail: string },
): Promise<TunnelOutcome> {
  if (opener.isOwn(upstream)) return Promise.resolve(LOOP);
  switch (upstream.protocol) {
    case 'http':
    case 'https':
      return openHttpTunnel(opener, upstream, ask);
    default:
      return Promise.resolve(notSpoken(upstream));
  }
}

const LOOP = openFault('dial', 'loop', 'the upstream is this gateway itself');

function notSpoken(upstream: Upstream): Fault {
  return openFault('dial', 'protocol', `${upstream.protocol} upstreams are not supported in this version`);
}
