/**
 * Sites that write down who came, as sites do: by the address. Behind exits that each leave from an address of their own,
 * so that the log says which exit it was without asking any exit or gateway.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LoggingExits, Use } from './logging-exits.js';
import { distinctAddress } from './launched-program.js';

/** Starts sites of every name, and so many exits that lead there. */
export async function startSites(count: number): Promise<LoggingExits> {
  const uses: Use[] = [];
  const site = http.createServer((request, response) => {
    const [exit, startMs] = [request.socket.remoteAddress ?? '', performance.now()];
    const gateway = String(request.headers['x-gateway'] ?? '');
    const use = { exit, gateway, site: request.headers.host ?? '', startMs, endMs: Infinity, session: '' };
    uses.push(use);
    setTimeout(() => {
      use.endMs = performance.now();
      response.end(exit);
    }, sites.answerMs);
  });
  const sitePort = await listen(site);
  const addresses = Array.from({ length: count }, distinctAddress);
  const agent = new http.Agent({ keepAlive: true });
  const exits = http.createServer((request, response) => {
    const login = String(request.headers['proxy-authorization'] ?? '').replace('Basic ', '');
    const nth = Number(/^exit-(\d+):/.exec(Buffer.from(login, 'base64').toString())?.[1]);
    const headers = { host: new URL(request.url ?? '').host, 'x-gateway': request.headers['x-gateway'] };
    const way = { host: '127.0.0.1', port: sitePort, localAddress: addresses[nth], agent };
    http.get({ ...way, headers }, (answer) => answer.pipe(response)).on('error', () => response.destroy());
  });
  const port = await listen(exits);
  const sites: LoggingExits = {
    ...{ uses, answerMs: 1 },
    urls: addresses.map((_, n) => `http://exit-${n}:pw@127.0.0.1:${port}`),
    close: async () => {
      agent.destroy();
      for (const server of [exits, site]) {
        server.closeAllConnections();
        await new Promise((done) => server.close(done));
      }
    },
  };
  return sites;
}

async function listen(server: http.Server): Promise<number> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return (server.address() as AddressInfo).port;
}
