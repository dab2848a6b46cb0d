/**
 * Where requests come in: accepts connections, keeps to the limits, hands each request on, and drains when told.
 * The straight line begins here: accept → parse (`client-connection.ts`) → understand → attempt → answer.
 */
import net from 'node:net';
import type { Failure } from '../core/errors.js';
import { Wire } from '../open/wire.js';
import { ClientConnection, type ConnectionHost } from './client-connection.js';
import { ConnectionClaims } from './connection-claims.js';
import type { ClientExchange, Origin } from './exchange.js';
import { serveForward } from './forward.js';
import { refuse } from './respond.js';
import type { GatewayServices } from './services.js';
import { Trace } from './trace.js';
import { serveTunnel } from './tunnel.js';
import { understand, type ListenerDefaults, type Refused } from './understand.js';

const BACKLOG = 4096;

/** Where a listener listens. */
export interface ListenAt {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
}

/** One listening port of the proxy. */
export class Listener implements ConnectionHost {
  readonly wheel: GatewayServices['wheel'];
  private readonly server: net.Server;
  private readonly connections = new Set<ClientConnection>();
  private readonly perAddress = new Map<string, number>();
  private readonly claims: ConnectionClaims;
  private draining = false;

  constructor(
    private readonly services: GatewayServices,
    private defaults: ListenerDefaults,
  ) {
    this.wheel = services.wheel;
    this.claims = new ConnectionClaims(services.rateLimits);
    this.server = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      this.onConnection(socket),
    );
    this.server.on('error', (error: NodeJS.ErrnoException) => this.onServerError(error));
  }

  /** Begins to listen. @throws the system's error when the address can't be had. */
  listen(at: ListenAt): Promise<ListenAt> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen({ host: at.host, port: at.port, backlog: BACKLOG }, () => {
        this.server.off('error', reject);
        const address = this.server.address() as net.AddressInfo;
        resolve({ host: address.address, port: address.port });
      });
    });
  }

  /** Takes over what another configuration says of this listener, for the requests to come. */
  use(defaults: ListenerDefaults): void {
    this.defaults = defaults;
  }

  /** Takes no more connections, closes idle ones, and the others after the answer under way. */
  drain(): void {
    this.draining = true;
    this.server.close();
    for (const connection of [...this.connections]) connection.drain();
  }

  /** How many client connections speak HTTP here; tunnels that stand are counted elsewhere. */
  get connectionCount(): number {
    return this.connections.size;
  }

  /** How many requests are under way here, tunnels that stand aside. */
  get exchangeCount(): number {
    let count = 0;
    for (const connection of this.connections) if (!connection.isOver) count++;
    return count;
  }

  /** Ends every connection at once; returns how many answers were cut by it. */
  cut(): number {
    let count = 0;
    for (const connection of [...this.connections]) {
      if (!connection.isOver) count++;
      connection.wire.reset();
    }
    return count;
  }

  // --- what a connection asks of its host ---

  timeouts(): ReturnType<ConnectionHost['timeouts']> {
    return this.services.rules().runtime.timeouts;
  }

  limits(): ReturnType<ConnectionHost['limits']> {
    return this.services.rules().runtime.limits;
  }

  nowMs(): number {
    return this.services.clock.nowMs();
  }

  isDraining(): boolean {
    return this.draining;
  }

  serve(exchange: ClientExchange): void {
    const trace = new Trace(this.services.ids.next(), exchange);
    this.run(exchange, trace).catch((error: unknown) => this.onInternalError(exchange, trace, error));
  }

  refuse(exchange: ClientExchange, failure: Failure): void {
    refuse(this.services, exchange, new Trace(this.services.ids.next(), exchange), failure);
  }

  onTlsHello(origin: Origin): void {
    this.services.emit({
      type: 'connection_refused',
      listener: origin.listener,
      clientAddress: origin.remoteAddress,
      reason: 'tls_hello',
      detail:
        'The client speaks TLS to a plain port: its proxy URL should begin with http://, also for https targets.',
    });
  }

  release(connection: ClientConnection): void {
    this.connections.delete(connection);
  }

  /** Held back after many failed logins, so that guessing is slow. */
  private refuseAsked(exchange: ClientExchange, trace: Trace, asked: Refused): void {
    const answer = (): void => refuse(this.services, exchange, trace, asked.failure);
    const delayMs = asked.delayMs ?? 0;
    if (delayMs === 0) answer();
    else this.wheel.arm(delayMs, answer);
  }

  private async run(exchange: ClientExchange, trace: Trace): Promise<void> {
    const { services } = this;
    const asked = understand(services, exchange, this.defaults, trace);
    if (asked.kind === 'refused') {
      this.refuseAsked(exchange, trace, asked);
      return;
    }
    const overLimit = this.claims.claim(exchange.origin, asked.client, this.nowMs());
    if (overLimit !== null) {
      exchange.closeAfter();
      refuse(services, exchange, trace, overLimit);
      return;
    }
    const isTunnel = asked.context.kind === 'tunnel';
    const admitted = services.rateLimits.admit(asked.client, isTunnel ? 'tunnel' : 'exchange', this.nowMs());
    if (admitted.kind === 'limited') {
      const { detail, retryAfterMs } = admitted;
      refuse(services, exchange, trace, { code: 'client_limited', detail, retryAfterMs });
      return;
    }
    try {
      const serveIt = isTunnel ? serveTunnel : serveForward;
      await serveIt(services, exchange, asked, trace);
    } finally {
      admitted.release();
    }
  }

  private onConnection(socket: net.Socket): void {
    const remoteAddress = plainAddress(socket.remoteAddress);
    const origin: Origin = { listener: this.defaults.name, remoteAddress };
    const wire = Wire.around(socket);
    // Told by the socket itself: whoever reads it last, opened = closed + open holds.
    socket.once('close', () => this.onDisconnected(origin));
    this.services.emit({ type: 'client_connected', listener: this.defaults.name });
    const connection = new ClientConnection(wire, origin, this);
    const failure = this.overLimit(remoteAddress);
    this.connections.add(connection);
    this.perAddress.set(remoteAddress, (this.perAddress.get(remoteAddress) ?? 0) + 1);
    if (failure !== null) this.turnAway(connection, failure);
  }

  private overLimit(remoteAddress: string): string | null {
    const limits = this.limits();
    if (this.connections.size + this.services.relays.size >= limits.connections) return 'limits.connections';
    const fromThere = this.perAddress.get(remoteAddress) ?? 0;
    return fromThere >= limits.connectionsPerAddress ? 'limits.connections_per_address' : null;
  }

  /** Says why before closing, so that the crawler does not see a bare reset. */
  private turnAway(connection: ClientConnection, limit: string): void {
    const { origin } = connection;
    const detail = `${limit} is reached.`;
    this.services.emit({
      type: 'connection_refused',
      listener: origin.listener,
      clientAddress: origin.remoteAddress,
      reason: 'over_limit',
      detail,
    });
    connection.turnAway({ code: 'overloaded', detail, retryAfterMs: 1000 });
  }

  private onDisconnected(origin: Origin): void {
    const { remoteAddress } = origin;
    this.claims.release(origin);
    this.services.emit({ type: 'client_disconnected', listener: this.defaults.name });
    const left = (this.perAddress.get(remoteAddress) ?? 1) - 1;
    if (left <= 0) this.perAddress.delete(remoteAddress);
    else this.perAddress.set(remoteAddress, left);
  }

  private onInternalError(exchange: ClientExchange, trace: Trace, error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.services.emit({
      type: 'note',
      level: 'error',
      what: 'internal_error',
      detail: { requestId: trace.requestId, error: text },
    });
    if (exchange.isCommitted) exchange.abort();
    else
      refuse(this.services, exchange, trace, {
        code: 'internal_error',
        detail: 'The gateway failed; its log has the cause.',
      });
    trace.finish(this.services.emit, this.nowMs(), 'failed');
  }

  /** Out of descriptors and the like: the server goes on listening. */
  private onServerError(error: NodeJS.ErrnoException): void {
    if (!this.server.listening) return;
    this.services.emit({
      type: 'connection_refused',
      listener: this.defaults.name,
      clientAddress: '',
      reason: 'own_fault',
      detail: `a connection could not be accepted: ${error.code ?? error.message}`,
    });
  }
}

/** The address without the IPv6 wrapping that dual-stack sockets put round IPv4. */
function plainAddress(address: string | undefined): string {
  if (address === undefined) return '';
  return address.startsWith('::ffff:') ? address.slice(7) : address;
}
