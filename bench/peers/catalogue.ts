/**
 * All gateways the bench knows, in the order of the table.
 */
import { scriptPeer, type Peer } from '../support/peer.js';
import { UPSTREAM_LOGIN } from '../support/wire.js';
import { haproxy } from './haproxy.js';
import { squid } from './squid.js';
import { turnpike } from './turnpike.js';

/** No gateway at all: the load generator speaks to the upstream. Shows what the harness itself costs in time. */
const direct: Peer = {
  name: 'direct',
  note: 'no gateway: what the harness takes; CPU is the upstream’s',
  isReference: true,
  start: (context) =>
    Promise.resolve({
      port: context.upstreamPort,
      pid: context.upstreamPid,
      login: UPSTREAM_LOGIN,
      logFile: '',
      stop: () => Promise.resolve(),
    }),
};

export const CATALOGUE: readonly Peer[] = [
  turnpike,
  scriptPeer('bare', 'raw sockets, Content-Length only; no auth, log, metrics'),
  squid,
  scriptPeer('undici', 'node:http + undici; no auth, log, metrics'),
  scriptPeer('node-http', 'node:http on both sides; no auth, log, metrics'),
  scriptPeer('proxy-chain', 'the npm package; no auth, log, metrics'),
  haproxy,
  direct,
];
