/**
 * A client that speaks SOCKS5: greeting, login, one CONNECT. The handshake is read by `protocol/socks-server.ts`; what
 * is asked becomes a {@link SocksExchange}. Everything a client may send is bounded in size and time.
 */
import type { Deadline } from '../core/timer-wheel.js';
import type { Wire, WireReader } from '../open/wire.js';
import {
  SocksServerReader,
  socksLoginAnswer,
  socksMethodChosen,
  socksMethods,
  socksReply,
  type SocksServerEvent,
} from '../protocol/socks-server.js';
import type { ConnectionHost, DoorConnection } from './door-connection.js';
import type { Origin } from './exchange.js';
import { basicOfSocks, SocksExchange, type SocksAsk } from './socks-exchange.js';

/** Bytes sent ahead of an answer that are kept before the client is paused. */
const EARLY_BYTES = 64 * 1024;
/** How long a client that was refused may go on sending before the socket is closed on it. */
const LINGER_MS = 2000;

/** `held`: a login or request is being answered and what comes is kept. */
type State = 'handshake' | 'held' | 'lingering' | 'taken' | 'closed';

/** One connection. */
export class SocksConnection implements WireReader, DoorConnection {
  private readonly reader = new SocksServerReader();
  private readonly deadline: Deadline;
  private exchange: SocksExchange | null = null;
  private authorization: string | null = null;
  private state: State = 'handshake';

  constructor(
    readonly wire: Wire,
    readonly origin: Origin,
    readonly host: ConnectionHost,
  ) {
    this.deadline = host.wheel.arm(host.timeouts().clientHeaderMs, () => this.onDeadline());
    wire.reader = this;
  }

  get isOver(): boolean {
    return this.state !== 'held';
  }

  drain(): void {
    if (this.state === 'handshake') this.finished();
  }

  cut(): void {
    this.wire.reset();
  }

  bytes(chunk: Buffer): void {
    if (this.state !== 'handshake' && this.state !== 'held') return;
    this.reader.push(chunk);
    if (this.state === 'handshake') this.advance();
    if (this.reader.heldBytes > EARLY_BYTES) this.wire.pause();
  }

  ended(): void {
    if (this.state !== 'held' || this.exchange?.isFinGone === true) this.wire.destroy();
  }

  closed(): void {
    const { exchange } = this;
    this.state = this.state === 'taken' ? 'taken' : 'closed';
    this.deadline.cancel();
    this.exchange = null;
    exchange?.onGone?.();
    this.host.release(this);
  }

  /** The refusal is said: ends the connection, and reads on for a moment so that it isn't reset away. */
  finished(): void {
    this.state = 'lingering';
    this.exchange = null;
    this.reader.takeRest();
    this.wire.end();
    this.wire.resume();
    this.deadline.restart(LINGER_MS);
  }

  /** Gives the wire away for good, paused, with what came early. */
  takeOver(): readonly Buffer[] {
    this.state = 'taken';
    this.deadline.cancel();
    this.exchange = null;
    this.wire.pause();
    this.host.release(this);
    const rest = this.reader.takeRest();
    return rest.length === 0 ? [] : [rest];
  }

  /** Takes one step after the other, as far as the bytes go. */
  private advance(): void {
    while (this.state === 'handshake') {
      const event = this.reader.next();
      if (event.kind === 'more') return;
      this.take(event);
    }
  }

  private take(event: SocksServerEvent & { kind: Exclude<SocksServerEvent['kind'], 'more'> }): void {
    switch (event.kind) {
      case 'greeting':
        this.onGreeting(event);
        return;
      case 'login':
        this.authorization = basicOfSocks(event.username, event.password);
        this.admit({ refused: socksLoginAnswer(false), admitted: socksLoginAnswer(true) });
        return;
      case 'connect':
        this.deadline.suspend();
        this.host.serve(this.hold({ authority: event.authority, authorization: this.authorization }));
        return;
      case 'unsupported':
        this.wire.write(socksReply(event.reply));
        this.fail(event.detail);
        return;
      case 'fault':
        this.fail(event.detail);
    }
  }

  /** A login is asked for wherever it is offered, since the user name may carry a session. */
  private onGreeting(event: { readonly offersLogin: boolean; readonly offersNone: boolean }): void {
    const unacceptable = socksMethodChosen(socksMethods.unacceptable);
    if (event.offersLogin) {
      this.wire.write(socksMethodChosen(socksMethods.login));
      this.reader.expect('login');
    } else if (!event.offersNone) {
      this.wire.write(unacceptable);
      this.fail('The client offers neither a login nor none.');
    } else {
      this.admit({ refused: unacceptable, admitted: socksMethodChosen(socksMethods.none) });
    }
  }

  /** Goes on where the login so far will do, perhaps after a while; else the refusal is said. */
  private admit(answers: { readonly refused: Buffer; readonly admitted: Buffer }): void {
    const exchange = this.hold({
      ...{ authority: '', authorization: this.authorization, refusal: answers.refused },
    });
    this.host.checkLogin(exchange, () => {
      if (this.exchange !== exchange) return;
      this.exchange = null;
      this.state = 'handshake';
      this.wire.write(answers.admitted);
      this.reader.expect('request');
      this.advance();
    });
  }

  private hold(ask: SocksAsk): SocksExchange {
    this.state = 'held';
    this.exchange = new SocksExchange(this, ask);
    return this.exchange;
  }

  private fail(detail: string): void {
    this.host.onUnusable(this.origin, { reason: 'socks_handshake', detail });
    this.finished();
  }

  private onDeadline(): void {
    if (this.state === 'lingering') this.wire.destroy();
    // Its login is being checked, which is our time and not the client's.
    else if (this.state === 'held') this.deadline.restart(this.host.timeouts().clientHeaderMs);
    else if (this.state === 'handshake') this.fail('The SOCKS handshake did not end in time.');
  }
}
