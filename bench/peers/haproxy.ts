/**
 * Peer `haproxy`: Debian's HAProxy in tcp mode, one thread. It only passes bytes on (the client brings the upstream's
 * login), so it is the limit of what a process with two sockets can do, not a rival.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { needPackage } from '../support/debian.js';
import { orStop, type Peer } from '../support/peer.js';
import { GATEWAY_CORE, freePort, start, waitForPort } from '../support/process.js';
import { UPSTREAM_LOGIN } from '../support/wire.js';

const PROGRAM = '/usr/sbin/haproxy';

export const haproxy: Peer = {
  name: 'haproxy',
  note: 'tcp mode: passes bytes on; the limit, no rival',
  isReference: true,
  start: async (context) => {
    needPackage('haproxy', PROGRAM);
    const port = await freePort();
    const file = join(context.directory, 'haproxy.cfg');
    writeFileSync(file, configuration(port, context.upstreamPort));
    const started = start({
      core: GATEWAY_CORE,
      command: PROGRAM,
      args: ['-db', '-f', file],
      logFile: join(context.directory, 'haproxy.log'),
    });
    await orStop(started, () => waitForPort(started, port));
    return { port, pid: started.pid, login: UPSTREAM_LOGIN, logFile: started.logFile, stop: started.stop };
  },
};

function configuration(port: number, upstreamPort: number): string {
  return `
global
  nbthread 1
  maxconn 9900
defaults
  mode tcp
  timeout connect 5s
  timeout client 1h
  timeout server 1h
listen gateway
  bind 127.0.0.1:${port} backlog 4096
  server upstream 127.0.0.1:${upstreamPort}
`;
}
