/** Contestants: this gateway with several strategies. Its times are scaled down as those of the sites are. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { orStop, PROJECT_ROOT } from '../support/peer.js';
import { freePort, OTHER_CORE, GATEWAY_CORE, start, waitForPort } from '../support/process.js';
import type { Contestant, Course, RunningContestant } from './contestants.js';
import { CAPTCHA_TEXT } from './scenarios.js';

const PROGRAM = join(PROJECT_ROOT, 'dist', 'cli', 'main.js');
const ADMIN_TOKEN = 'bench-admin-token-0123456789';

/** How the pool is to be used. */
interface Manner {
  readonly strategy: string;
  readonly spacing?: 'auto';
}

/** This gateway, with a pool that is used in this manner. */
export function turnpikeContestant(name: string, note: string, manner: Manner): Contestant {
  return { name, note, start: (course) => startTurnpike(name, course, manner) };
}

async function startTurnpike(name: string, course: Course, manner: Manner): Promise<RunningContestant> {
  const directory = join(course.directory, name);
  mkdirSync(directory, { recursive: true });
  writeFileSync(
    join(directory, 'exits.txt'),
    course.addresses.map((address) => `http://${address}:${course.port}\n`).join(''),
  );
  const [port, adminPort] = [await freePort(), await freePort()];
  const file = join(directory, 'turnpike.yaml');
  writeFileSync(file, configuration({ port, adminPort }, manner));
  const started = start({
    core: course.world % 2 === 0 ? GATEWAY_CORE : OTHER_CORE,
    command: process.execPath,
    args: [PROGRAM, 'serve', '--config', file],
    logFile: join(directory, 'turnpike.log'),
    directory,
    env: { TURNPIKE_ADMIN_TOKEN: ADMIN_TOKEN, TURNPIKE_DATA_DIR: directory },
  });
  await orStop(started, () => waitForPort(started, port));
  return {
    chooser: { kind: 'gateway', port },
    stop: started.stop,
    banned: () => countBans(adminPort),
  };
}

function configuration(ports: { port: number; adminPort: number }, manner: Manner): string {
  const limits = manner.spacing === undefined ? '{}' : `{ spacing: ${manner.spacing} }`;
  return `
listen: { proxy: "127.0.0.1:${ports.port}", admin: "127.0.0.1:${ports.adminPort}" }
targets: { allow: ["127.0.0.0/8"] }
pools: { main: { upstreams: [ { file: ./exits.txt } ], strategy: ${manner.strategy}, limits: ${limits} } }
routes: [ { match: {}, pools: [main], retries: 3, timeout: 9s } ]
timeouts: { dial: 1s, first_byte: 3s, acquire: 6s }
bans: { site: 30s, site_cap: 2m, transport: 5s, transport_cap: 1m, suspect_window: 20s }
guard: { window: 10s, canary: 1s }
rules: [ { name: captcha, when: { status: 200, body: { contains: "${CAPTCHA_TEXT}" } } } ]
log: { file: ./access.log }
`;
}

/** Exits that are set aside now, for a site or altogether. */
async function countBans(adminPort: number): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${adminPort}/api/v1/bans?limit=1000`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  if (!answer.ok) throw new Error(`/api/v1/bans: status ${answer.status}`);
  const { items } = (await answer.json()) as { items: { exit: string; leftMs: number }[] };
  return new Set(items.filter(({ leftMs }) => leftMs > 0).map(({ exit }) => exit)).size;
}
