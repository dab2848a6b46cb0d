/**
 * Peer `proxy-chain`: the npm package as its README shows it, with one upstream proxy.
 * No auth, no log, no metrics.
 */
import { Server } from 'proxy-chain';
import { UPSTREAM_LOGIN } from '../support/wire.js';
import { announce, upstreamPort } from './listen.js';

const server = new Server({
  host: '127.0.0.1',
  port: 0,
  prepareRequestFunction: () => ({
    requestAuthentication: false,
    upstreamProxyUrl: `http://${UPSTREAM_LOGIN}@127.0.0.1:${upstreamPort}`,
  }),
});
server.on('requestFailed', ({ error }: { error: Error }) => console.error(error.message));
await server.listen();
announce(server.port);
