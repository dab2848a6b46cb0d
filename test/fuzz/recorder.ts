/**
 * The upstream of a fuzz run: reads with the strict reader whatever the gateway sends, records it, and answers by its own
 * words or by the bytes of the run. Event by event and without waiting, so that 100,000 inputs take minutes.
 */
import net from 'node:net';
import { readSocksAsk, type SocksAsk } from './strict-socks.js';
import { partsOf, readRequest, valuesOf, type StrictMessage } from './strict.js';

/** What one connection brought, piece by piece. */
export type Recorded =
  | { readonly kind: 'message'; readonly message: StrictMessage }
  /** A message of which the rest never came. */
  | { readonly kind: 'cut'; readonly text: string }
  | { readonly kind: 'bad'; readonly why: string; readonly text: string };

/** A tunnel or upgraded connection: what came through it. */
export interface Inside {
  text: string;
  hasEnded: boolean;
}

/** How a request is answered: bytes, and whether the connection ends behind them; null for an echo of the request. */
export type Reply = (message: StrictMessage) => ScriptedReply | null;

/** Bytes instead of an answer. */
export interface ScriptedReply {
  readonly pieces: readonly Buffer[];
  readonly then: 'end' | 'reset' | 'keep';
}

/** After this a kept connection is ended, so that an answer that is not whole does not wait for its end. */
const KEEP_MS = 15;

/** The answer to a request: says which one it was. */
export function echoOf(message: StrictMessage): string {
  const [method, target] = partsOf(message);
  return `${method} ${target} ${message.body.length}`;
}

/** What follows a SOCKS5 handshake: requests to the target that was named, or anything. */
export type BehindSocks = 'requests' | 'tunnels';

/** A recording upstream: an HTTP proxy, or a SOCKS5 proxy that plays the targets too. */
export class Recorder {
  recorded: Recorded[] = [];
  insides: Inside[] = [];
  accepts = 0;
  reply: Reply = () => null;
  /** Bytes for those who connect and are to hear no HTTP: instead of reading anything. */
  greet: (() => ScriptedReply) | null = null;
  private readonly connections = new Set<Connection>();
  private readonly server: net.Server;

