/**
 * Judges the way to the shared state: whether it is there, who may come in, whether it is encrypted, what two gateways
 * make of it together, and how long it takes. It knows nothing of what the servers say of themselves.
 */
import { checkOf, counted, type CheckLine } from './line.js';

/** How it is reached. */
export interface WayFacts {
  /** All of its addresses are on this machine. */
  readonly isLoopback: boolean;
  readonly isTls: boolean;
  /** How many different servers some connections to the one address led to. */
  readonly servers: number;
  /** Whether a client without a login is served. */
  readonly isOpen: boolean;
  /** Whether our login may read what is not under our prefix. */
  readonly isWide: boolean;
  /** Of the sessions looked at, those that this fleet's secret doesn't open. */
  readonly pins: { readonly seen: number; readonly foreign: number };
  /** Gateways that say they use another secret. */
  readonly strangers: number;
}

/** What came of using it as two gateways do. */
export interface TrialFacts {
  /** The first of our kinds of work that was refused, and the code; null: all work. */
  readonly refused: { readonly work: string; readonly code: string } | null;
  /** Exclusive leases that both asked for at once, and those that both got, or none. */
  readonly race: { readonly tries: number; readonly both: number; readonly neither: number };
  /** Whether a message of one reached the other. */
  readonly isHeard: boolean;
  readonly latency: { readonly medianMs: number; readonly slowMs: number };
}

const MEDIAN_MS = { warn: 20, fail: 100 };
const SLOW_MS = 100;

const advice: Readonly<Record<string, string>> = {
  WRONGPASS: 'mend user name and password in state.url or state.password',
  NOAUTH: 'give a password in state.url or state.password',
  NOPERM: 'give the login the rights of docs/scaling.md (ACL SETUSER)',
  READONLY: 'this is a replica: name the primary, or use state.sentinels',
  OOM: 'Redis is full: raise maxmemory',
  MISCONF: 'Redis can not save and refuses writes: mend its disk, or save nothing',
  LOADING: 'Redis is still reading its files: ask again',
  MOVED: 'this is a node of a cluster: use state.nodes',
  CLUSTERDOWN: 'the cluster lacks nodes: see CLUSTER INFO',
  ERR: 'a command of ours is refused: give the login the rights of docs/scaling.md (ACL SETUSER), and take Redis 6.2 or later',
  timeout: 'find out what delays it: gateways wait for 200 ms at most',
};

/** What to do about a Redis that doesn't serve us. */
export function adviceFor(code: string): string {
  return (
    advice[code] ??
    'see that it runs, that the address is right, that TLS is what it speaks, and that no firewall is between'
  );
}

/** The line for a Redis that could not be asked at all. @param code as the state says it */
export function judgeAway(code: string): CheckLine {
  return checkOf('redis').fail(`can not be used (${code})`, adviceFor(code));
}

/** Lines about where it leads, login, encryption and the fleet's secret. */
export function judgeWay(way: WayFacts): CheckLine[] {
  return [judgeAddress(way.servers), judgeLogin(way), judgeTls(way.isLoopback, way.isTls), judgeSecret(way)];
}

function judgeAddress(servers: number): CheckLine {
  const check = checkOf('address');
  if (servers <= 1) return check.ok('leads to one and the same primary');
  return check.fail(
    `some connections led to ${servers} servers: gateways would not share anything`,
    'name one primary, or state.sentinels, or state.nodes; no balancer between',
  );
}

function judgeLogin({
  isLoopback,
  isOpen,
  isWide,
}: Pick<WayFacts, 'isLoopback' | 'isOpen' | 'isWide'>): CheckLine {
  const check = checkOf('login');
  const todo =
    'use a login with the rights of docs/scaling.md (ACL SETUSER), and switch the default user off';
  if (isOpen) {
    const says = 'Redis serves clients without a password: who reaches it bans exits and moves sessions';
    return isLoopback ? check.warn(says, todo) : check.fail(says, todo);
  }
  return isWide
    ? check.warn('our login may do more than it needs', todo)
    : check.ok('a password is needed, and ours opens nothing else');
}

function judgeTls(isLoopback: boolean, isTls: boolean): CheckLine {
  const check = checkOf('tls');
  if (isTls) return check.ok('encrypted');
  if (isLoopback) return check.ok('not encrypted, and on this machine');
  return check.warn(
    'password and sessions travel in clear',
    'use rediss:// or state.tls, unless the network is yours alone',
  );
}

function judgeSecret({ pins: { seen, foreign }, strangers }: WayFacts): CheckLine {
  const check = checkOf('secret');
  const todo = 'give all gateways the same TURNPIKE_CLUSTER_SECRET, and this command, too';
  if (strangers > 0)
    return check.fail(`${counted(strangers, 'gateway')} with another secret: sessions are not shared`, todo);
  if (foreign > 0)
    return check.fail(
      `${foreign} of ${counted(seen, 'session')} looked at were sealed with another secret`,
      `${todo}; after a change of it this goes away by itself`,
    );
  return check.ok(seen === 0 ? 'no session to try it on yet' : 'opens the sessions that are there');
}

/** Lines about what two gateways make of it. */
export function judgeTrial({ refused, race, isHeard, latency }: TrialFacts): CheckLine[] {
  if (refused !== null) {
    return [checkOf('work').fail(`${refused.work}: refused (${refused.code})`, adviceFor(refused.code))];
  }
  return [
    checkOf('work').ok('sessions, bans, leases, limits and heartbeats work'),
    judgeRace(race),
    judgeMessages(isHeard),
    judgeLatency(latency),
  ];
}

function judgeRace({ tries, both, neither }: TrialFacts['race']): CheckLine {
  const check = checkOf('atomicity');
  if (both > 0)
    return check.fail(
      `two clients got ${both} of ${tries} exclusive leases both`,
      'the address leads to more than one Redis: name one primary, Sentinels, or a cluster',
    );
  if (neither > 0)
    return check.warn(
      `${neither} of ${tries} leases went to nobody`,
      'look at the load of Redis and ask again',
    );
  return check.ok(`two clients asked for ${tries} exclusive leases at once: each went to one`);
}

function judgeMessages(isHeard: boolean): CheckLine {
  const check = checkOf('messages');
  return isHeard
    ? check.ok('what one gateway says another hears')
    : check.warn(
        'a message of one client did not reach another: bans take up to two seconds',
        'allow the channels (&PREFIX:*) to the login; see that all name the same Redis',
      );
}

function judgeLatency({ medianMs, slowMs }: TrialFacts['latency']): CheckLine {
  const check = checkOf('latency');
  const says = `a call takes ${medianMs.toFixed(1)} ms, one in twenty more than ${slowMs.toFixed(1)} ms`;
  const todo = 'bring Redis nearer, or find what delays it: calls are given up after 200 ms';
  if (medianMs > MEDIAN_MS.fail) return check.fail(says, todo);
  return medianMs > MEDIAN_MS.warn || slowMs > SLOW_MS ? check.warn(says, todo) : check.ok(says);
}
