/**
 * A connection to a place, TLS included where it wants that: one promise, one deadline per phase.
 * Errors of the socket are translated here and nowhere else. Names were resolved before (`dial-upstream.ts`,
 * `direct.ts`): what is dialled is one of the addresses handed in, and nothing else.
 */
import net from 'node:net';
import tls from 'node:tls';
import type { Fault } from '../core/fault.js';
import type { TimerWheel } from '../core/timer-wheel.js';
import type { UpstreamTls } from '../upstreams/upstream.js';
import { faultKindOf, openFault } from './local-faults.js';
import { secureContextOf, tlsTrouble } from './tls-trust.js';
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
  /** What is left for all phases together. */
  readonly remainingMs: number;
  readonly abandonment: Abandonment;
}

/** A connection that stands. */
export interface Dialled {
  readonly kind: 'wire';
  readonly wire: Wire;
}

/** Where to go. */
export interface Place {
  /** Name or address, without brackets: what a certificate must be for. */
  readonly host: string;
  readonly port: number;
  /** The addresses of a name, tried in turn; empty where `host` is an address. */
  readonly addresses: readonly string[];
  /** Null for plain TCP. */
  readonly tls: UpstreamTls | null;
}

/** How long one of several addresses is waited for before the next is tried. */
const NEXT_ADDRESS_MS = 1000;

/** Dials and, where asked for, ends the TLS handshake. Resolves within `dialMs + tlsMs`; never rejects. */
export function dial(place: Place, options: OpenOptions): Promise<Dialled | Fault> {
  const { abandonment, wheel } = options;
  if (abandonment.isAbandoned) return Promise.resolve(openFault('dial', 'client_gone', 'the client left'));
  let wire: Wire;
  try {
    wire = place.tls === null ? Wire.dialling(tcpOptions(place)) : dialTls(place, place.tls);
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
      if (place.tls === null) {
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

/** A name is never looked up again here: its addresses stand in for the look-up. */
function tcpOptions({ host, port, addresses }: Place): net.TcpNetConnectOpts {
  if (addresses.length === 0) return { host, port };
  const found = addresses.map((address) => ({ address, family: net.isIP(address) }));
  const lookup: net.LookupFunction = (_host, options, done) => {
    const [first = { address: '', family: 0 }] = found;
    process.nextTick(() => {
      if (options.all === true) done(null, found);
      else done(null, first.address, first.family);
    });
  };
  return { host, port, lookup, autoSelectFamily: true, autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS };
}

function dialTls(place: Place, trust: UpstreamTls): Wire {
  const servername = trust.servername ?? (net.isIP(place.host) === 0 ? place.host : null);
  // Node passes allowHalfOpen and the TCP options on to the socket; its types do not say so.
  const options: tls.ConnectionOptions & { allowHalfOpen: boolean } = {
    ...tcpOptions(place),
    ...(servername === null ? {} : { servername }),
    secureContext: secureContextOf(trust),
    rejectUnauthorized: trust.verify,
    ALPNProtocols: ['http/1.1'],
    allowHalfOpen: true,
  };
  return Wire.around(tls.connect(options));
}

function faultOfClose(error: NodeJS.ErrnoException | null, phase: 'dial' | 'tls'): Fault {
  if (error === null) return openFault(phase, 'closed', 'the upstream closed the connection');
  const kind = faultKindOf(error, phase === 'tls' ? 'tls' : 'unreachable');
  if (kind === 'tls') return openFault('tls', 'tls', tlsTrouble(error));
  return openFault(
    phase,
    kind,
    `${error.code ?? 'error'} while ${phase === 'tls' ? 'starting TLS' : 'dialling'}`,
  );
}
