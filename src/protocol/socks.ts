/**
 * The client's side of SOCKS4, 4a (Y.-D. Lee) and 5 (RFC 1928, RFC 1929) as bytes in, bytes out: no sockets, no time.
 *
 *   SOCKS5   greeting ──▶ method ──▶ (login ──▶) reply ──▶ open
 *   SOCKS4   ask ──▶ reply ──▶ open
 *
 * Each stage knows how long its message is, so replies may come in any pieces, and what follows the last one belongs to
 * the tunnel. Names always go to the proxy as names (`socks5` means the same as `socks5h`, `socks4` as `socks4a`): a
 * look-up here would tell our resolver where a crawl goes, and find the place nearest to us instead of to the exit.
 */
import type { FaultKind } from '../core/fault.js';
import type { Secret } from '../core/secret.js';
import { parseAddress, type Address } from './address.js';

/** Bytes that a user name or password may have: their length is sent in one byte (RFC 1929, section 2). */
export const LONGEST_SOCKS_LOGIN = 255;

/** What is asked of the proxy. */
export interface SocksAsk {
  readonly version: 4 | 5;
  /** Canonical, without brackets: a name or an address. */
  readonly host: string;
  readonly port: number;
  readonly login: { readonly username: string; readonly password: Secret } | null;
}

/** What a handshake came to after some bytes. */
export type SocksStep =
  /** It goes on: what must be sent now, if anything. */
  | { readonly kind: 'more'; readonly send: Buffer | null }
  /** The tunnel stands; `rest` are its first bytes, a view into what was pushed. */
  | { readonly kind: 'open'; readonly rest: Buffer }
  | SocksFault;

/** Why there is no tunnel. */
export interface SocksFault {
  readonly kind: 'fault';
  readonly fault: FaultKind;
  readonly detail: string;
}

type StageName = 'method' | 'login' | 'reply5' | 'reply4';
type Next =
  | { readonly kind: 'send'; readonly bytes: Buffer; readonly stage: StageName }
  | { readonly kind: 'open' }
  | SocksFault;

/** One message of the proxy: how many bytes it has, as far as that can be told, and what follows from it. */
interface Stage {
  lengthOf(bytes: Buffer): number;
  read(message: Buffer, ask: SocksAsk): Next;
}

const IPV4 = 1;
const NAME = 3;
const IPV6 = 4;
const NO_LOGIN = 0;
const WITH_LOGIN = 2;
const NO_METHOD = 0xff;
const REPLY4_BYTES = 8;

const fault = (kind: FaultKind, detail: string): SocksFault => ({ kind: 'fault', fault: kind, detail });

/** The replies of RFC 1928, section 6. Who says "general failure" may mean anything, a name that does not exist too. */
const replies5: ReadonlyMap<number, readonly [FaultKind, string]> = new Map([
  [1, ['failed', 'general failure']],
  [2, ['denied', 'not allowed by its rules']],
  [3, ['target_unreachable', 'network unreachable']],
  [4, ['target_unreachable', 'host unreachable']],
  [5, ['target_unreachable', 'connection refused']],
  [6, ['target_timeout', 'time to live expired']],
  [7, ['protocol', 'command not supported']],
  [8, ['unsupported', 'address type not supported']],
]);

const replies4: ReadonlyMap<number, readonly [FaultKind, string]> = new Map([
  [91, ['failed', 'rejected or failed']],
  [92, ['auth', 'it can not reach an identd here']],
  [93, ['auth', 'the user name is not the one that identd tells']],
]);

const stages: Readonly<Record<StageName, Stage>> = {
  method: {
    lengthOf: (bytes) => (bytes[0] === 5 ? 2 : 1),
    read: (message, ask) => {
      if (message[0] !== 5) return notSocks(message, 5);
      const method = message[1];
      if (method === NO_LOGIN) return { kind: 'send', bytes: connectOf(ask), stage: 'reply5' };
      if (method === WITH_LOGIN && ask.login !== null) {
        return { kind: 'send', bytes: loginOf(ask.login), stage: 'login' };
      }
      if (method !== NO_METHOD && method !== WITH_LOGIN) {
        return fault('protocol', `the upstream chose the login method ${method}, which was not offered`);
      }
      const why = ask.login === null ? 'wants a login and none is configured' : 'takes no login by password';
      return fault('auth', `the upstream ${why} (SOCKS5 method ${method})`);
    },
  },
  login: {
    lengthOf: () => 2,
    // Some proxies repeat the version of SOCKS here instead of that of the negotiation.
    read: (message, ask) => {
      if (message[0] !== 1 && message[0] !== 5) return notSocks(message, 5);
      if (message[1] === 0) return { kind: 'send', bytes: connectOf(ask), stage: 'reply5' };
      return fault('auth', `the upstream refused the configured login (SOCKS5 status ${message[1]})`);
    },
  },
  reply5: {
    lengthOf: lengthOfReply5,
    read: (message, ask) => {
      if (message[0] !== 5) return notSocks(message, 5);
      if (message[1] !== 0) return refusal5(message[1] ?? 0, ask);
      if (message.length >= 7) return { kind: 'open' };
      return fault('protocol', `the upstream bound an address of the unknown type ${message[3]}`);
    },
  },
  reply4: {
    lengthOf: (bytes) => (bytes[0] === 0 ? REPLY4_BYTES : 1),
    read: (message, ask) => {
      if (message[0] !== 0) return notSocks(message, 4);
      if (message[1] === 90) return { kind: 'open' };
      return refusal4(message[1] ?? 0, ask);
    },
  },
};

