/**
 * A connection of which nothing is known yet: reads what a balancer says in front (PROXY protocol), ends TLS where the
 * listener has a certificate, and looks at the first byte to find out what is spoken. Then it hands the socket on and is
 * forgotten. Works on the bare socket, since TLS wants that one.
 */
import type net from 'node:net';
import tls from 'node:tls';
import type { Deadline } from '../core/timer-wheel.js';
import { Wire } from '../open/wire.js';
import { ProxyHeaderReader } from '../protocol/proxy-protocol.js';
import type { ConnectionHost, DoorConnection } from './door-connection.js';
import type { Origin } from './exchange.js';

/** First bytes by which protocols are told apart; everything else is taken for HTTP. */
const TLS_RECORD = 0x16;
const SOCKS5 = 5;
/** What is offered in TLS: HTTP/2 is not spoken here. */
const PROTOCOLS = ['http/1.1'];

/** What a client turned out to speak. */
export type Spoken = 'http' | 'socks';

/** What an arrival needs of its listener. */
export interface ArrivalHost extends Pick<ConnectionHost, 'wheel' | 'timeouts' | 'onUnusable' | 'release'> {
  /** The certificate that clients may ask for, or null. */
  readonly tls: tls.SecureContext | null;
  /** The balancer named the client, or nobody (null). False when the client may not come in; it is seen to then. */
  named(arrival: Arrival, source: string | null): boolean;
  /** Takes the connection over with its first bytes. */
  settle(arrival: Arrival, wire: Wire, first: { readonly spoken: Spoken; readonly bytes: Buffer }): void;
}

/** One arrival. */
export class Arrival implements DoorConnection {
  readonly isOver = true;
  /** Replaced when a balancer names the client. */
  origin: Origin;
  private readonly header: ProxyHeaderReader | null;
  private readonly deadline: Deadline;
  private socket: net.Socket;
  private onData: (chunk: Buffer) => void = ignore;

  /** @param isAnnounced whether a PROXY protocol header must come first */
  constructor(
    private readonly raw: net.Socket,
    origin: Origin,
    private readonly host: ArrivalHost,
    isAnnounced: boolean,
  ) {
    this.socket = raw;
    this.origin = origin;
    this.header = isAnnounced ? new ProxyHeaderReader() : null;
    this.deadline = host.wheel.arm(host.timeouts().clientHeaderMs, () => this.onDeadline());
    this.listen(isAnnounced ? this.readHeader : this.sniff);
  }

  drain(): void {
    this.leave();
    this.raw.destroySoon();
  }

  cut(): void {
    this.leave();
    this.raw.destroy();
  }

  /** Ends the arrival and gives its wire to whoever speaks with the client from now on. */
  takeWire(): Wire {
    this.leave();
    return Wire.around(this.socket, this.raw);
  }

  private listen(onData: (chunk: Buffer) => void): void {
    const { socket } = this;
    this.onData = onData;
    socket.on('data', onData);
    socket.on('end', this.onEnd);
    socket.on('close', this.onClose);
    socket.on('error', ignore);
  }

  private ignoreSocket(): void {
    this.socket.off('data', this.onData);
    this.socket.off('end', this.onEnd);
    this.socket.off('close', this.onClose);
  }

  private leave(): void {
    this.deadline.cancel();
    this.ignoreSocket();
    this.host.release(this);
  }

  private readonly onEnd = (): void => this.drain();

  private readonly onClose = (): void => this.leave();

  private onDeadline(): void {
    if (this.socket !== this.raw) this.refuse('tls_failed', 'TLS was not established in time.');
    else if (this.header !== null) this.refuse('proxy_header', 'No whole PROXY header came in time.');
    else this.drain();
  }

  private readonly readHeader = (chunk: Buffer): void => {
    const step = this.header?.push(chunk);
    if (step === undefined || step.kind === 'more') return;
    if (step.kind === 'bad') {
      this.refuse('proxy_header', step.detail);
      return;
    }
    this.ignoreSocket();
    if (!this.host.named(this, step.source)) return;
    this.listen(this.sniff);
    if (step.rest.length > 0) this.sniff(step.rest);
  };

  private readonly sniff = (chunk: Buffer): void => {
    const [first] = chunk;
    if (first === TLS_RECORD && this.host.tls !== null && this.socket === this.raw) {
      this.startTls(chunk, this.host.tls);
      return;
    }
    this.deadline.cancel();
    const wire = this.takeWire();
    this.host.settle(this, wire, { spoken: first === SOCKS5 ? 'socks' : 'http', bytes: chunk });
  };

  /** Puts TLS on the socket, the hello put back in front; what comes out of it is looked at in the same way. */
  private startTls(hello: Buffer, secureContext: tls.SecureContext): void {
    const { raw } = this;
    this.ignoreSocket();
    raw.pause();
    raw.unshift(hello);
    const secured = new tls.TLSSocket(raw, { isServer: true, secureContext, ALPNProtocols: PROTOCOLS });
    this.socket = secured;
    secured.once('error', (error: NodeJS.ErrnoException) => {
      this.host.onUnusable(this.origin, {
        reason: 'tls_failed',
        detail: `TLS with the client failed: ${error.code ?? 'no reason given'}`,
      });
    });
    secured.once('secure', () => {
      secured.removeAllListeners('error');
      secured.on('error', ignore);
    });
    this.listen(this.sniff);
  }

  private refuse(reason: 'tls_failed' | 'proxy_header', detail: string): void {
    this.host.onUnusable(this.origin, { reason, detail });
    this.cut();
  }
}

/** The close that follows says enough; a socket without this listener would end the process. */
function ignore(): void {
  // Nothing to do.
}
