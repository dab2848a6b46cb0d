/**
 * A SOCKS5 CONNECT as the rest of the gateway sees it: the same exchange as an HTTP CONNECT, its login as Basic
 * credentials, its answer said in SOCKS' words. Nobody behind `ClientExchange` knows the difference.
 */
import type { ByteMeter } from '../access/rate-limit.js';
import { Fields } from '../http1/fields.js';
import type { RequestHead } from '../http1/head.js';
import { socksReply, socksReplies, socksReplyFor } from '../protocol/socks-server.js';
import type { AnswerHead, ClientExchange, Origin, TakenOver } from './exchange.js';
import type { SocksConnection } from './socks-connection.js';

/** What the client asks for so far; `authority` is empty while it only logs in. */
export interface SocksAsk {
  readonly authority: string;
  /** Of the login, or null where there was none. */
  readonly authorization: string | null;
  /** What a refusal is said by; a reply to the request where not given. */
  readonly refusal?: Buffer;
}

/** The head that an HTTP client would have sent. */
export function headOfSocks({ authority, authorization }: SocksAsk): RequestHead {
  const fields = authorization === null ? Fields.empty() : Fields.of(['Proxy-Authorization', authorization]);
  return { method: 'CONNECT', target: authority, minor: 1, fields };
}

/** A user name and password as the value of Proxy-Authorization, byte for byte; null for two empty ones. */
export function basicOfSocks(username: Buffer, password: Buffer): string | null {
  if (username.length === 0 && password.length === 0) return null;
  const pair = Buffer.concat([username, Buffer.from(':'), password]);
  return `Basic ${pair.toString('base64')}`;
}

/** The SOCKS5 implementation of {@link ClientExchange}. */
export class SocksExchange implements ClientExchange {
  readonly head: RequestHead;
  readonly origin: Origin;
  readonly startedMs: number;
  readonly framing = { kind: 'none' } as const;
  readonly body = null;
  readonly bytesIn = 0;
  readonly bytesOut = 0;
  readonly bodyFault = null;
  isCommitted = false;
  isFinGone = false;
  onGone: (() => void) | null = null;
  meter: ByteMeter | null = null;

  constructor(
    private readonly connection: SocksConnection,
    private readonly ask: SocksAsk,
  ) {
    this.head = headOfSocks(ask);
    this.origin = connection.origin;
    this.startedMs = connection.host.nowMs();
  }

  /** SOCKS has no interim answers. */
  interim(): void {
    return;
  }

  /** Only refusals come this way: one that stands is taken over. */
  respond(head: AnswerHead): void {
    this.isCommitted = true;
    const reply = head.code === undefined ? socksReplies.general : socksReplyFor(head.code);
    this.connection.wire.write(this.ask.refusal ?? socksReply(reply));
  }

  /** SOCKS has no room for the text of a refusal. */
  write(): boolean {
    return true;
  }

  flush(): void {
    return;
  }

  withdraw(): boolean {
    return false;
  }

  whenFlushed(callback: () => void): void {
    this.connection.wire.whenFlushed(callback);
  }

  end(): void {
    this.connection.finished();
  }

  abort(): void {
    this.connection.cut();
  }

  /** A refused request ends the connection in any case. */
  closeAfter(): void {
    return;
  }

  takeOver(): TakenOver {
    this.isCommitted = true;
    this.connection.wire.write(socksReply(socksReplies.succeeded));
    return { wire: this.connection.wire, early: this.connection.takeOver() };
  }
}