/** A refusal is told by two bytes, and some proxies send no more; else the bound address has the length of its type. */
function lengthOfReply5(bytes: Buffer): number {
  if (bytes[0] !== 5) return 1;
  if (bytes.length < 2 || bytes[1] !== 0) return 2;
  if (bytes.length < 5) return 5;
  if (bytes[3] === IPV4) return 10;
  if (bytes[3] === IPV6) return 22;
  return bytes[3] === NAME ? 7 + (bytes[4] ?? 0) : 5;
}

function refusal5(code: number, ask: SocksAsk): SocksFault {
  const [kind, text] = replies5.get(code) ?? ['failed', 'an unknown code'];
  // Who takes no IPv6 is good for other targets; who takes no names is good for nothing.
  const isUseless = kind === 'unsupported' && parseAddress(ask.host) === null;
  return fault(isUseless ? 'protocol' : kind, `the upstream says: ${text} (SOCKS5 reply ${code})`);
}

function refusal4(code: number, ask: SocksAsk): SocksFault {
  const [kind, text] = replies4.get(code) ?? ['protocol', 'an unknown code'];
  const isName = parseAddress(ask.host) === null;
  const hint = isName ? '; one that knows SOCKS4 but not 4a takes addresses only, no names' : '';
  return fault(kind, `the upstream says: ${text} (SOCKS4 reply ${code}${hint})`);
}

function notSocks(message: Buffer, version: number): SocksFault {
  const isHttp = message[0] === 0x48;
  const hint = isHttp ? 'it may be an HTTP proxy' : `it began with the byte ${message[0]}`;
  return fault('protocol', `the upstream does not answer in SOCKS${version}: ${hint}`);
}

/** One handshake. Push what comes in until it is open or failed; then it is over. */
export class SocksHandshake {
  private held: Buffer = Buffer.alloc(0);
  private stage: StageName;

  constructor(private readonly ask: SocksAsk) {
    this.stage = ask.version === 5 ? 'method' : 'reply4';
  }

  /** The first bytes to send, or why this target can't be asked for in this version. */
  start(): Buffer | SocksFault {
    if (this.ask.version === 5) return greetingOf(this.ask);
    const address = parseAddress(this.ask.host);
    if (address?.version === 6) return fault('unsupported', 'SOCKS4 has no IPv6 addresses');
    return ask4(this.ask, address);
  }

  /**
   * Whether the target was named: from then on silence may be the target's. Before that it is the proxy's own.
   */
  get hasAsked(): boolean {
    return this.stage === 'reply5' || this.stage === 'reply4';
  }

  /** Takes bytes as they come; never throws, whatever they are. */
  push(chunk: Buffer): SocksStep {
    this.held = this.held.length === 0 ? chunk : Buffer.concat([this.held, chunk]);
    const stage = stages[this.stage];
    const length = stage.lengthOf(this.held);
    if (this.held.length < length) {
      // What was pushed is lent, and is needed longer than that.
      this.held = Buffer.from(this.held);
      return { kind: 'more', send: null };
    }
    const next = stage.read(this.held.subarray(0, length), this.ask);
    const rest = this.held.subarray(length);
    this.held = Buffer.alloc(0);
    if (next.kind === 'fault') return next;
    if (next.kind === 'open') return { kind: 'open', rest };
    if (rest.length > 0) return fault('protocol', 'the upstream answered before it was asked');
    this.stage = next.stage;
    return { kind: 'more', send: next.bytes };
  }
}

/** With a login it is named first: of two that will do, it is the one that tells who comes. */
function greetingOf(ask: SocksAsk): Buffer {
  return ask.login === null ? Buffer.of(5, 1, NO_LOGIN) : Buffer.of(5, 2, WITH_LOGIN, NO_LOGIN);
}

/** RFC 1929, in UTF-8. An empty password has the length 0. */
function loginOf(login: NonNullable<SocksAsk['login']>): Buffer {
  const username = Buffer.from(login.username, 'utf8');
  const password = Buffer.from(login.password.reveal(), 'utf8');
  return Buffer.concat([Buffer.of(1, username.length), username, Buffer.of(password.length), password]);
}

function connectOf(ask: SocksAsk): Buffer {
  const address = parseAddress(ask.host);
  return Buffer.concat([Buffer.of(5, 1, 0), destination5(ask.host, address), portOf(ask.port)]);
}

function destination5(host: string, address: Address | null): Buffer {
  if (address === null) {
    const name = Buffer.from(host, 'latin1');
    return Buffer.concat([Buffer.of(NAME, name.length), name]);
  }
  return Buffer.concat([Buffer.of(address.version === 4 ? IPV4 : IPV6), octetsOf(address)]);
}

/** SOCKS4, and 4a for names: the address 0.0.0.1 says that a name follows the user. */
function ask4(ask: SocksAsk, address: Address | null): Buffer {
  const user = Buffer.from(ask.login?.username ?? '', 'utf8');
  const name = address === null ? Buffer.from(`${ask.host}\0`, 'latin1') : Buffer.alloc(0);
  const destination = address === null ? Buffer.of(0, 0, 0, 1) : octetsOf(address);
  return Buffer.concat([Buffer.of(4, 1), portOf(ask.port), destination, user, Buffer.of(0), name]);
}

function octetsOf(address: Address): Buffer {
  const octets = Buffer.alloc(address.version === 4 ? 4 : 16);
  if (address.version === 4) octets.writeUInt32BE(address.value);
  else address.groups.forEach((group, index) => octets.writeUInt16BE(group, index * 2));
  return octets;
}

function portOf(port: number): Buffer {
  return Buffer.of(port >> 8, port & 0xff);
}
