/**
 * The only way out: opens a channel for plain requests or a tunnel through an upstream, whatever it speaks.
 * A protocol is one more row here and one more file beside `http.ts`.
 */
import type { Clock } from '../core/clock.js';
import type { Failure } from '../core/errors.js';
import type { Emit } from '../core/events.js';
import type { Fault } from '../core/fault.js';
import type { TimerWheel } from '../core/timer-wheel.js';
import type { HeadLimits, ResponseHead } from '../http1/head.js';
import type { Target } from '../protocol/target.js';
import type { Upstream } from '../upstreams/upstream.js';
import type { UpstreamChannel } from './channel.js';
import type { OpenOptions } from './dial.js';
import { directWay, openDirectTunnel } from './direct.js';
import { httpWay, openHttpTunnel } from './http.js';
import { openHttpChannel, type HttpWay } from './http-channel.js';
import type { IdleConnections } from './idle-connections.js';
import type { Resolver } from './resolver.js';
import { openSocksTunnel, socksWay } from './socks.js';
import type { Wire } from './wire.js';

/** What all openings share. */
export interface Opener {
  readonly clock: Clock;
  readonly wheel: TimerWheel;
  readonly idle: IdleConnections;
  readonly headLimits: () => HeadLimits;
  readonly emit: Emit;
  /** Whether dialling this host and port ends at this gateway itself. */
  readonly isOwn: (place: { readonly host: string; readonly port: number }) => boolean;
  /** Names of upstreams. */
  readonly upstreamNames: Resolver;
  /** Names of targets, for `direct://` only: everywhere else the upstream resolves. */
  readonly targetNames: Resolver;
  /** Why this address of the target may not be dialled, or null. Asked for every address that is dialled directly. */
  readonly forbids: (target: Target, address: string) => Failure | null;
}

/** What opening a channel needs to know. */
export interface HopOptions extends OpenOptions {
  readonly target: Target;
  /** Longest wait for the upstream's word that the way to the target stands (SOCKS). */
  readonly handshakeMs: number;
  /** Connections are shared only under the same key: exit and session. */
  readonly idleKey: string;
  /** Never take a kept connection, for requests that could not be repeated were it stale. */
  readonly isFresh: boolean;
}

/** What opening a tunnel needs to know. */
export interface TunnelOptions extends OpenOptions {
  readonly target: Target;
  readonly handshakeMs: number;
  readonly loopTrail: string;
}

/** What came of asking for a tunnel. The wire of a tunnel is paused; `rest` came behind the answer. */
export type TunnelOutcome =
  | { readonly kind: 'tunnel'; readonly wire: Wire; readonly rest: Buffer }
  | { readonly kind: 'refused'; readonly head: ResponseHead; readonly bodyPrefix: Buffer }
  | Fault;

/** A channel on which the request can be sent: a kept one at once, else a new one. */
export function openHop(
  opener: Opener,
  upstream: Upstream,
  options: HopOptions,
): UpstreamChannel | Promise<UpstreamChannel | Fault> {
  return openHttpChannel(wayOf(upstream), opener, upstream, options);
}

function wayOf({ protocol }: Upstream): HttpWay {
  switch (protocol) {
    case 'http':
    case 'https':
      return httpWay;
    case 'socks4':
    case 'socks4a':
    case 'socks5':
    case 'socks5h':
      return socksWay;
    case 'direct':
      return directWay;
  }
}

/** A tunnel to the target. Nothing was written into it yet. */
export function openTunnel(opener: Opener, upstream: Upstream, ask: TunnelOptions): Promise<TunnelOutcome> {
  switch (upstream.protocol) {
    case 'http':
    case 'https':
      return openHttpTunnel(opener, upstream, ask);
    case 'socks4':
    case 'socks4a':
    case 'socks5':
    case 'socks5h':
      return openSocksTunnel(opener, upstream, ask);
    case 'direct':
      return openDirectTunnel(opener, ask);
  }
}
