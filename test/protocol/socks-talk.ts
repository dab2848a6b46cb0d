/** SOCKS handshakes for tests: what is said, and what came of it. */
import { Secret } from '../../src/core/secret.js';
import { SocksHandshake, type SocksAsk, type SocksStep } from '../../src/protocol/socks.js';

export const METHOD_NONE = Buffer.of(5, 0);
export const METHOD_LOGIN = Buffer.of(5, 2);
export const LOGIN_OK = Buffer.of(1, 0);
export const BOUND_IPV4 = Buffer.of(5, 0, 0, 1, 10, 0, 0, 1, 0x1f, 0x90);
export const OK4 = Buffer.of(0, 90, 0, 0, 0, 0, 0, 0);

export function ask(changes: Partial<SocksAsk> = {}): SocksAsk {
  return { version: 5, host: 'a.test', port: 443, login: null, ...changes };
}

export function login(username: string, password: string): SocksAsk['login'] {
  return { username, password: new Secret(password) };
}

/** What came of a handshake to which these pieces were pushed, and everything that it sent. */
export function run(asked: SocksAsk, pieces: readonly Buffer[]): { sent: string[]; step: SocksStep } {
  const handshake = new SocksHandshake(asked);
  const first = handshake.start();
  if ('kind' in first) return { sent: [], step: first };
  const sent = [first.toString('hex')];
  let step: SocksStep = { kind: 'more', send: null };
  for (const piece of pieces) {
    // Lent bytes are overwritten after the call, as a read buffer is.
    const lent = Buffer.from(piece);
    step = handshake.push(lent);
    if (step.kind === 'open') step = { kind: 'open', rest: Buffer.from(step.rest) };
    lent.fill(0xee);
    if (step.kind === 'more' && step.send !== null) sent.push(step.send.toString('hex'));
    if (step.kind !== 'more') break;
  }
  return { sent, step };
}

export const inBytes = (data: Buffer): Buffer[] => Array.from(data, (octet) => Buffer.of(octet));

/** Bound addresses of every type. */
export const bounds: [string, Buffer][] = [
  ['IPv4', BOUND_IPV4],
  [
    'a name of 9 bytes',
    Buffer.concat([Buffer.of(5, 0, 0, 3, 9), Buffer.from('exit.test'), Buffer.of(0, 80)]),
  ],
  ['an empty name', Buffer.of(5, 0, 0, 3, 0, 0, 80)],
  ['IPv6', Buffer.concat([Buffer.of(5, 0, 0, 4), Buffer.alloc(16, 1), Buffer.of(0, 80)])],
];
