/** A PostgreSQL of Debian for a measurement: on a free port, with its files in a given folder, as durable as it comes. */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, OTHER_CORE, start, waitForPort } from './process.js';

const HOME = '/usr/lib/postgresql';

/** A server that runs. */
export interface BenchPostgres {
  readonly port: number;
  stop(): Promise<void>;
}

/** It refuses to run as root. */
const isRoot = process.getuid?.() === 0;
const asItsUser = isRoot ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups'] : ['env'];

/** Starts one. Throws where none is installed. */
export async function startBenchPostgres(directory: string): Promise<BenchPostgres> {
  const version = readdirSync(HOME).sort((a, b) => Number(b) - Number(a))[0];
  if (version === undefined) throw new Error('install postgresql');
  const folder = join(directory, 'postgres');
  mkdirSync(folder);
  chmodSync(directory, 0o755);
  if (isRoot) chownSync(folder, idOf('-u'), idOf('-g'));
  const [command = 'env', ...before] = asItsUser;
  const data = join(folder, 'data');
  const program = (name: string) => join(HOME, version, 'bin', name);
  const init = ['-D', data, '-U', 'turnpike', '-A', 'trust', '-E', 'UTF8', '--locale=C'];
  const made = spawnSync(command, [...before, program('initdb'), ...init], { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`);
  const port = await freePort();
  const args = [
    '-D',
    data,
    '-h',
    '127.0.0.1',
    '-k',
    folder,
    '-p',
    String(port),
    '-c',
    'shared_buffers=512MB',
  ];
  const server = start({
    ...{ core: OTHER_CORE, command, args: [...before, program('postgres'), ...args] },
    logFile: join(directory, 'postgres.log'),
  });
  await waitForPort(server, port);
  return { port, stop: () => server.stop() };
}

const idOf = (flag: string): number =>
  Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout.trim());
