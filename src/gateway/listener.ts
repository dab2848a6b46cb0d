/**
 * Where requests come in: accepts connections, keeps to the limits, hands each request on, and drains when told.
 * The straight line begins here: accept → first byte (`arrival.ts`) → parse (`client-connection.ts`,
 * `socks-connection.ts`) → understand → attempt → answer.
 */
import net from 'node:net';
import type { AuthResult, Settled } from '../access/clients.js';
import type { Failure } from '../core/errors.js';
import type { Wire } from '../open/wire.js';
import { cidrContains, parseAddress } from '../protocol/address.js';
import { Arrival, type ArrivalHost, type Spoken } from './arrival.js';
import { ClientConnection } from './client-connection.js';
import { ConnectionClaims } from './connection-claims.js';
import type { ConnectionHost, DoorConnection, Unusable } from './door-connection.js';
import type { ClientExchange, Origin } from './exchange.js';
import { orGone } from './or-gone.js';
import { passOver } from './pass-over.js';
import { failInternally, refuse, refuseAsked } from './respond.js';
import type { GatewayServices } from './services.js';
import { serveWithin } from './serve-within.js';
import { SocksConnection } from './socks-connection.js';
import { Trace } from './trace.js';
import { authenticate, challenged, understand } from './understand.js';
import type { Authenticated, ListenerDefaults } from './understand.js';

const BACKLOG = 4096;

/** Where a listener listens. */
export interface ListenAt {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
}

/** One listening port of the proxy. */
export class Listener implements ConnectionHost, ArrivalHost {
  readonly wheel: GatewayServices['wheel'];
  private readonly server: net.Server;
  private readonly connections = new Set<DoorConnection>();
  private readonly claims: ConnectionClaims;
  /** Connections whose client is known and counted. */
  private readonly counted = new Set<Origin>();
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

