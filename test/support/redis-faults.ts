/** The ways in which a Redis, or the way to it, breaks under gateways that use it; each can be mended. */
import type { FaultProxy } from './fault-proxy.js';
import { freePort } from './launched-program.js';
import { startRedis, type RealRedis } from './real-redis.js';
import { eventually } from './wait.js';

/** One of them. */
export interface RedisFault {
  readonly name: string;
  /** Whether gateways must come by the fault proxy for it. */
  readonly isOnTheWay: boolean;
  /** Whether Redis counts as away for it. */
  readonly isOutage: boolean;
  /** Breaks it. Returns what mends it. */
  begin(redis: RealRedis, proxy: FaultProxy): Promise<() => Promise<unknown>>;
}

const HOST = '127.0.0.1';
/** Scripts are forgotten so often. */
const FLUSH_MS = 100;

/** As when a node leaves: what is connected is cut off. */
const hangUp = ({ admin }: RealRedis): Promise<unknown> =>
  admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');

async function closePort(redis: RealRedis): Promise<() => Promise<unknown>> {
  await redis.admin.config('SET', 'port', String(await freePort(HOST)));
  await hangUp(redis);
  return () => redis.admin.config('SET', 'port', String(redis.port));
}

async function stop({ pid }: RealRedis): Promise<() => Promise<unknown>> {
  process.kill(pid, 'SIGSTOP');
  return async () => process.kill(pid, 'SIGCONT');
}

/** Another became the primary, and gateways are still connected to the old one, which is its replica now. */
async function failOver({ admin, port }: RealRedis): Promise<() => Promise<unknown>> {
  await admin.config('SET', 'repl-diskless-sync-delay', '0');
  const next = await startRedis(['--replicaof', `${HOST} ${port}`, '--repl-diskless-sync-delay', '0']);
  await eventually('the replica', async () =>
    (await next.admin.info('replication')).includes('master_link_status:up'),
  );
  await next.admin.call('REPLICAOF', 'NO', 'ONE');
  await admin.call('REPLICAOF', HOST, String(next.port));
  return async () => {
    await admin.call('REPLICAOF', 'NO', 'ONE');
    await next.close();
  };
}

async function fill({ admin }: RealRedis): Promise<() => Promise<unknown>> {
  await admin.config('SET', 'maxmemory-policy', 'noeviction');
  await admin.config('SET', 'maxmemory', '1');
  return () => admin.config('SET', 'maxmemory', '0');
}

async function changePassword(redis: RealRedis): Promise<() => Promise<unknown>> {
  await redis.admin.call('ACL', 'SETUSER', 'default', 'resetpass', '>other');
  await hangUp(redis);
  return () => redis.admin.call('ACL', 'SETUSER', 'default', 'nopass');
}

async function forgetScripts({ admin }: RealRedis): Promise<() => Promise<unknown>> {
  const flush = (): Promise<unknown> => admin.call('SCRIPT', 'FLUSH');
  await flush();
  const timer = setInterval(() => void flush(), FLUSH_MS);
  return async () => clearInterval(timer);
}

/** A fault of the way: `set` in the proxy, and out again, with what hangs in it. */
const onTheWay =
  (set: FaultProxy['faults']): RedisFault['begin'] =>
  async (_, proxy) => {
    Object.assign(proxy.faults, set);
    return async () => {
      for (const name of Object.keys(set)) delete proxy.faults[name as keyof typeof set];
      if (set.isBlackHole === true) proxy.resetAll();
    };
  };

const outage = (name: string, begin: RedisFault['begin']): RedisFault => ({
  ...{ name, begin, isOnTheWay: false, isOutage: true },
});

/** All of them. */
export const redisFaults: readonly RedisFault[] = [
  outage('port closed', closePort),
  outage('SIGSTOP', stop),
  { ...outage('cut in mid-reply', onTheWay({ isCutMidPiece: true })), isOnTheWay: true },
  { ...outage('latency of 2 s', onTheWay({ latencyMs: 2000 })), isOnTheWay: true },
  { ...outage('black hole', onTheWay({ isBlackHole: true })), isOnTheWay: true },
  outage('READONLY after fail-over', failOver),
  outage('OOM', fill),
  { ...outage('NOSCRIPT', forgetScripts), isOutage: false },
  outage('wrong password', changePassword),
];
