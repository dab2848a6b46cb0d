/**
 * Uses a shared state as two gateways would, under names of its own, and takes away what it left: the trial of the launch
 * check. What came of it others judge.
 */
import type { TrialFacts } from '../checkup/redis-way.js';
import type { Clock } from '../core/clock.js';
import type { Random } from '../core/random.js';
import type { Member } from '../facts/member.js';
import { StoreAway } from './ports.js';
import { redisStores, type RedisAsk, type StoreParts } from './stores.js';

type Line = ReturnType<typeof redisStores>;

const READY_MS = 4000;
const HEARD_MS = 1500;
const TTL_MS = 5000;
const ROUNDS = 8;
const AT_ONCE = 8;
const CALLS = 50;

/** What came of it, and who announced themselves under the names of the real fleet. */
export interface TriedOut {
  readonly trial: TrialFacts;
  readonly members: readonly Member[];
}

/** Tries. Never rejects for a state that is away. */
export async function tryOut(ask: RedisAsk, parts: { clock: Clock; random: Random }): Promise<TriedOut> {
  const store: StoreParts = { ...parts, banKeepMs: TTL_MS };
  const apart = { ...ask, prefix: `${ask.prefix}:doctor` };
  const real = redisStores(ask, store);
  const [a, b] = [redisStores(apart, store), redisStores(apart, store)];
  const lines = [real, a, b];
  try {
    for (const { link } of lines) link.start();
    const areUp = await Promise.all(lines.map((line) => isUp(line, parts.clock)));
    const down = lines[areUp.indexOf(false)];
    if (down !== undefined) return refusedBy('connecting', down.link.cause);
    const members = await real.members.list();
    return { members, trial: await tryLines(a, b, parts) };
  } catch (error) {
    if (!(error instanceof StoreAway)) throw error;
    return refusedBy('heartbeats', error.message);
  } finally {
    for (const { link } of lines) link.close();
  }
}

function refusedBy(work: string, code: string): TriedOut {
  return { members: [], trial: { ...untried, refused: { work, code } } };
}

const untried: TrialFacts = {
  refused: null,
  race: { tries: 0, both: 0, neither: 0 },
  isHeard: false,
  latency: { medianMs: 0, slowMs: 0 },
};

async function tryLines(
  a: Line,
  b: Line,
  { clock, random }: { clock: Clock; random: Random },
): Promise<TrialFacts> {
  const name = `doctor-${random.hex(8)}`;
  let heard: () => void = () => undefined;
  const hears = new Promise<boolean>((resolve) => (heard = () => resolve(true)));
  const unlisten = b.bans.listen((ban) => void (ban.exit === name && heard()));
  const works: [string, () => Promise<unknown>][] = [
    ['sessions', () => useSession(a, name)],
    ['bans', () => useBan(a, name)],
    ['limits', async () => a.limits.take(name, { count: 10, perMs: TTL_MS }, 1)],
    ['heartbeats', () => beat(a, name)],
    ['leases', () => useLease(a, name)],
  ];
  try {
    for (const [work, use] of works) {
      const code = await codeOf(use);
      if (code !== null) return { ...untried, refused: { work, code } };
    }
    const late = new Promise<boolean>((resolve) => void clock.after(HEARD_MS, () => resolve(false)));
    const isHeard = await Promise.race([hears, late]);
    return { refused: null, isHeard, race: await race(a, b, name), latency: await latencyOf(a, clock) };
  } catch (error) {
    if (!(error instanceof StoreAway)) throw error;
    return { ...untried, refused: { work: 'leases', code: error.message } };
  } finally {
    unlisten();
  }
}

async function codeOf(use: () => Promise<unknown>): Promise<string | null> {
  try {
    await use();
    return null;
  } catch (error) {
    if (!(error instanceof StoreAway)) throw error;
    return error.message;
  }
}

async function useSession({ pins }: Line, name: string): Promise<void> {
  const pin = await pins.bind(name, 'one', TTL_MS);
  await pins.find(name, TTL_MS);
  await pins.move(name, pin, { exit: 'another', ttlMs: TTL_MS });
  await pins.drop(name);
}

async function useBan({ bans }: Line, exit: string): Promise<void> {
  await bans.put({ exit, site: null, version: 1, leftMs: 1, strikes: 1, reason: 'doctor', by: exit });
  await bans.changes(null);
}

async function beat({ members }: Line, id: string): Promise<void> {
  await members.announce({ id, version: '0.0.0', load: 0, keys: [] }, TTL_MS);
  await members.leave(id);
}

async function useLease({ leases }: Line, exit: string): Promise<void> {
  const lease = await leases.acquire(askFor(exit));
  if (lease === null) return;
  await leases.renew([lease], TTL_MS);
  await leases.release([lease]);
}

function askFor(exit: string) {
  return { pool: 'doctor', candidates: [exit], ttlMs: TTL_MS, slots: 1 };
}

/** Both ask for the same leases at once; each is one's, if all is well. */
async function race(a: Line, b: Line, name: string): Promise<TrialFacts['race']> {
  let [both, neither] = [0, 0];
  for (let round = 0; round < ROUNDS; round++) {
    const pairs = await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, n) => {
        const ask = askFor(`${name}-${round}-${n}`);
        return Promise.all([a.leases.acquire(ask), b.leases.acquire(ask)]);
      }),
    );
    for (const pair of pairs) {
      const got = pair.filter((lease) => lease !== null);
      if (got.length === 2) both++;
      if (got.length === 0) neither++;
    }
    await Promise.all([a, b].map(({ leases }, n) => leases.release(pairs.flatMap((pair) => pair[n] ?? []))));
  }
  return { tries: ROUNDS * AT_ONCE, both, neither };
}

async function latencyOf({ members }: Line, clock: Clock): Promise<TrialFacts['latency']> {
  const tookMs: number[] = [];
  for (let n = 0; n < CALLS; n++) {
    const startMs = clock.nowMs();
    await members.list();
    tookMs.push(clock.nowMs() - startMs);
  }
  tookMs.sort((x, y) => x - y);
  return { medianMs: tookMs[CALLS / 2] ?? 0, slowMs: tookMs[Math.floor(CALLS * 0.95)] ?? 0 };
}

function isUp({ link }: Line, clock: Clock): Promise<boolean> {
  let [isHearing, answer] = [false, (_: boolean): void => undefined];
  const settled = new Promise<boolean>((resolve) => (answer = resolve));
  const look = (): void => void (link.isUp && isHearing && answer(true));
  const unlisten = link.listen({ changed: look, subscribed: () => ((isHearing = true), look()) });
  const timer = clock.after(READY_MS, () => answer(link.isUp));
  return settled.finally(() => (unlisten(), timer.cancel()));
}
