/** The exits: small forward proxies, each on an address of its own and leaving from it. Some are dead, one may be slow. */
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { EXITS, type YieldScenario } from './scenarios.js';

/** All exits of one world. */
export interface Exits {
  readonly addresses: readonly string[];
  readonly port: number;
  /** Connections to dead exits, which are tries as well. */
  deadTries(): number;
  isDead(address: string): boolean;
}

/** Silent exits let go in the end, so that nobody without a time limit of its own hangs for ever. */
const SILENCE_MS = 30_000;

/** Starts the exits of world number `world` (from 1): 127.<world>.<n>.1 all on the port of the first. */
export async function startExits(scenario: YieldScenario, world: number): Promise<Exits> {
  const addresses = Array.from({ length: EXITS }, (_, n) => `127.${world}.${n}.1`);
  const deadCount = Math.round(EXITS * scenario.deadShare);
  // Spread over the list, so that no order favours anybody.
  const dead = new Set(addresses.filter((_, n) => (n * 7) % EXITS < deadCount));
  let deadTries = 0;
  let port = 0;
  for (const [n, address] of addresses.entries()) {
    const isSilent = n % 2 === 0;
    const slowMs = n === 0 ? scenario.slowMs : 0;
    const server = dead.has(address)
      ? createTcpServer((socket) => {
          deadTries++;
          socket.on('error', () => socket.destroy());
          if (isSilent) socket.setTimeout(SILENCE_MS, () => socket.destroy());
          else socket.once('data', () => socket.resetAndDestroy());
        })
      : createServer((asked, answer) => forward(asked, answer, { address, slowMs }));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, address, 1024, resolve);
    });
    const at = server.address();
    if (at !== null && typeof at === 'object') port = at.port;
  }
  return { addresses, port, deadTries: () => deadTries, isDead: (address) => dead.has(address) };
}

function forward(
  asked: IncomingMessage,
  answer: ServerResponse,
  exit: { readonly address: string; readonly slowMs: number },
): void {
  const { host, pathname, search } = new URL(asked.url ?? '/');
  const go = (): void => {
    const onward = request(
      {
        localAddress: exit.address,
        host: host.split(':')[0],
        port: host.split(':')[1],
        path: pathname + search,
        method: asked.method,
        headers: { host },
        agent: false,
      },
      (page) => {
        answer.writeHead(page.statusCode ?? 502, page.rawHeaders);
        page.pipe(answer);
      },
    );
    onward.on('error', () => answer.destroy());
    answer.on('close', () => onward.destroy());
    onward.end();
  };
  if (exit.slowMs === 0) go();
  else setTimeout(go, exit.slowMs);
}
