/**
 * The ways out of the demo: real proxies, made by the package `proxy-chain`, each listening on and leaving by a
 * loopback address of its own, so that the site can tell them apart as it would tell real exits.
 */
import type dns from 'node:dns';
import http from 'node:http';
import net from 'node:net';
import { Server } from 'proxy-chain';

/** An exit of the demo. */
export interface DemoExit {
  readonly name: string;
  /** Where it listens, and the source address that the site sees. */
  readonly address: string;
  /** What is special about it, for people; empty for nothing. */
  readonly remark: string;
  /** The line in the list of upstreams. */
  readonly url: string;
  close(): Promise<void>;
}

/** What exit to start. */
export interface ExitOptions {
  readonly name: string;
  readonly address: string;
  readonly remark?: string;
  readonly login?: { readonly username: string; readonly password: string };
  /** Names that this exit resolves, to addresses; no other name exists for it. */
  readonly names: ReadonlyMap<string, string>;
}

/** Starts a proxy on a free port of its address. */
export async function startExit(options: ExitOptions): Promise<DemoExit> {
  const { address, login } = options;
  const httpAgent = new http.Agent({ keepAlive: true });
  // Node asks for nothing but the call itself; the type that proxy-chain names has a promisified twin beside it.
  const dnsLookup = lookupIn(options.names) as unknown as typeof dns.lookup;
  const server = new Server({
    host: address,
    port: 0,
    prepareRequestFunction: ({ username, password }) => ({
      requestAuthentication:
        login !== undefined && (username !== login.username || password !== login.password),
      localAddress: address,
      dnsLookup,
      httpAgent,
    }),
  });
  await server.listen();
  const userinfo = login === undefined ? '' : `${login.username}:${login.password}@`;
  return {
    name: options.name,
    address,
    remark: options.remark ?? '',
    url: `http://${userinfo}${address}:${server.port}`,
    close: async () => {
      await server.close(true);
      httpAgent.destroy();
    },
  };
}

/** An exit that is gone: its port was free a moment ago, and nobody listens there. */
export async function deadExit(name: string, address: string): Promise<DemoExit> {
  const port = await unusedPort(address);
  const remark = 'dead: nobody listens there';
  return { name, address, remark, url: `http://${address}:${port}`, close: () => Promise.resolve() };
}

/** A port of this address on which nobody listens. */
async function unusedPort(address: string): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, address, resolve);
  });
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A small DNS: these names and no other. */
function lookupIn(names: ReadonlyMap<string, string>): net.LookupFunction {
  return (hostname, options, callback) => {
    const address = names.get(hostname);
    if (address === undefined) {
      const error: NodeJS.ErrnoException = new Error(`no such name: ${hostname}`);
      error.code = 'ENOTFOUND';
      callback(error, '');
    } else if (options.all === true) callback(null, [{ address, family: 4 }]);
    else callback(null, address, 4);
  };
}
