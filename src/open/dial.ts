/**
 * A connection to an upstream, TLS included where its URL says https: one promise, one deadline per phase.
 * Errors of the socket are translated here and nowhere else.
 */
import net from 'node:net';
import tls from 'node:tls';
import type { Fault } from '../core/fault.js';
import type { TimerWheel } from '../core/timer-wheel.js';
import type { Upstream } from '../upstreams/upstream.js';
import { faultKindOf, openFault } from './local-faults.js';
import { NOBODY, Wire } from './wire.js';

/** Lets whoever started an attempt call it off. One stage at a time listens. */
export class Abandonment {
  isAbandoned = false;
  private listener: (() => void) | null = null;

  /** Sets who is told; null for nobody. Replaces the stage before. */
  listen(listener: (() => void) | null): void {
    this.listener = listener;
  }

  /** Calls the attempt off; the stage under way closes its sockets at once. */
  abandon(): void {
    if (this.isAbandoned) return;
    this.isAbandoned = true;
    this.listener?.();
  }
}

/** What opening a connection needs to know. */
export interface OpenOptions {
  readonly wheel: TimerWheel;
  readonly dialMs: number;
  readonly tlsMs: number;
  readonly abandonment: Abandonment;
}

/** A connection that stands. */
export interface Dialled {
  readonly kind: 'wire';
  readonly wire: Wire;
}

/** Dials the upstream and, for https, ends the TLS handshake. Resolves within `dialMs + tlsMs`; never rejects. */
export function dial(upstream: Upstream, options: OpenOptions): Promise<Dialled | Fault> {
  const { abandonment, wheel } = options;
  if (abandonment.isAbandoned) return Promise.resolve(openFault('dial', 'client_gone', 'the client left'));
  let wire: Wire;
  try {
    wire = upstream.protocol === 'https' ? dialTls(upstream) : Wire.dialling(upstream);
  } catch (error) {
    return Promise.resolve(openFault('dial', 'local', `dialling failed: ${(error as Error).message}`));
  }
  return new Promise((resolve) => {
    let phase: 'dial' | 'tls' = 'dial';
    let settled = false;
    const settle = (outcome: Dialled | Fault): void => {
      if (settled) return;
      settled = true;
      deadline.cancel();
      abandonment.listen(null);
      wire.reader = NOBODY;
      if (outcome.kind === 'fault') wire.destroy();
      resolve(outcome);
    };
    const deadline = wheel.arm(options.dialMs, () =>
      settle(openFault(phase, 'timeout', `no ${NEEDED[phase]} in time`)),
    );
    abandonment.listen(() => settle(openFault(phase, 'client_gone', 'the client left')));
    wire.reader = { ...NOBODY, closed: (error) => settle(faultOfClose(error, phase)) };
    wire.socket.once('connect', () => {
      if (upstream.protocol !== 'https') {
        settle({ kind: 'wire', wire });
        return;
      }
      phase = 'tls';
      deadline.restart(options.tlsMs);
    });
    wire.socket.once('secureConnect', () => settle({ kind: 'wire', wire }));
  });
}

const NEEDED = { dial: 'connection', tls: 'TLS session' } as const;

function dialTls(upstream: Upstream): Wire {
  // Node passes allowHalfOpen on to the socket; its types do not say so.
  const options: tls.ConnectionOptions & { allowHalfOpen: boolean } = {
    host: upstream.host,
    port: upstream.port,
    ...(net.isIP(upstream.host) === 0 ? { servername: upstream.host } : {}),
    ...(upstream.tls.ca === null ? {} : { ca: [...tls.rootCertificates, upstream.tls.ca] }),
    rejectUnauthorized: upstream.tls.verify,
    ALPNProtocols: ['http/1.1'],
    allowHalfOpen: true,
  };
  return Wire.around(tls.connect(options));
}

function faultOfClose(error: NodeJS.ErrnoException | null, phase: 'dial' | 'tls'): Fault {
  if (error === null) return openFault(phase, 'closed', 'the upstream closed the connection');
  const kind = faultKindOf(error, phase === 'tls' ? 'tls' : 'unreachable');
  return openFault(
    phase,
    kind,
    `${error.code ?? 'error'} while ${phase === 'tls' ? 'starting TLS' : 'dialling'}`,
  );
}
