/**
 * A TCP server that plays an upstream proxy (or an origin) by script, one script run per connection. It records
 * every byte it gets, writes exactly what the script says, and ends as told: FIN, RST, or not at all.
 */
import net from 'node:net';
import tls from 'node:tls';
import { waitFor } from './wait.js';

/** What happens on each connection; `nth` counts connections from 0. A script that throws fails `close`. */
export type Script = (peer: Peer, nth: number) => Promise<void> | void;

/** One accepted connection, in the hands of a script. */
export class Peer {
  /** Whether the other side sent FIN, and how the socket ended. */
  hasEnded = false;
  isClosed = false;
  wasReset = false;
  /** Set it to go on writing after the other side's FIN; otherwise that is answered with ours. */
  keepsHalfOpen = false;
  private pieces: Buffer[] = [];
  private taken = 0;

  constructor(readonly socket: net.Socket) {
    socket.on('data', (chunk: Buffer) => this.pieces.push(chunk));
    socket.on('end', () => {
      this.hasEnded = true;
      if (!this.keepsHalfOpen) socket.end();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => (this.wasReset ||= error.code === 'ECONNRESET'));
    socket.on('close', () => (this.isClosed = true));
  }

  /** Every byte received on this connection. */
  get received(): Buffer {
    if (this.pieces.length > 1) this.pieces = [Buffer.concat(this.pieces)];
    return this.pieces[0] ?? Buffer.alloc(0);
  }

  /** The same as latin1 text. */
  get text(): string {
    return this.received.toString('latin1');
  }

  /** What came after the last head that was read. */
  get rest(): string {
    return this.text.slice(this.taken);
  }

  /** Reads the next request head, blank line included. Rejects when the connection ends before it. */
  async head(guardMs = 60_000): Promise<string> {
    await this.look(
      'a head',
      () => this.rest.includes('\r\n\r\n') || this.hasEnded || this.isClosed,
      guardMs,
    );
    const end = this.rest.indexOf('\r\n\r\n') + 4;
    if (end < 4) throw new PeerGone(`no head, only ${JSON.stringify(this.rest)}`);
    const head = this.rest.slice(0, end);
    this.taken += end;
    return head;
  }

  /** Reads a head and the body that its Content-Length tells. */
  async request(): Promise<{ head: string; body: string }> {
    const head = await this.head();
    const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
    await this.look('a body', () => this.rest.length >= length || this.isClosed);
    const body = this.rest.slice(0, length);
    this.taken += length;
    return { head, body };
  }

  /** Reads exactly so many bytes. Rejects when the connection ends before them. */
  async bytes(count: number): Promise<Buffer> {
    const end = this.taken + count;
    const isThere = (): boolean => this.received.length >= end;
    await this.look(`${count} bytes`, () => isThere() || this.hasEnded || this.isClosed);
    if (!isThere()) throw new PeerGone(`${this.rest.length} bytes instead of ${count}`);
    const bytes = Buffer.from(this.received.subarray(this.taken, end));
    this.taken = end;
    return bytes;
  }

  /** Waits until the text came anywhere on this connection. */
  async until(wanted: string, guardMs?: number): Promise<void> {
    await this.look(`"${wanted}"`, () => this.text.includes(wanted), guardMs);
  }

  /** Waits until the other side ended or reset. */
  async gone(guardMs?: number): Promise<void> {
    await this.look('the end', () => this.hasEnded || this.isClosed, guardMs);
  }

  /** Writes as one segment. */
  write(data: string | Buffer): this {
    if (this.socket.writable)
      this.socket.write(typeof data === 'string' ? Buffer.from(data, 'latin1') : data);
    return this;
  }

  /** Writes one byte per write, each in a turn of its own. */
  async writeSlowly(data: string): Promise<void> {
    for (const octet of Buffer.from(data, 'latin1')) {
      this.write(Buffer.of(octet));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Answers with this body and its Content-Length. `fields` are whole lines without line ends. */
  answer(body: string, status = '200 OK', fields: readonly string[] = []): this {
    const lines = [`HTTP/1.1 ${status}`, ...fields, `Content-Length: ${Buffer.byteLength(body, 'latin1')}`];
    return this.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
  }

  /** Reads a CONNECT and opens the tunnel. */
  async openTunnel(): Promise<string> {
    const head = await this.head();
    this.write('HTTP/1.1 200 OK\r\n\r\n');
    return head;
  }

  /** From now on sends back what comes, what came already behind the last head included, and passes FIN on. */
  echo(): void {
    const already = this.rest;
    if (already !== '') this.write(already);
    this.socket.on('data', (chunk: Buffer) => this.write(chunk));
  }

  /** Sends FIN and goes on reading. */
  end(): void {
    this.socket.end();
  }

  /** Ends with RST at once. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  private look(what: string, test: () => boolean, guardMs?: number): Promise<boolean> {
    return waitFor(`${what} at the upstream`, test, guardMs);
  }
}

/** The connection ended before the script had what it waited for; `close` forgives it. */
export class PeerGone extends Error {}

/** A running scripted upstream. */
export interface ScriptedUpstream {
  /** `http://host:port`, or https. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** All connections so far, in order. */
  readonly peers: readonly Peer[];
  readonly accepts: number;
  /** Sockets that are open now. */
  readonly open: number;
  /** Heads of all requests read by scripts through {@link serveEach}. */
  readonly heads: string[];
  /** `http://username:password@host:port`, percent-encoded as needed. */
  loginUrl(username: string, password: string): string;
  /** Waits for the nth connection. */
  peer(nth: number): Promise<Peer>;
  /** Waits until no socket is open. */
  idle(guardMs?: number): Promise<void>;
  /** Destroys all sockets and stops listening; rejects with the first error of a script. */
  close(): Promise<void>;
}

/** Starts a scripted upstream on a free port or where this server listens, inside TLS when it gets a certificate. */
export async function startScripted(
  script: Script,
  at: string | net.Server = '127.0.0.1',
  certificate?: { readonly cert: string; readonly key: string },
): Promise<ScriptedUpstream> {
  const peers: Peer[] = [];
  const heads: string[] = [];
  const errors: unknown[] = [];
  const welcome = (socket: net.Socket): void => {
    const peer = new Peer(socket);
    headsOf.set(peer, heads);
    peers.push(peer);
    Promise.resolve()
      .then(() => script(peer, peers.length - 1))
      .catch((error: unknown) => (error instanceof PeerGone ? undefined : errors.push(error)));
  };
  const options = { allowHalfOpen: true, noDelay: true };
  const server =
    certificate === undefined
      ? net.createServer(options, welcome)
      : tls.createServer({ ...options, ...certificate }, welcome);
  // Under TLS these are not the peers' sockets, and a handshake that fails leaves no peer at all.
  const sockets = new Set<net.Socket>();
  server.on('connection', (socket: net.Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    if (typeof at === 'string') server.listen(0, at, resolve);
    else server.listen(at, resolve);
  });
  const { port, address: host } = server.address() as net.AddressInfo;
  const openNow = (): number => peers.filter((peer) => !peer.isClosed).length;
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const scheme = certificate === undefined ? 'http' : 'https';
  return {
    ...{ url: `${scheme}://${authority}`, host, port, peers, heads },
    get accepts() {
      return peers.length;
    },
    get open() {
      return openNow();
    },
    loginUrl: (username, password) =>
      `${scheme}://${encodeURIComponent(username)}:${encodeURIComponent(password)}@${authority}`,
    peer: (nth) => waitFor(`connection ${nth} at the upstream`, () => peers[nth]),
    idle: async (guardMs) => {
      await waitFor('the upstream to be idle', () => openNow() === 0, guardMs);
    },
    close: async () => {
      for (const peer of peers) peer.socket.destroy();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      if (errors.length > 0) throw errors[0] as Error;
    },
  };
}

/** Where the heads of a peer's requests are noted. */
const headsOf = new WeakMap<Peer, string[]>();

/** A script that answers each request of a connection by `respond`, until the connection ends. */
export function serveEach(
  respond: (peer: Peer, request: { head: string; body: string }) => Promise<void> | void,
): Script {
  return async (peer) => {
    while (!peer.isClosed) {
      const request = await peer.request();
      headsOf.get(peer)?.push(request.head);
      await respond(peer, request);
    }
  };
}

/** A script that opens a tunnel on CONNECT and echoes. */
export const echoTunnel: Script = async (peer) => {
  headsOf.get(peer)?.push(await peer.openTunnel());
  peer.echo();
};

/** A port on which nothing listens (it was free a moment ago). */
export async function refusedPort(host = '127.0.0.1'): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
