/**
 * Peer `turnpike`: our gateway with everything that is on by default, plus client auth and the access log in a file.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT, Unavailable, orStop, type Peer, type PeerContext } from '../support/peer.js';
import { GATEWAY_CORE, freePort, start, waitForPort } from '../support/process.js';
import { CLIENT_LOGIN, UPSTREAM_LOGIN } from '../support/wire.js';

const PROGRAM = join(PROJECT_ROOT, 'dist', 'cli', 'main.js');

export const turnpike: Peer = {
  name: 'turnpike',
  note: 'auth, sessions, verdicts, metrics, access log to a file',
  start: async (context) => {
    if (!existsSync(PROGRAM)) throw new Unavailable('dist/cli/main.js is not built');
    const port = await freePort();
    const file = join(context.directory, 'turnpike.yaml');
    const data = join(context.directory, 'turnpike-data');
    mkdirSync(data, { recursive: true });
    writeFileSync(file, configuration(context, port, await freePort()));
    const started = start({
      core: GATEWAY_CORE,
      command: process.execPath,
      args: [...context.nodeArgs, PROGRAM, 'serve', '--config', file],
      logFile: join(context.directory, 'turnpike.log'),
      directory: context.directory,
      env: { BENCH_PASSWORD: CLIENT_LOGIN.split(':')[1] ?? '', TURNPIKE_DATA_DIR: data },
    });
    await orStop(started, () => waitForPort(started, port));
    return { port, pid: started.pid, login: CLIENT_LOGIN, logFile: started.logFile, stop: started.stop };
  },
};

function configuration({ directory, upstreamPort }: PeerContext, port: number, adminPort: number): string {
  const [name = ''] = CLIENT_LOGIN.split(':');
  return `
listen: { proxy: "127.0.0.1:${port}", admin: "127.0.0.1:${adminPort}" }
targets: { allow: ["127.0.0.0/8"] }
clients: [ { name: ${name}, password: "env:BENCH_PASSWORD" } ]
pools: { main: { upstreams: [ { url: "http://${UPSTREAM_LOGIN}@127.0.0.1:${upstreamPort}" } ], strategy: round_robin } }
routes: [ { match: {}, pools: [main] } ]
log: { file: ${JSON.stringify(join(directory, 'turnpike.access.log'))} }
`;
}
