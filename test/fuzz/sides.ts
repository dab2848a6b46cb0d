/** For each way a gateway with its upstreams, all on real sockets, and somebody who asks it marked questions. */
import net from 'node:net';
import tls from 'node:tls';
import { startGateway, type TestGateway } from '../support/gateway.js';
import type { TestCertificate } from '../support/real-origins.js';
import { listenWith } from '../support/secured.js';
import { Recorder } from './recorder.js';
import { MarkedClient } from './talk.js';
import { known, rightField, type Way } from './ways.js';

/** What stands behind one way. */
export interface Side {
  readonly gateway: TestGateway;
  /** Where requests arrive, and tunnels last; of an input all but the first hear nothing in most ways. */
  readonly recorders: readonly Recorder[];
  /** Whose words are scripted before any HTTP, as a SOCKS server. */
  readonly socks: Recorder;
  /** The one that another exit helps out. */
  readonly spoilt: Recorder;
  readonly marked: MarkedClient;
  /** A new connection of a client. */
  dial(): net.Socket;
  close(): Promise<void>;
}

const quick = { site: '1ms', site_cap: '1ms', transport: '1ms', transport_cap: '1ms' };
const base = {
  targets: { allow: [] },
  retry: { retries: 0, transport_ratio: 1, transport_floor: 10_000 },
  bans: quick,
  timeouts: { first_byte: '2s', body_idle: '2s', client_header: '5s', drain: '1s' },
};

const urlOf = (scheme: string, port: number): object => ({ url: `${scheme}://127.0.0.1:${port}` });

/** Starts the side of a way. */
export async function startSide(way: Way, certificate: TestCertificate): Promise<Side> {
  const [main, socks, spoilt] = [new Recorder(), new Recorder(), new Recorder()];
  const [requests, tunnels] = [new Recorder('requests'), new Recorder('tunnels')];
  const all = [main, socks, spoilt, requests, tunnels];
  const [mainPort, socksPort, spoiltPort, requestPort, tunnelPort] = (await Promise.all(
    all.map((each) => each.listen()),
  )) as [number, number, number, number, number];
  const dead = await startDead();
  const pools = {
    main: { upstreams: [urlOf('http', mainPort)] },
    socks: { upstreams: [urlOf('socks5h', socksPort)] },
    helped: { upstreams: [urlOf('http', spoiltPort), urlOf('http', mainPort)] },
    requests: { upstreams: [urlOf('socks5h', requestPort)] },
    tunnels: { upstreams: [urlOf('socks5h', tunnelPort)] },
    dying: { upstreams: [urlOf('http', dead.port), urlOf('http', mainPort)] },
  };
  const { routes, ...config } = configOf(way, certificate);
  const gateway = await startGateway({ upstreams: [], config: { ...base, ...config, pools, routes } });
  const fields = way === 'login' ? rightField : '';
  const dial = dialer(way, gateway.port);
  const marked = new MarkedClient(dial, fields);
  return {
    ...{ gateway, socks, spoilt, marked, dial },
    recorders: way === 'socks' ? [requests, tunnels] : [main, requests, spoilt],
    close: async () => {
      marked.close();
      await gateway.close();
      for (const each of [...all, dead]) await each.close();
    },
  };
}

function configOf(way: Way, certificate: TestCertificate): Record<string, unknown> {
  const byHost = (host: string, pool: string, more = {}): object => ({
    ...{ match: { host: [host] }, pools: [pool], ...more },
  });
  const everything = (pool: string, more = {}): object => ({ match: {}, pools: [pool], ...more });
  switch (way) {
    case 'plain':
      return {
        routes: [
          byHost('socks.test', 'socks'),
          byHost('behind.test', 'requests'),
          byHost('helped.test', 'helped', { retries: 1 }),
          everything('main'),
        ],
      };
    case 'tls':
      return { ...listenWith(certificate), routes: [everything('main')] };
    case 'login':
      return { clients: [known], routes: [everything('main')] };
    case 'retry':
      return { routes: [everything('dying', { retries: 2 })] };
    case 'socks':
      return { routes: [{ match: { method: ['CONNECT'] }, pools: ['tunnels'] }, everything('requests')] };
  }
}

/** Failed logins are counted by address, so each connection comes from another one. */
function dialer(way: Way, port: number): () => net.Socket {
  let nth = 0;
  const common = { port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true };
  if (way === 'tls')
    return () => tls.connect({ ...common, rejectUnauthorized: false } as tls.ConnectionOptions);
  if (way !== 'login') return () => net.connect(common);
  return () => {
    nth++;
    return net.connect({ ...common, localAddress: `127.1.${(nth >> 8) & 255}.${nth & 255}` });
  };
}

/** An exit that never answers: it closes, resets, or breaks off within the head, by turns. */
async function startDead(): Promise<{ port: number; close: () => Promise<void> }> {
  const sockets = new Set<net.Socket>();
  let nth = 0;
  const server = net.createServer((socket) => {
    const turn = nth++ % 4;
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    if (turn === 0) socket.destroy();
    socket.once('data', () => {
      if (turn === 1) socket.resetAndDestroy();
      else if (turn === 2) socket.end('HTTP/1.1 200 OK\r\nContent-Le');
      else socket.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as net.AddressInfo).port,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
