/**
 * Peer `squid`: Debian's Squid with Basic auth and access log, one parent proxy with a login, no cache.
 */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { needPackage } from '../support/debian.js';
import { orStop, type Peer, type PeerContext } from '../support/peer.js';
import { GATEWAY_CORE, freePort, start, waitForPort } from '../support/process.js';
import { CLIENT_LOGIN, UPSTREAM_LOGIN } from '../support/wire.js';

const PROGRAM = '/usr/sbin/squid';
const AUTH_PROGRAM = '/usr/lib/squid/basic_ncsa_auth';

export const squid: Peer = {
  name: 'squid',
  note: 'auth, access log to a file',
  start: async (context) => {
    needPackage('squid', PROGRAM);
    const port = await freePort();
    const file = join(context.directory, 'squid.conf');
    writeFileSync(file, configuration(context, port));
    writePasswords(join(context.directory, 'squid.passwords'));
    const started = start({
      core: GATEWAY_CORE,
      command: PROGRAM,
      args: ['-N', '-f', file],
      logFile: join(context.directory, 'squid.log'),
    });
    await orStop(started, () => waitForPort(started, port));
    return { port, pid: started.pid, login: CLIENT_LOGIN, logFile: started.logFile, stop: started.stop };
  },
};

/** Squid runs as the user `proxy`, so what it reads must be readable by it. */
function writePasswords(file: string): void {
  const [name = '', password = ''] = CLIENT_LOGIN.split(':');
  const hash = spawnSync('openssl', ['passwd', '-apr1', password], { encoding: 'utf8' }).stdout.trim();
  writeFileSync(file, `${name}:${hash}\n`);
  chmodSync(file, 0o644);
}

function configuration({ directory, upstreamPort }: PeerContext, port: number): string {
  return `
http_port 127.0.0.1:${port}
cache_peer 127.0.0.1 parent ${upstreamPort} 0 no-query no-digest no-netdb-exchange default login=${UPSTREAM_LOGIN}
never_direct allow all
cache deny all
auth_param basic program ${AUTH_PROGRAM} ${directory}/squid.passwords
auth_param basic children 2 startup=1 idle=1
auth_param basic credentialsttl 2 hours
acl known proxy_auth REQUIRED
http_access allow known
http_access deny all
access_log daemon:${directory}/squid.access.log squid
cache_log ${directory}/squid.cache.log
via off
forwarded_for delete
max_filedescriptors 20000
pid_filename none
coredump_dir ${directory}
pinger_enable off
shutdown_lifetime 0 seconds
`;
}