  constructor(readonly behindSocks: BehindSocks | null = null) {
    this.server = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      this.accepts++;
      const connection = new Connection(socket, this);
      this.connections.add(connection);
      socket.once('close', () => this.connections.delete(connection));
    });
  }

  listen(): Promise<number> {
    return new Promise((resolve) => {
      this.server.listen(0, '127.0.0.1', () => resolve((this.server.address() as net.AddressInfo).port));
    });
  }

  /** Connections in the middle of a message or a tunnel. */
  get busy(): number {
    return [...this.connections].filter((connection) => connection.isBusy).length;
  }

  /** Takes away what was recorded so far. */
  take(): { recorded: Recorded[]; insides: Inside[] } {
    const { recorded, insides } = this;
    this.recorded = [];
    this.insides = [];
    return { recorded, insides };
  }

  async close(): Promise<void> {
    for (const connection of this.connections) connection.socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

class Connection {
  private text = '';
  private inside: Inside | null = null;
  private isScripted = false;
  private isSpoilt = false;
  /** Bytes of a SOCKS handshake that goes on; null without one, or after it. */
  private handshake: Buffer | null = null;
  /** What the handshake asked for. */
  private authority: string | null = null;

  constructor(
    readonly socket: net.Socket,
    private readonly recorder: Recorder,
  ) {
    if (recorder.behindSocks !== null) this.handshake = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => this.onData(chunk));
    socket.on('end', () => this.onEnd());
    socket.on('error', () => undefined);
    socket.on('close', () => this.onClose());
    const greeting = recorder.greet?.();
    if (greeting !== undefined) this.say(greeting);
  }

  get isBusy(): boolean {
    return this.text !== '' || this.inside?.hasEnded === false;
  }

  private onData(chunk: Buffer): void {
    if (this.isScripted || this.isSpoilt) return;
    if (this.handshake !== null) {
      this.shakeHands(this.handshake, chunk);
      return;
    }
    const text = chunk.toString('latin1');
    if (this.inside === null) {
      this.text += text;
      this.readOn();
    } else {
      this.inside.text += text;
      if (!this.socket.writableEnded) this.socket.write(chunk);
    }
  }

  /** Takes no login, and opens whatever is asked for. */
  private shakeHands(before: Buffer, chunk: Buffer): void {
    const bytes = Buffer.concat([before, chunk]);
    const greetingEnd = 2 + (bytes[1] ?? 0);
    if (before.length < greetingEnd && bytes.length >= greetingEnd) this.socket.write(Buffer.of(5, 0));
    const ask = readSocksAsk(bytes);
    this.handshake = ask === null ? bytes : null;
    if (ask === null) return;
    this.socket.write(Buffer.of(5, 0, 0, 1, 127, 0, 0, 1, 0, 80));
    this.begin(ask);
  }

  private begin({ authority, rest }: SocksAsk): void {
    this.authority = authority;
    if (this.recorder.behindSocks === 'tunnels') {
      const fields = [['Host', authority]] as const;
      const message = { line: `CONNECT ${authority} HTTP/1.1`, fields, body: '' };
      this.recorder.recorded.push({ kind: 'message', message });
      this.goInside('');
    }
    if (rest.length > 0) this.onData(rest);
  }

  /** A request as a proxy would have got it. */
  private absolute(message: StrictMessage): StrictMessage {
    if (this.authority === null) return message;
    const [method, target, minor] = partsOf(message);
    const place = `http://${this.authority.replace(/:80$/, '')}${target === '*' ? '' : target}`;
    return { ...message, line: `${method} ${place} HTTP/1.${minor}` };
  }

  private readOn(): void {
    while (this.text !== '' && this.inside === null && !this.isScripted) {
      const step = readRequest(this.text, 0);
      if (step.kind === 'cut') return;
      if (step.kind === 'bad') {
        this.recorder.recorded.push({ ...step, text: this.text });
        this.isSpoilt = true;
        this.text = '';
        this.socket.destroy();
        return;
      }
      this.text = this.text.slice(step.end);
      const message = this.absolute(step.message);
      this.recorder.recorded.push({ kind: 'message', message });
      this.answer(message);
    }
  }

  private answer(message: StrictMessage): void {
    const scripted = this.recorder.reply(message);
    if (scripted !== null) {
      this.say(scripted);
      return;
    }
    const [method] = partsOf(message);
    if (method === 'CONNECT') this.goInside('HTTP/1.1 200 OK\r\n\r\n');
    else if (valuesOf(message, 'upgrade').includes('websocket')) {
      this.goInside('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    } else this.socket.write(answerTo(method, echoOf(message)), 'latin1');
  }

  private goInside(head: string): void {
    this.inside = { text: this.text, hasEnded: false };
    this.recorder.insides.push(this.inside);
    this.socket.write(head + this.text, 'latin1');
    this.text = '';
  }

  private say({ pieces, then }: ScriptedReply): void {
    this.isScripted = then !== 'keep';
    const [first, ...rest] = pieces;
    if (first !== undefined) {
      this.socket.write(first);
      if (rest.length > 0) setImmediate(() => this.say({ pieces: rest, then }));
    }
    if (rest.length > 0) return;
    if (then === 'end') this.socket.end();
    else if (then === 'reset') setImmediate(() => this.socket.resetAndDestroy());
    else setTimeout(() => this.endScripted(), KEEP_MS).unref();
  }

  private endScripted(): void {
    if (!this.socket.destroyed) this.socket.end();
  }

  private onEnd(): void {
    if (this.inside !== null) this.inside.hasEnded = true;
    this.socket.end();
  }

  private onClose(): void {
    if (this.inside !== null) this.inside.hasEnded = true;
    if (this.text !== '' && !this.isScripted) this.recorder.recorded.push({ kind: 'cut', text: this.text });
    this.text = '';
  }
}

/** The echo, by a length or in chunks, as its own length decides. */
function answerTo(method: string, echo: string): string {
  const isChunked = echo.length % 3 === 0;
  const framing = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${echo.length}`;
  const body = isChunked ? `${echo.length.toString(16)}\r\n${echo}\r\n0\r\n\r\n` : echo;
  return `HTTP/1.1 200 OK\r\n${framing}\r\n\r\n${method === 'HEAD' ? '' : body}`;
}
