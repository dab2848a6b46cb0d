/** What a fleet with leased exits is put through, as long as the test wants: exits that all want, sessions that race. */
import { seededRandom } from '../../src/core/random.js';
import { loadScripts } from '../../src/state/redis/scripts.js';
import { askAdmin } from './admin.js';
import { adminPortOf, at, FleetClient, metricOf, type ProcessFleet } from './fleet.js';
import type { Stage } from './stage.js';

/** Sum of a value over all gateways. */
export async function sumOf(fleet: ProcessFleet, name: string): Promise<number> {
  const values = await Promise.all(fleet.gateways.map((each) => metricOf(each, name)));
  return values.reduce((all, each) => all + each, 0);
}

/** Ids of all exits. */
export async function idsOf(fleet: ProcessFleet): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ''; ;) {
    const query = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { body } = await askAdmin(adminPortOf(at(fleet, 0)), `/api/v1/upstreams?limit=100${query}`);
    ids.push(...(body.items as { id: string }[]).map(({ id }) => id));
    if (typeof body.next !== 'string') return ids;
    cursor = body.next;
  }
}

/** What came of {@link handOver}. */
export interface HandedOver {
  readonly leases: number;
  readonly requests: number;
  readonly statuses: ReadonlyMap<number, number>;
  /** Bodies of other answers than 200. */
  readonly bad: readonly string[];
}

/**
 * Asks all gateways for exits by name until so many leases were taken: most are another gateway's and must be handed
 * over. Which exit and which gateway is chance, from a seed.
 */
export async function handOver(
  stage: Stage,
  fleet: ProcessFleet,
  how: { leases: number; atOnce: number },
): Promise<HandedOver> {
  const ids = await idsOf(fleet);
  const client = stage.keep(new FleetClient());
  const random = seededRandom(11);
  const statuses = new Map<number, number>();
  const bad: string[] = [];
  let [requests, leases] = [0, 0];
  const worker = async (): Promise<void> => {
    while (leases < how.leases) {
      requests++;
      const exit = ids[random.below(ids.length)] ?? '';
      const gateway = at(fleet, random.below(fleet.gateways.length));
      const { status, body } = await client.get(gateway, { headers: { 'x-turnpike-upstream': exit } });
      if (status !== 200) bad.push(body);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (requests % 200 === 0) leases = await sumOf(fleet, 'turnpike_leases_total{event="taken"}');
    }
  };
  await Promise.all(Array.from({ length: how.atOnce }, worker));
  return { leases, requests, statuses, bad };
}

/** Asks for so many new sessions at all gateways at once. The exits that each session was seen on, and bad statuses. */
export async function raceSessions(
  stage: Stage,
  fleet: ProcessFleet,
  how: { sessions: number; atOnce: number },
): Promise<{ exits: ReadonlyMap<string, ReadonlySet<string>>; bad: string[] }> {
  const client = stage.keep(new FleetClient());
  const bad: string[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < how.sessions) {
      const session = `s${next++}`;
      const url = `http://site.example/${session}`;
      const pages = await Promise.all(fleet.gateways.map((each) => client.get(each, { url, session })));
      bad.push(...pages.filter(({ status }) => status !== 200).map(({ body }) => body));
    }
  };
  await Promise.all(Array.from({ length: how.atOnce }, worker));
  const exits = new Map<string, Set<string>>();
  for (const { session, exit } of fleet.exits.uses) {
    const seen = exits.get(session);
    if (seen === undefined) exits.set(session, new Set([exit]));
    else seen.add(exit);
  }
  return { exits, bad };
}

const beginningOf = (lua: string): string => lua.slice(0, 20);

/** What gateways that have nothing to do call, too: they tell that they live, and ask for bans. */
const HEARTBEATS = new Set(['member-announce', 'member-leave', 'bans-since', 'probe']);

/** Calls that Redis got. */
export interface RedisCalls {
  /** By script, without heartbeats. */
  readonly byScript: ReadonlyMap<string, number>;
  readonly calls: number;
  readonly heartbeats: number;
}

/** The calls that Redis itself sees (`MONITOR`) while something is done; `INFO commandstats` must agree. */
export async function redisCallsOf(
  { redis }: ProcessFleet,
  work: () => Promise<unknown>,
): Promise<RedisCalls> {
  const scripts = Object.entries(loadScripts());
  const names = new Map(
    scripts.flatMap(([name, { sha, lua }]) => [
      [sha, name],
      [beginningOf(lua), name],
    ]),
  );
  const all = new Map<string, number>();
  const monitor = await redis.admin.monitor();
  monitor.on('monitor', (_: string, [command = '', script = '']: string[]) => {
    if (!/^eval(sha)?$/i.test(command)) return;
    // After NOSCRIPT the whole text is sent.
    const name = names.get(command.toLowerCase() === 'eval' ? beginningOf(script) : script) ?? script;
    all.set(name, (all.get(name) ?? 0) + 1);
  });
  const before = await evalsOf(redis.admin);
  await work();
  const counted = (await evalsOf(redis.admin)) - before;
  monitor.disconnect();
  const sum = (of: Iterable<[string, number]>): number => [...of].reduce((total, [, n]) => total + n, 0);
  // A heartbeat may fall between the two ends of the one count and those of the other.
  if (Math.abs(sum(all) - counted) > 4 + counted * 0.01)
    throw new Error(`MONITOR saw ${sum(all)} calls, commandstats ${counted}`);
  const byScript = new Map([...all].filter(([name]) => !HEARTBEATS.has(name)));
  return { byScript, calls: sum(byScript), heartbeats: sum(all) - sum(byScript) };
}

async function evalsOf(admin: ProcessFleet['redis']['admin']): Promise<number> {
  const stats = await admin.info('commandstats');
  return [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce((sum, [, n]) => sum + Number(n), 0);
}

/** A line for people. */
export function lineOf(what: string, { byScript, calls, heartbeats }: RedisCalls, requests: number): string {
  const parts = [...byScript].map(([name, n]) => `${name} ${n}`).join(', ');
  const perRequest = (calls / requests).toFixed(3).padStart(7);
  return `${what.padEnd(34)}${perRequest} calls a request of ${requests} (${parts || 'none'}; without ${heartbeats} heartbeats)\n`;
}
