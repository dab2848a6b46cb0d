/**
 * An exit that stops every answer in the middle until the test opens the gate: whoever downloads through a gateway is
 * then known to be under way. Each answer is its own bytes, so that a mix-up or a cut shows in its hash.
 */
import { createHash } from 'node:crypto';
import { RawClient } from './raw-client.js';
import { startScripted, type Peer, type ScriptedUpstream } from './scripted-upstream.js';

const PIECE_BYTES = 64 * 1024;

/** Bytes that the name alone decides. */
function bytesOf(name: string, pieces: number): Buffer {
  const seed = createHash('sha256').update(name).digest();
  return Buffer.alloc(pieces * PIECE_BYTES, seed);
}

/** Hash of the body that `name` is answered with. */
export function hashOfAnswer(name: string, pieces: number): string {
  return createHash('sha256').update(bytesOf(name, pieces)).digest('hex');
}

/** The exit and its gate. */
export interface GatedExit {
  readonly upstream: ScriptedUpstream;
  /** Answers that stand at the gate. */
  waiting(): number;
  open(): void;
}

/** Starts the exit; the path of a request, or the host of a CONNECT, names the answer. */
export async function startGatedExit(pieces: number): Promise<GatedExit> {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  let waiting = 0;
  const sendGated = async (peer: Peer, body: Buffer): Promise<void> => {
    const half = body.length / 2;
    peer.write(body.subarray(0, half));
    waiting += 1;
    await gate;
    waiting -= 1;
    peer.write(body.subarray(half));
  };
  const upstream = await startScripted(async (peer) => {
    const [method = '', target = ''] = (await peer.head()).split(' ');
    const name = method === 'CONNECT' ? target.split(':')[0] : new URL(target).pathname.slice(1);
    const body = bytesOf(name ?? '', pieces);
    if (method === 'CONNECT') {
      peer.write('HTTP/1.1 200 OK\r\n\r\n');
      await sendGated(peer, body);
      peer.end();
      return;
    }
    peer.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`);
    await sendGated(peer, body);
  });
  return { upstream, waiting: () => waiting, open: () => open() };
}

/** One download under way. */
export interface Download {
  readonly name: string;
  /** Hash of the whole body, once it is whole; rejects when it was cut. */
  readonly hash: Promise<string>;
}

/** Begins a download through the gateway on this port, by CONNECT or plain. */
export async function beginDownload(
  at: { readonly port: number; readonly name: string },
  how: 'plain' | 'tunnel',
  pieces: number,
): Promise<Download> {
  const client = await RawClient.connect(at.port);
  const host = how === 'plain' ? 'a.test' : `${at.name}:443`;
  const start = how === 'plain' ? `GET http://a.test/${at.name}` : `CONNECT ${host}`;
  client.write(`${start} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  return { name: at.name, hash: hashOf(client, pieces * PIECE_BYTES) };
}

async function hashOf(client: RawClient, length: number): Promise<string> {
  const head = await client.head(0, 60_000);
  const whole = await client.untilBytes(head.length + length, 60_000);
  client.destroy();
  return createHash('sha256').update(whole.subarray(head.length)).digest('hex');
}
