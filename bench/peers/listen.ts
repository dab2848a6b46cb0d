/**
 * How the small Node gateways in this folder get their settings and say that they are ready.
 */
import type { Server } from 'node:net';
import { UPSTREAM_LOGIN, basic } from '../support/wire.js';

/** Port of the scripted upstream proxy, on 127.0.0.1. */
export const upstreamPort = Number(process.env['BENCH_UPSTREAM_PORT']);
/** Value of Proxy-Authorization towards it. */
export const upstreamAuthorization = basic(UPSTREAM_LOGIN);

/** Prints the line the runner waits for. */
export function announce(port: number): void {
  console.log(`listening ${port}`);
  // A profile is written on a regular exit only.
  process.on('SIGTERM', () => process.exit(0));
}

/** Listens on a port of the system's choice on loopback and announces it. */
export function listen(server: Server): void {
  server.listen(0, '127.0.0.1', 4096, () => {
    const address = server.address();
    if (address !== null && typeof address === 'object') announce(address.port);
  });
}
