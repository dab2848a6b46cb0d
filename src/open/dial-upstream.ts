/** From an upstream to a connection with it: its name is resolved, and it must not be this gateway itself. */
import net from 'node:net';
import type { Fault } from '../core/fault.js';
import type { Upstream } from '../upstreams/upstream.js';
import { dial, type Dialled, type OpenOptions } from './dial.js';
import { openFault } from './local-faults.js';
import type { Opener } from './open.js';
import type { Resolution } from './resolver.js';

/** What is left of a limit for a later phase, when the first began at `startedMs`. */
export function leftMs(opener: Opener, options: OpenOptions, startedMs: number, limitMs: number): number {
  const spentMs = opener.clock.nowMs() - startedMs;
  return Math.max(1, Math.min(limitMs, options.remainingMs - spentMs));
}

/** Dials the upstream, TLS included for https. Resolves within `dialMs + tlsMs`, look-up included; never rejects. */
export function dialUpstream(
  opener: Opener,
  upstream: Upstream,
  options: OpenOptions,
): Promise<Dialled | Fault> {
  if (opener.isOwn(upstream)) return Promise.resolve(LOOP);
  if (net.isIP(upstream.host) !== 0) return dialAt(opener, upstream, [], options);
  const known = opener.upstreamNames.known(upstream.host);
  if (known !== null) return dialResolved(opener, upstream, known, options);
  const { wheel, abandonment, dialMs } = options;
  const startedMs = opener.clock.nowMs();
  return opener.upstreamNames.find(upstream.host, { wheel, abandonment, ms: dialMs }).then((resolution) => {
    const spentMs = opener.clock.nowMs() - startedMs;
    return dialResolved(opener, upstream, resolution, { ...options, dialMs: Math.max(1, dialMs - spentMs) });
  });
}

function dialResolved(
  opener: Opener,
  upstream: Upstream,
  resolution: Resolution,
  options: OpenOptions,
): Promise<Dialled | Fault> {
  if (resolution.kind === 'addresses') return dialAt(opener, upstream, resolution.addresses, options);
  if (options.abandonment.isAbandoned)
    return Promise.resolve(openFault('dial', 'client_gone', 'the client left'));
  const detail = `the name of the upstream does not resolve (${resolution.code})`;
  return Promise.resolve(openFault('dial', 'dns', detail));
}

async function dialAt(
  opener: Opener,
  upstream: Upstream,
  addresses: readonly string[],
  options: OpenOptions,
): Promise<Dialled | Fault> {
  const { host, port, protocol } = upstream;
  if (addresses.some((address) => opener.isOwn({ host: address, port }))) return LOOP;
  const place = { host, port, addresses, tls: protocol === 'https' ? upstream.tls : null };
  opener.idle.makeRoom();
  const dialled = await dial(place, options);
  if (dialled.kind === 'wire') noteOpened(opener, dialled);
  return dialled;
}

/** The upstream leads back in. */
const LOOP = openFault('dial', 'loop', 'the upstream is this gateway itself');

/** Counts a connection, and its end. */
export function noteOpened(opener: Opener, { wire }: Dialled): void {
  opener.emit({ type: 'upstream_connection', what: 'opened' });
  wire.socket.once('close', () => opener.emit({ type: 'upstream_connection', what: 'closed' }));
}
