/**
 * Clients that hold connections by being slow, in the three ways there are: a head by the byte, a body by the byte, an
 * answer that is asked for and not read. Each that is cut is replaced at once, so that there are always as many.
 */
import net from 'node:net';

/** In which way a client is slow. */
export type Slowness = 'head' | 'body' | 'read';

/** How one of them went, once it was cut. */
export interface SlowEnd {
  readonly how: Slowness;
  /** From its first byte to its end. */
  readonly ms: number;
  /** The status it was told, or 0. */
  readonly status: number;
}

/** The crowd. */
export interface SlowCrowd {
  readonly ends: readonly SlowEnd[];
  /** How many connections stand now. */
  standing(): number;
  close(): void;
}

const DRIP_MS = 1000;
/** What the slow readers ask for stays small, or the kernel's memory for TCP on this one machine is what gives out. */
const heads: Readonly<Record<Slowness, string>> = {
  head: 'GET http://slow.example/ HTTP/1.1\r\nX: ',
  body: 'POST http://slow.example/0 HTTP/1.1\r\nHost: slow.example\r\nContent-Length: 100000\r\n\r\n',
  read: `GET http://slow.example/${1024 * 1024} HTTP/1.1\r\nHost: slow.example\r\n\r\n`,
};

/** Opens so many of each kind. Resolves when all of them stand. */
export async function startSlowCrowd(port: number, count: number): Promise<SlowCrowd> {
  const ends: SlowEnd[] = [];
  const standing = new Set<net.Socket>();
  let isClosed = false;
  const open = (how: Slowness): Promise<void> =>
    new Promise((resolve) => {
      const socket = net.connect({ port, host: '127.0.0.1' });
      let text = '';
      let startMs = performance.now();
      socket.once('connect', () => {
        standing.add(socket);
        startMs = performance.now();
        socket.write(heads[how]);
        if (how === 'read') socket.pause();
        resolve();
      });
      socket.on('data', (chunk: Buffer) => (text = (text + chunk.toString('latin1')).slice(0, 100)));
      socket.on('error', () => undefined);
      const drip = how === 'read' ? undefined : setInterval(() => socket.write('x'), DRIP_MS);
      socket.once('close', () => {
        clearInterval(drip);
        standing.delete(socket);
        if (isClosed) return;
        ends.push({ how, ms: performance.now() - startMs, status: Number(text.slice(9, 12)) });
        resolve();
        void open(how);
      });
    });
  for (let nth = 0; nth < count; nth += 100) {
    const group = Array.from({ length: Math.min(100, count - nth) }, () =>
      (['head', 'body', 'read'] as const).map(open),
    );
    await Promise.all(group.flat());
  }
  return {
    ends,
    standing: () => standing.size,
    close: () => {
      isClosed = true;
      for (const socket of standing) socket.destroy();
    },
  };
}
