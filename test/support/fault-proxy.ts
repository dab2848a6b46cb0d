/**
 * A bad network between two honest peers: a TCP forwarder that delays, throttles, slices, swallows or resets.
 * Faults can be changed while it runs and hold for both directions.
 */
import net from 'node:net';

/** What the network does. Nothing set: it forwards. */
export interface Faults {
  /** Each piece arrives so much later, in ms. */
  latencyMs?: number;
  /** At most so many bytes per second and direction. */
  bytesPerSecond?: number;
  /** Accepts, forwards nothing, ends nothing. */
  isBlackHole?: boolean;
  /** Resets both sides once so many bytes went from the server to the client. */
  resetAfterBytes?: number;
  /** Resets both sides after half of the next piece that comes from the server. */
  isCutMidPiece?: boolean;
  /** Forwards in slices of so many bytes, one per turn. */
  sliceBytes?: number;
}

/** A running fault proxy. */
export interface FaultProxy {
  readonly host: string;
  readonly port: number;
  /** Read for every piece; change it at will. */
  readonly faults: Faults;
  readonly accepts: number;
  readonly open: number;
  /** Resets every connection. */
  resetAll(): void;
  close(): Promise<void>;
}

/** Starts one in front of `port` on 127.0.0.1. */
export async function startFaultProxy(port: number, faults: Faults = {}): Promise<FaultProxy> {
  const pairs = new Set<Pair>();
  let accepts = 0;
  const server = net.createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    accepts++;
    const pair = new Pair(client, net.connect({ port, host: '127.0.0.1', allowHalfOpen: true }), faults);
    pairs.add(pair);
    pair.onClosed = () => pairs.delete(pair);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const resetAll = (): void => {
    for (const pair of [...pairs]) pair.reset();
  };
  return {
    ...{ host: '127.0.0.1', port: (server.address() as net.AddressInfo).port, faults, resetAll },
    get accepts() {
      return accepts;
    },
    get open() {
      return pairs.size;
    },
    close: () => {
      resetAll();
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

class Pair {
  onClosed: () => void = () => undefined;
  private toClient = 0;

  constructor(
    private readonly client: net.Socket,
    private readonly server: net.Socket,
    private readonly faults: Faults,
  ) {
    for (const socket of [client, server]) {
      socket.on('error', () => undefined);
      socket.on('close', () => this.onSideClosed());
    }
    this.forward(client, server);
    this.forward(server, client);
  }

  reset(): void {
    this.client.resetAndDestroy();
    this.server.resetAndDestroy();
  }

  private onSideClosed(): void {
    if (!this.client.destroyed) this.client.destroySoon();
    if (!this.server.destroyed) this.server.destroySoon();
    if (this.client.destroyed && this.server.destroyed) this.onClosed();
  }

  /** One piece after the other, so that order holds whatever the delays are. */
  private forward(from: net.Socket, to: net.Socket): void {
    let last: Promise<void> = Promise.resolve();
    from.on('data', (chunk: Buffer) => {
      from.pause();
      last = last.then(() => this.pass(chunk, to)).then(() => void from.resume());
    });
    from.on('end', () => {
      last = last.then(() => {
        if (this.faults.isBlackHole !== true) to.end();
      });
    });
  }

  private async pass(chunk: Buffer, to: net.Socket): Promise<void> {
    const { latencyMs = 0, bytesPerSecond = Infinity, sliceBytes = chunk.length } = this.faults;
    if (this.faults.isBlackHole === true) return;
    if (latencyMs > 0) await wait(latencyMs);
    if (this.faults.isCutMidPiece === true && to === this.client) {
      to.write(chunk.subarray(0, chunk.length / 2), () => this.reset());
      return;
    }
    for (let at = 0; at < chunk.length; at += sliceBytes) {
      const slice = chunk.subarray(at, at + sliceBytes);
      if (to === this.client && this.isLast(slice, to)) return;
      if (!to.destroyed) to.write(slice);
      const ms = (slice.length / bytesPerSecond) * 1000;
      await wait(ms);
    }
  }

  private isLast(slice: Buffer, to: net.Socket): boolean {
    const left = (this.faults.resetAfterBytes ?? Infinity) - this.toClient;
    this.toClient += slice.length;
    if (slice.length < left) return false;
    // The bytes before the reset are given a turn to leave, or the RST would take them along.
    if (left > 0) to.write(slice.subarray(0, left), () => this.reset());
    else this.reset();
    return true;
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => {
    if (ms >= 1) setTimeout(resolve, ms);
    else setImmediate(resolve);
  });
}
