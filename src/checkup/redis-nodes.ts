/**
 * Judges the servers of the shared state by what they say of themselves: role, memory, what is evicted, what is saved,
 * clients, load, clocks, and whether all that is ours has an end. A line for each check, about the worst of the nodes.
 */
import { checkOf, counted, worstOf, type Check, type CheckLine } from './line.js';
import type { RedisInfo } from './redis-info.js';

/** What is known of one server. */
export interface NodeFacts {
  /** `host:port`. */
  readonly at: string;
  readonly info: RedisInfo;
  /** How far its clock is ahead of ours. */
  readonly aheadMs: number;
  /** Share of one core that it was busy for while nothing was asked of it; null: not known. */
  readonly busy: number | null;
  /** Keys of ours that were looked at, and those of them without an end. */
  readonly keys: number;
  readonly endless: number;
  /** One of them. */
  readonly sample: string | null;
}

const MAX_SKEW_MS = 1000;
const BAD_SKEW_MS = 10_000;
const FULL = { warn: 0.8, fail: 0.95 };
const BUSY = { warn: 0.5, fail: 0.8 };

/** All lines about the servers. */
export function judgeNodes(nodes: readonly NodeFacts[], asked: { readonly isCluster: boolean }): CheckLine[] {
  return [
    worstLine(nodes, (node) => judgeRole(node, asked.isCluster)),
    worstLine(nodes, judgeEviction),
    worstLine(nodes, judgeMemory),
    worstLine(nodes, judgeSaving),
    judgeEnds(nodes),
    worstLine(nodes, judgeClients),
    worstLine(nodes, judgeLoad),
    judgeClocks(nodes),
  ];
}

/** The line of the node that is worst off, with its name where there are several. */
function worstLine(nodes: readonly NodeFacts[], judge: (node: NodeFacts) => CheckLine): CheckLine {
  const lines = nodes.map((node) => ({ node, line: judge(node) }));
  const worst = worstOf(lines.map(({ line }) => line));
  const found = lines.find(({ line }) => line.level === worst);
  if (found === undefined) throw new Error('a Redis has at least one node');
  const { line, node } = found;
  return nodes.length === 1 ? line : { ...line, says: `${node.at}: ${line.says}` };
}

function judgeRole({ info }: NodeFacts, isCluster: boolean): CheckLine {
  const check = checkOf('server');
  if (info.role === 'slave')
    return check.fail(
      'is a replica, which takes no writes',
      'name the primary in state.url, or use state.sentinels',
    );
  if (info.isCluster && !isCluster)
    return check.fail('is a node of a cluster', 'name some of its nodes in state.nodes instead of state.url');
  return check.ok(`Redis ${info.version ?? 'of unknown version'}, takes writes`);
}

function judgeEviction({ info: { policy, maxBytes, evicted } }: NodeFacts): CheckLine {
  const check = checkOf('eviction');
  const todo = 'set maxmemory-policy noeviction (or volatile-ttl)';
  if (policy === null) return check.warn('Redis does not say what it evicts', todo);
  if (policy.startsWith('allkeys-')) {
    const says = `maxmemory-policy ${policy} drops sessions, bans and leases that are in force`;
    return maxBytes === 0 ? check.warn(`${says}, once there is a maxmemory`, todo) : check.fail(says, todo);
  }
  if (policy !== 'noeviction' && policy !== 'volatile-ttl')
    return check.warn(`maxmemory-policy ${policy} drops what is in force before what ends soon`, todo);
  if (evicted !== null && evicted > 0)
    return check.warn(`${policy}, and ${counted(evicted, 'key')} evicted so far`, 'give Redis more memory');
  return check.ok(policy);
}

function judgeMemory({ info: { usedBytes, maxBytes } }: NodeFacts): CheckLine {
  const check = checkOf('memory');
  if (usedBytes === null || maxBytes === null) return check.ok('not known');
  const used = `${(usedBytes / 1024 ** 2).toFixed(1)} MiB used`;
  if (maxBytes === 0) return check.ok(`${used}, no limit`);
  const share = usedBytes / maxBytes;
  const says = `${used}, ${Math.round(share * 100)} % of maxmemory`;
  return byShare(
    check,
    { share, says, ...FULL },
    'raise maxmemory: a full Redis refuses writes, and gateways go on alone',
  );
}

function judgeSaving({ info: { saves } }: NodeFacts): CheckLine {
  const check = checkOf('persistence');
  const todo = 'mend it (disk, rights), or save nothing (save "" and appendonly no): it is not needed';
  if (saves.rdb === 'err' || saves.aof === 'err')
    return check.fail('the last save failed; Redis then refuses writes (MISCONF)', todo);
  return check.ok(saves.isAof ? 'append-only file; not needed' : 'not needed; what is lost is told again');
}

function judgeEnds(nodes: readonly NodeFacts[]): CheckLine {
  const check = checkOf('ends');
  const sum = (of: (node: NodeFacts) => number): number => nodes.reduce((all, node) => all + of(node), 0);
  const [keys, endless] = [sum((node) => node.keys), sum((node) => node.endless)];
  if (endless === 0) return check.ok(`${counted(keys, 'key')} of ours looked at, all have an end`);
  const sample = nodes.find((node) => node.sample !== null)?.sample ?? '';
  return check.fail(
    `${endless} of ${counted(keys, 'key')} under our prefix never end, such as ${sample}`,
    'who else writes there? Give each fleet its own state.prefix, and delete or expire these',
  );
}

function judgeClients({ info: { clients, maxClients } }: NodeFacts): CheckLine {
  const check = checkOf('clients');
  if (clients === null) return check.ok('not known');
  if (maxClients === null) return check.ok(`${counted(clients, 'connection')}`);
  const share = clients / maxClients;
  const says = `${clients} of ${counted(maxClients, 'connection')} in use`;
  return byShare(check, { share, says, ...FULL }, 'raise maxclients: each gateway wants two');
}

function judgeLoad({ busy, info: { opsPerSecond } }: NodeFacts): CheckLine {
  const check = checkOf('load');
  const ops = opsPerSecond === null ? '' : `${opsPerSecond} commands a second`;
  if (busy === null) return check.ok(ops === '' ? 'not known' : ops);
  const says = `${ops === '' ? '' : `${ops}, `}busy for ${Math.round(busy * 100)} % of a core`;
  const todo =
    'Redis has one core for commands: a faster one, a cluster, or ring instead of broker (docs/scaling.md)';
  return byShare(check, { share: busy, says, ...BUSY }, todo);
}

function judgeClocks(nodes: readonly NodeFacts[]): CheckLine {
  const check = checkOf('clocks');
  const readings = [0, ...nodes.map(({ aheadMs }) => aheadMs)];
  const skewMs = Math.max(...readings) - Math.min(...readings);
  const says = `clocks of this machine and of Redis differ by ${(skewMs / 1000).toFixed(1)} s`;
  const todo = 'run NTP on all machines: ends in Redis go by its clock, logs and budgets by ours';
  if (skewMs > BAD_SKEW_MS) return check.fail(says, todo);
  return skewMs > MAX_SKEW_MS ? check.warn(says, todo) : check.ok(says);
}

interface ShareOf {
  readonly share: number;
  readonly says: string;
  readonly warn: number;
  readonly fail: number;
}

function byShare(check: Check, { share, says, warn, fail }: ShareOf, todo: string): CheckLine {
  if (share > fail) return check.fail(says, todo);
  return share > warn ? check.warn(says, todo) : check.ok(says);
}
