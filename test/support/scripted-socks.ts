/**
 * The server's side of SOCKS4, 4a and 5 for scripts: reads what the gateway asks, byte by byte, and answers as told.
 * Written from the RFCs and not from src/protocol/socks.ts, so that both can't share a mistake.
 */
import type { Peer, Script } from './scripted-upstream.js';

/** What a client asked for, as it came. */
export interface SocksAsked {
  readonly version: number;
  /** Methods that the greeting offered; empty for SOCKS4. */
  readonly methods: readonly number[];
  /** Bytes of the login as text in UTF-8; for SOCKS4 the user alone. */
  readonly username: string | null;
  readonly password: string | null;
  /** 1 IPv4, 3 name, 4 IPv6. */
  readonly type: number;
  readonly host: string;
  readonly port: number;
}

/** How the server answers. Replies are whole messages. */
export interface SocksAnswers {
  /** Method to choose; by default login where it is offered. */
  readonly method?: number;
  /** Status of the login; 0 by default. */
  readonly loginStatus?: number;
  /** Reply to the request; success with an IPv4 address by default. */
  readonly reply?: Buffer;
  /** One byte per write, each in a turn of its own. */
  readonly isSlow?: boolean;
}

/** Success, with a bound address of every type. */
export const bound = {
  ipv4: Buffer.of(5, 0, 0, 1, 10, 9, 8, 7, 0x1f, 0x90),
  name: Buffer.concat([Buffer.of(5, 0, 0, 3, 9), Buffer.from('exit.test'), Buffer.of(0, 80)]),
  ipv6: Buffer.concat([Buffer.of(5, 0, 0, 4), Buffer.alloc(16, 0x21), Buffer.of(0, 80)]),
  version4: Buffer.of(0, 90, 0, 0, 0, 0, 0, 0),
};

/** A refusal with this code, at its full length. */
export function refusal5(code: number): Buffer {
  return Buffer.of(5, code, 0, 1, 0, 0, 0, 0, 0, 0);
}

/** Goes through a handshake up to and with the reply. Rejects when the client leaves before. */
export async function answerSocks(peer: Peer, answers: SocksAnswers = {}): Promise<SocksAsked> {
  const say = async (bytes: Buffer): Promise<void> => {
    if (answers.isSlow === true) await peer.writeSlowly(bytes.toString('latin1'));
    else peer.write(bytes);
  };
  const [version = 0] = await peer.bytes(1);
  const asked = version === 4 ? await read4(peer) : await read5(peer, answers, say);
  await say(answers.reply ?? (version === 4 ? bound.version4 : bound.ipv4));
  return asked;
}

async function read4(peer: Peer): Promise<SocksAsked> {
  const head = await peer.bytes(7);
  const username = await readToNul(peer);
  const octets = [...head.subarray(3, 7)];
  const isName = octets.slice(0, 3).every((octet) => octet === 0) && octets[3] !== 0;
  return {
    ...{ version: 4, methods: [], username, password: null },
    type: isName ? 3 : 1,
    host: isName ? await readToNul(peer) : octets.join('.'),
    port: head.readUInt16BE(1),
  };
}

async function readToNul(peer: Peer): Promise<string> {
  const octets: number[] = [];
  for (;;) {
    const [octet = 0] = await peer.bytes(1);
    if (octet === 0) return Buffer.from(octets).toString('utf8');
    octets.push(octet);
  }
}

async function read5(
  peer: Peer,
  answers: SocksAnswers,
  say: (bytes: Buffer) => Promise<void>,
): Promise<SocksAsked> {
  const [count = 0] = await peer.bytes(1);
  const methods = [...(await peer.bytes(count))];
  const method = answers.method ?? (methods.includes(2) ? 2 : 0);
  await say(Buffer.of(5, method));
  const login = method === 2 ? await readLogin(peer) : { username: null, password: null };
  if (method === 2) await say(Buffer.of(1, answers.loginStatus ?? 0));
  const head = await peer.bytes(4);
  const type = head[3] ?? 0;
  const host = await readHost(peer, type);
  const port = (await peer.bytes(2)).readUInt16BE(0);
  return { version: 5, methods, ...login, type, host, port };
}

async function readLogin(peer: Peer): Promise<{ username: string; password: string }> {
  const [, userLength = 0] = await peer.bytes(2);
  const username = await peer.bytes(userLength);
  const [passLength = 0] = await peer.bytes(1);
  const password = await peer.bytes(passLength);
  return { username: username.toString('utf8'), password: password.toString('utf8') };
}

async function readHost(peer: Peer, type: number): Promise<string> {
  if (type === 1) return [...(await peer.bytes(4))].join('.');
  if (type === 4) return (await peer.bytes(16)).toString('hex');
  const [length = 0] = await peer.bytes(1);
  return (await peer.bytes(length)).toString('latin1');
}

/** A script that answers every handshake and then plays `inner`, the target. `asked` collects what was asked for. */
export function socksServer(
  asked: SocksAsked[],
  inner: Script = (peer) => peer.echo(),
  answers: SocksAnswers = {},
): Script {
  return async (peer, nth) => {
    asked.push(await answerSocks(peer, answers));
    await inner(peer, nth);
  };
}
