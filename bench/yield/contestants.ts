/** Who is compared in the yield bench: this gateway, what people use instead, and the chooser that knows everything. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { needPackage } from '../support/debian.js';
import { COMPILED_ROOT, orStop } from '../support/peer.js';
import { freePort, OTHER_CORE, start, waitForAnnouncedPort, waitForPort } from '../support/process.js';
import { turnpikeContestant } from './turnpikes.js';
import type { Chooser } from './world.js';

/** What a contestant is started with: the exits of its world. */
export interface Course {
  readonly directory: string;
  readonly world: number;
  readonly addresses: readonly string[];
  readonly port: number;
}

/** A contestant that runs. */
export interface RunningContestant {
  readonly chooser: Chooser;
  readonly stop: () => Promise<void>;
  /** How many exits it has set aside now; null where that means nothing. */
  readonly banned: () => Promise<number | null>;
}

/** One row. */
export interface Contestant {
  readonly name: string;
  readonly note: string;
  readonly start: (course: Course) => Promise<RunningContestant>;
}

const nothing = (): Promise<void> => Promise.resolve();
const bansNothing = (): Promise<null> => Promise.resolve(null);

/** The measure of all others. */
export const knowing: Contestant = {
  name: 'knowing',
  note: 'knows the state of the site: the limit',
  start: () => Promise.resolve({ chooser: { kind: 'knowing' }, stop: nothing, banned: bansNothing }),
};

const proxyChain: Contestant = {
  name: 'proxy-chain',
  note: 'the npm package, a random exit for each request',
  start: async (course) => {
    const started = start({
      core: OTHER_CORE,
      command: process.execPath,
      args: [join(COMPILED_ROOT, 'yield', 'rotating-proxy-chain.js')],
      logFile: join(course.directory, 'proxy-chain.log'),
      env: { BENCH_EXITS: course.addresses.map((address) => `${address}:${course.port}`).join(',') },
    });
    const port = await orStop(started, () => waitForAnnouncedPort(started));
    return { chooser: { kind: 'gateway', port }, stop: started.stop, banned: bansNothing };
  },
};

const squid: Contestant = {
  name: 'squid',
  note: 'cache_peer, round-robin',
  start: async (course) => {
    needPackage('squid', '/usr/sbin/squid');
    const directory = join(course.directory, 'squid');
    mkdirSync(directory, { recursive: true });
    chmodSync(directory, 0o777);
    const port = await freePort();
    writeFileSync(join(directory, 'squid.conf'), squidConfiguration(course, directory, port));
    const started = start({
      core: OTHER_CORE,
      command: '/usr/sbin/squid',
      args: ['-N', '-f', join(directory, 'squid.conf')],
      logFile: join(directory, 'squid.log'),
    });
    await orStop(started, () => waitForPort(started, port));
    return { chooser: { kind: 'gateway', port }, stop: started.stop, banned: bansNothing };
  },
};

function squidConfiguration(course: Course, directory: string, port: number): string {
  const peers = course.addresses.map(
    (address, n) =>
      `cache_peer ${address} parent ${course.port} 0 no-query no-digest no-netdb-exchange round-robin name=e${n}`,
  );
  return `
http_port 127.0.0.1:${port}
${peers.join('\n')}
never_direct allow all
cache deny all
http_access allow all
access_log none
cache_log ${directory}/cache.log
connect_timeout 1 seconds
peer_connect_timeout 1 seconds
read_timeout 3 seconds
via off
forwarded_for delete
pid_filename none
coredump_dir ${directory}
pinger_enable off
shutdown_lifetime 0 seconds
`;
}

const haproxy: Contestant = {
  name: 'haproxy',
  note: 'tcp, round robin, redispatch',
  start: async (course) => {
    needPackage('haproxy', '/usr/sbin/haproxy');
    const port = await freePort();
    const file = join(course.directory, 'haproxy.cfg');
    const servers = course.addresses.map((address, n) => `  server e${n} ${address}:${course.port}`);
    writeFileSync(
      file,
      `global
  nbthread 1
defaults
  mode tcp
  balance roundrobin
  option redispatch
  retries 3
  timeout connect 1s
  timeout client 10s
  timeout server 3s
listen gateway
  bind 127.0.0.1:${port}
${servers.join('\n')}
`,
    );
    const started = start({
      core: OTHER_CORE,
      command: '/usr/sbin/haproxy',
      args: ['-db', '-f', file],
      logFile: join(course.directory, 'haproxy.log'),
    });
    await orStop(started, () => waitForPort(started, port));
    return { chooser: { kind: 'gateway', port }, stop: started.stop, banned: bansNothing };
  },
};

const article: Contestant = {
  name: 'redis-broker',
  note: "the article's broker on a real Redis, in the crawlers",
  start: async (course) => {
    needPackage('redis-server', '/usr/bin/redis-server');
    const redisPort = await freePort();
    const started = start({
      core: OTHER_CORE,
      command: '/usr/bin/redis-server',
      args: ['--port', String(redisPort), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
      logFile: join(course.directory, 'redis.log'),
      directory: course.directory,
    });
    await orStop(started, () => waitForPort(started, redisPort));
    return { chooser: { kind: 'article', redisPort }, stop: started.stop, banned: bansNothing };
  },
};

/** All rows but the measure, in the order in which they are shown. */
export const CONTESTANTS: readonly Contestant[] = [
  turnpikeContestant('turnpike', 'adaptive, spacing: auto', { strategy: 'adaptive', spacing: 'auto' }),
  turnpikeContestant('turnpike-turns', 'round_robin, spacing: auto', {
    strategy: 'round_robin',
    spacing: 'auto',
  }),
  turnpikeContestant('turnpike-fastest', 'fastest, no spacing', { strategy: 'fastest' }),
  turnpikeContestant('turnpike-plain', 'round_robin, no spacing', { strategy: 'round_robin' }),
  proxyChain,
  squid,
  haproxy,
  article,
];
