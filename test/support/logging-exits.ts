/**
 * Exits that write down which gateway used them when: each at an address of its own (127.0.N.N), all in this process, and
 * cheap, so that a test can ask them a hundred thousand times. They know what a crawler's GET looks like, and no more.
 */
import net from 'node:net';

/** One use of an exit, by the exit's own clock. `endMs` is Infinity while it lasts. */
export interface Use {
  readonly exit: string;
  readonly gateway: string;
  readonly site: string;
  /** The session that it was used for, '' where none. */
  readonly session: string;
  readonly startMs: number;
  endMs: number;
}

/** Exits with a log of their uses. */
export interface LoggingExits {
  readonly urls: readonly string[];
  readonly uses: Use[];
  /** How long each answer takes. */
  answerMs: number;
  close(): Promise<void>;
}

const FIRST_LINE = /^GET http:\/\/([^/ ]+)(\S*)/;
const GATEWAY = /\r\nx-gateway: (\d+)/i;

/** Starts so many exits. */
export async function startExits(count: number): Promise<LoggingExits> {
  const uses: Use[] = [];
  const sockets = new Set<net.Socket>();
  const servers: net.Server[] = [];
  const exits: LoggingExits = {
    ...{ uses, answerMs: 1, urls: [] },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map((each) => new Promise((done) => each.close(done))));
    },
  };
  const serve = (exit: string, socket: net.Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (!text.endsWith('\r\n\r\n')) return;
      const [, site = '', path = ''] = FIRST_LINE.exec(text) ?? [];
      const gateway = GATEWAY.exec(text)?.[1] ?? '';
      text = '';
      const session = path.slice(1);
      const use: Use = { exit, gateway, site, session, startMs: performance.now(), endMs: Infinity };
      uses.push(use);
      setTimeout(() => {
        use.endMs = performance.now();
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${exit.length}\r\n\r\n${exit}`);
      }, exits.answerMs);
    });
  };
  const urls: string[] = [];
  let port = 0;
  for (let n = 0; n < count; n++) {
    const host = `127.0.${1 + Math.floor(n / 250)}.${1 + (n % 250)}`;
    const server = net.createServer({ noDelay: true }, (socket) => serve(`exit-${n}`, socket));
    await new Promise<void>((done) => server.listen(port, host, done));
    port = (server.address() as net.AddressInfo).port;
    servers.push(server);
    urls.push(`http://exit-${n}:pw@${host}:${port}`);
  }
  return Object.assign(exits, { urls });
}

/** Pairs of uses of one exit at once by different gateways. */
export function overlaps(uses: readonly Use[]): [Use, Use][] {
  const found: [Use, Use][] = [];
  const byExit = new Map<string, Use[]>();
  for (const use of uses) {
    const all = byExit.get(use.exit);
    if (all === undefined) byExit.set(use.exit, [use]);
    else all.push(use);
  }
  for (const all of byExit.values()) {
    const open: Use[] = [];
    for (const use of all.sort((a, b) => a.startMs - b.startMs)) {
      for (const other of open)
        if (other.endMs > use.startMs && other.gateway !== use.gateway) found.push([other, use]);
      open.splice(0, open.length, ...open.filter(({ endMs }) => endMs > use.startMs), use);
    }
  }
  return found;
}
