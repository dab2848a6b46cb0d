/** Contestant: the npm package proxy-chain with a random upstream for each request, as its README suggests. */
import { Server } from 'proxy-chain';
import { announce } from '../peers/listen.js';

const exits = (process.env['BENCH_EXITS'] ?? '').split(',');
const server = new Server({
  host: '127.0.0.1',
  port: 0,
  prepareRequestFunction: () => ({
    requestAuthentication: false,
    upstreamProxyUrl: `http://${exits[Math.floor(Math.random() * exits.length)] ?? ''}`,
  }),
});
await server.listen();
announce(server.port);