  /** How many client connections are under way here; tunnels that stand are counted elsewhere. */
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
      connection.cut();
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
    const overload = this.services.admission.refusal(exchange.startedMs);
    if (overload !== null) {
      refuse(this.services, exchange, trace, overload);
      return;
    }
    try {
      this.run(exchange, trace).catch((error: unknown) =>
        failInternally(this.services, exchange, trace, error),
      );
    } catch (error) {
      failInternally(this.services, exchange, trace, error);
    }
  }

  refuse(exchange: ClientExchange, failure: Failure): void {
    refuse(this.services, exchange, new Trace(this.services.ids.next(), exchange), failure);
  }

  checkLogin(exchange: ClientExchange, admitted: () => void): void {
    const auth = authenticate(this.services, exchange, this.defaults);
    if (auth.kind === 'client') admitted();
    else this.checkLater(exchange, auth, admitted);
  }

  private checkLater(exchange: ClientExchange, auth: AuthResult, admitted: () => void): void {
    const trace = new Trace(this.services.ids.next(), exchange);
    if (auth.kind === 'pending') {
      orGone(exchange, auth.settled)
        .then((settled) => settled !== null && this.checkLater(exchange, settled, admitted))
        .catch((error: unknown) => failInternally(this.services, exchange, trace, error));
      return;
    }
    // What is wrong with a user name beside the login is said when the request is whole.
    if (auth.kind !== 'challenge') admitted();
    else refuseAsked(this.services, exchange, trace, challenged(auth));
  }

  onUnusable(origin: Origin, what: Unusable): void {
    this.services.emit({
      type: 'connection_refused',
      listener: origin.listener,
      clientAddress: origin.remoteAddress,
      ...what,
    });
  }

  release(connection: DoorConnection): void {
    this.connections.delete(connection);
  }

  // --- what an arrival asks of its host ---

  get tls(): ListenerDefaults['tls'] {
    return this.defaults.tls;
  }

  named(arrival: Arrival, source: string | null): boolean {
    if (source !== null) arrival.origin = { ...arrival.origin, remoteAddress: source };
    return this.admits(arrival);
  }

  settle(arrival: Arrival, wire: Wire, first: { spoken: Spoken; bytes: Buffer }): void {
    const connection =
      first.spoken === 'socks'
        ? new SocksConnection(wire, arrival.origin, this)
        : new ClientConnection(wire, arrival.origin, this);
    this.connections.add(connection);
    connection.bytes(first.bytes);
  }

  private run(exchange: ClientExchange, trace: Trace): Promise<void> {
    const auth = authenticate(this.services, exchange, this.defaults);
    return auth.kind === 'pending'
      ? this.runLater(exchange, trace, auth.settled)
      : this.runAs({ exchange, auth }, trace);
  }

  /** For a login that costs a hash. */
  private async runLater(exchange: ClientExchange, trace: Trace, login: Promise<Settled>): Promise<void> {
    const auth = await orGone(exchange, login);
    if (auth === null) trace.leave(this.services.emit, this.nowMs());
    else await this.runAs({ exchange, auth }, trace);
  }

  private runAs(asking: Authenticated, trace: Trace): Promise<void> {
    const { services } = this;
    const { exchange } = asking;
    const asked = understand(services, asking, this.defaults, trace);
    if (asked.kind === 'refused') {
      refuseAsked(services, exchange, trace, asked);
      return Promise.resolve();
    }
    const overLimit = this.claims.claim(exchange.origin, asked.client, this.nowMs());
    if (overLimit !== null) {
      exchange.closeAfter();
      refuse(services, exchange, trace, overLimit);
      return Promise.resolve();
    }
    return serveWithin(services, exchange, asked, trace);
  }

  private onConnection(socket: net.Socket): void {
    const remoteAddress = socket.remoteAddress?.replace(/^::ffff:/, '');
    // Whoever is reset before we look has no address any more, and can't be let in as anybody.
    if (remoteAddress === undefined) {
      for (const type of ['client_connected', 'client_disconnected'] as const)
        this.services.emit({ type, listener: this.defaults.name });
      socket.destroy();
      return;
    }
    socket.once('close', () => this.services.doors.closed());
    if (!this.services.doors.opened()) {
      passOver(this.services, this.defaults, socket, remoteAddress);
      return;
    }
    const isAnnounced = this.isBalancer(remoteAddress);
    const arrival = new Arrival(socket, { listener: this.defaults.name, remoteAddress }, this, isAnnounced);
    // Told by the socket itself: whoever reads it last, opened = closed + open holds.
    socket.once('close', () => this.onDisconnected(arrival.origin));
    this.services.emit({ type: 'client_connected', listener: this.defaults.name });
    this.connections.add(arrival);
    // Whoever stands behind a balancer is counted once it is known.
    if (!isAnnounced) this.admits(arrival);
  }

  /** Whether this peer says who it speaks for. */
  private isBalancer(remoteAddress: string): boolean {
    const { proxyFrom } = this.defaults;
    const address = proxyFrom.length === 0 ? null : parseAddress(remoteAddress);
    return address !== null && proxyFrom.some((range) => cidrContains(range, address));
  }

  /** Counts the arrival; one too many is told why before it is closed, so that the crawler does not see a bare reset. */
  private admits(arrival: Arrival): boolean {
    const { origin } = arrival;
    this.counted.add(origin);
    const limit = this.services.doors.enter(origin.remoteAddress);
    if (limit === null) return true;
    const detail = `${limit} is reached.`;
    this.services.emit({
      type: 'connection_refused',
      listener: origin.listener,
      clientAddress: origin.remoteAddress,
      reason: 'over_limit',
      detail,
    });
    const connection = new ClientConnection(arrival.takeWire(), origin, this);
    this.connections.add(connection);
    connection.turnAway({ code: 'overloaded', detail, retryAfterMs: 1000 });
    return false;
  }

  private onDisconnected(origin: Origin): void {
    this.claims.release(origin);
    this.services.emit({ type: 'client_disconnected', listener: this.defaults.name });
    if (this.counted.delete(origin)) this.services.doors.leave(origin.remoteAddress);
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
