/**
 * SOCKS5 in the server's role (RFC 1928, and RFC 1929 for user name and password): bytes in, events and reply bytes
 * out. What a login is worth, and whether a target may be visited, is decided elsewhere.
 *
 *   client   05 n methods…            greeting
 *   server   05 method                02 where offered, else 00; ff when neither will do
 *   client   01 ulen user plen pass   after method 02
 *   server   01 status                00 good
 *   client   05 cmd 00 atyp addr port request
 *   server   05 reply 00 01 0.0.0.0 0
 */
import type { ErrorCode } from '../core/errors.js';
import { formatAddress } from './address.js';

/** What the client said, one step at a time. */
export type SocksServerEvent =
  | { readonly kind: 'more' }
  | { readonly kind: 'greeting'; readonly offersLogin: boolean; readonly offersNone: boolean }
  | { readonly kind: 'login'; readonly username: Buffer; readonly password: Buffer }
  /** `authority` is `host:port` as the client wrote the host, one character per byte: read it as CONNECT's. */
  | { readonly kind: 'connect'; readonly authority: string }
  /** Well-formed and not for us: answer with `reply`. */
  | { readonly kind: 'unsupported'; readonly reply: number; readonly detail: string }
  | { readonly kind: 'fault'; readonly detail: string };

type Stage = 'greeting' | 'login' | 'request' | 'over';

const MORE: SocksServerEvent = { kind: 'more' };
const fault = (detail: string): SocksServerEvent => ({ kind: 'fault', detail });

/** Methods of RFC 1928, section 3. */
export const socksMethods = { none: 0x00, login: 0x02, unacceptable: 0xff } as const;
/** Replies of RFC 1928, section 6, as far as we say them. */
export const socksReplies = {
  succeeded: 0,
  general: 1,
  notAllowed: 2,
  networkUnreachable: 3,
  hostUnreachable: 4,
  refused: 5,
  expired: 6,
  commandNotSupported: 7,
  addressNotSupported: 8,
} as const;

/** Reads the client's side of a handshake. The caller bounds how much it feeds before the handshake is over. */
export class SocksServerReader {
  private held: Buffer = Buffer.alloc(0);
  private stage: Stage = 'greeting';

  /** Takes bytes and copies them; `next` reads them. */
  push(chunk: Buffer): void {
    this.held = Buffer.concat([this.held, chunk]);
  }

  /** The next event of what came so far. After a greeting say first, by {@link expect}, what is to follow. */
  next(): SocksServerEvent {
    if (this.stage === 'greeting') return this.readGreeting();
    if (this.stage === 'login') return this.readLogin();
    return this.stage === 'request' ? this.readRequest() : MORE;
  }

  /** What the client was told to send. */
  expect(stage: 'login' | 'request'): void {
    this.stage = stage;
  }

  /** Bytes that were not read, which may belong to the tunnel. Gives them away. */
  takeRest(): Buffer {
    const { held } = this;
    this.held = Buffer.alloc(0);
    return held;
  }

  /** How many bytes wait to be read. */
  get heldBytes(): number {
    return this.held.length;
  }

  private readGreeting(): SocksServerEvent {
    const { held } = this;
    if (held.length > 0 && held[0] !== 5) return fault('The greeting is not of SOCKS version 5.');
    const count = held[1];
    if (count === 0) return fault('The greeting offers no method.');
    if (count === undefined || held.length < 2 + count) return MORE;
    const methods = held.subarray(2, 2 + count);
    this.consume(2 + count);
    return {
      kind: 'greeting',
      offersLogin: methods.includes(socksMethods.login),
      offersNone: methods.includes(socksMethods.none),
    };
  }

  private readLogin(): SocksServerEvent {
    const { held } = this;
    if (held.length > 0 && held[0] !== 1) return fault('The login is not of version 1.');
    const userLength = held[1];
    const passwordLength = userLength === undefined ? undefined : held[2 + userLength];
    if (userLength === undefined || passwordLength === undefined) return MORE;
    const end = 3 + userLength + passwordLength;
    if (held.length < end) return MORE;
    const username = held.subarray(2, 2 + userLength);
    const password = held.subarray(3 + userLength, end);
    this.consume(end);
    return { kind: 'login', username, password };
  }

  private readRequest(): SocksServerEvent {
    const { held } = this;
    if (held.length > 0 && held[0] !== 5) return fault('The request is not of SOCKS version 5.');
    if (held.length > 2 && held[2] !== 0) return fault('The reserved byte of the request is not 0.');
    const [, command, , type, first] = held;
    if (command === undefined || type === undefined || first === undefined) return MORE;
    const length = addressLength(type, first);
    if (length === null) return this.unsupported(socksReplies.addressNotSupported, 'an address type');
    if (held.length < 4 + length + 2) return MORE;
    const address = held.subarray(4, 4 + length);
    const port = held.readUInt16BE(4 + length);
    if (command !== 1) return this.unsupported(socksReplies.commandNotSupported, 'a command');
    this.consume(4 + length + 2);
    this.stage = 'over';
    return { kind: 'connect', authority: `${hostText(type, address)}:${port}` };
  }

  private unsupported(reply: number, what: string): SocksServerEvent {
    this.stage = 'over';
    return { kind: 'unsupported', reply, detail: `The SOCKS request has ${what} that is not supported.` };
  }

  private consume(count: number): void {
    this.held = this.held.subarray(count);
  }
}

/** Bytes of an address, with the length byte of a name; null for an unknown type. */
function addressLength(type: number, first: number): number | null {
  if (type === 1) return 4;
  if (type === 4) return 16;
  return type === 3 ? 1 + first : null;
}

function hostText(type: number, address: Buffer): string {
  if (type === 1) return address.join('.');
  if (type === 3) return address.toString('latin1', 1);
  const groups = Array.from({ length: 8 }, (_, at) => address.readUInt16BE(at * 2));
  return `[${formatAddress({ version: 6, groups })}]`;
}

/** The server's choice of a method. */
export function socksMethodChosen(method: number): Buffer {
  return Buffer.of(5, method);
}

/** Whether the login was good. */
export function socksLoginAnswer(isGood: boolean): Buffer {
  return Buffer.of(1, isGood ? 0 : 1);
}

/** The answer to a request; the bound address is of no use to anybody and is not told. */
export function socksReply(reply: number): Buffer {
  return Buffer.of(5, reply, 0, 1, 0, 0, 0, 0, 0, 0);
}

const repliesByCode: ReadonlyMap<ErrorCode, number> = new Map<ErrorCode, number>([
  ['auth_required', socksReplies.notAllowed],
  ['target_refused', socksReplies.notAllowed],
  ['loop_detected', socksReplies.notAllowed],
  ['upstream_unreachable', socksReplies.networkUnreachable],
  ['target_dns', socksReplies.hostUnreachable],
  ['target_unreachable', socksReplies.hostUnreachable],
  ['upstream_refused', socksReplies.refused],
  ['target_timeout', socksReplies.expired],
  ['upstream_timeout', socksReplies.expired],
  ['exchange_timeout', socksReplies.expired],
]);

/** How a failure of ours is said in SOCKS; what fits none of its words is a general failure. */
export function socksReplyFor(code: ErrorCode): number {
  return repliesByCode.get(code) ?? socksReplies.general;
}
