/**
 * What a fault of Redis does to the clients of two gateways that share a ring and leases, and to bans that are set all the
 * while. Measures; judges nothing.
 */
import { startFaultProxy, type FaultProxy } from './fault-proxy.js';
import { at, metricOf, patiently, percentile, type ProcessFleet } from './fleet.js';
import { allOwned, Banning, exitIds, FleetLoad, startSharingFleet } from './fleet-load.js';
import type { RedisFault } from './redis-faults.js';
import { startServe } from './serve-process.js';
import type { Stage } from './stage.js';

const GATEWAYS = 2;
/** As much as each of them has. */
const CONTROL_PER_SECOND = 100;
/** By then each gateway has noticed a fault. */
const NOTICED_MS = 2000;

/** How a fault went. Times in ms. */
export interface FaultFigures {
  readonly name: string;
  readonly asked: number;
  /** Requests that got no 200, by the code of their answer. */
  readonly failed: ReadonlyMap<string, number>;
  /** Before the fault. */
  readonly before: { readonly p50Ms: number; readonly maxMs: number };
  /** The slowest in the first two seconds of the fault, above the median before. */
  readonly penaltyMs: number;
  /** The same at a gateway that has no Redis: what the machine did in these seconds. */
  readonly noiseMs: number;
  /** From then until everybody is back. */
  readonly later: { readonly p99Ms: number; readonly maxMs: number };
  /** From the end of the fault until all gateways use Redis, and until all share pools again. */
  readonly backMs: number;
  readonly sharedMs: number;
  readonly bans: number;
  /** Bans that a gateway doesn't know though another set them. */
  readonly lostBans: readonly string[];
}

async function begin(stage: Stage, fault: RedisFault): Promise<{ fleet: ProcessFleet; proxy: FaultProxy }> {
  let proxy: FaultProxy | null = null;
  const fleet = await startSharingFleet(stage, GATEWAYS, async ({ port }) => {
    proxy = stage.keep(await startFaultProxy(port));
    return fault.isOnTheWay ? proxy.port : port;
  });
  await allOwned(fleet);
  if (proxy === null) throw new Error('no proxy');
  return { fleet, proxy };
}

/** Waits until a metric has this value on all. Returns how long since then. */
async function untilAll(fleet: ProcessFleet, name: string, value: number, sinceMs: number): Promise<number> {
  await patiently(`${name} to be ${value}`, async () =>
    (await Promise.all(fleet.gateways.map((each) => metricOf(each, name)))).every((each) => each === value),
  );
  return performance.now() - sinceMs;
}

/**
 * Runs two gateways under load through one fault of so many seconds.
 * @param times `around`: how long there is load before it, and after everybody is back
 */
export async function figuresOf(
  stage: Stage,
  fault: RedisFault,
  { seconds, around }: { readonly seconds: number; readonly around: number },
): Promise<FaultFigures> {
  const { fleet, proxy } = await begin(stage, fault);
  const control = stage.keep(await startServe(fleet.exits.urls));
  const load = new FleetLoad(fleet.gateways);
  const beside = new FleetLoad([control], CONTROL_PER_SECOND);
  // Connections, first leases, code that was never run: not what is measured.
  await load.goOn(around);
  const banning = new Banning(fleet.gateways, await exitIds(at(fleet, 0)));
  banning.start();
  const startMs = performance.now();
  await load.goOn(around);
  const brokenMs = performance.now();
  const mend = await fault.begin(fleet.redis, proxy);
  await load.goOn(seconds);
  const isAway = await Promise.all(fleet.gateways.map((each) => metricOf(each, 'turnpike_state_shared')));
  if (isAway.some((isShared) => (isShared === 0) !== fault.isOutage)) throw new Error('the fault was none');
  const mendedMs = performance.now();
  await mend();
  const backMs = await untilAll(fleet, 'turnpike_state_shared', 1, mendedMs);
  const sharedMs = await untilAll(fleet, 'turnpike_sharing_alone', 0, mendedMs);
  await load.goOn(around);
  const endMs = performance.now();
  const asked = await load.end();
  await beside.end();
  const noticedMs = brokenMs + NOTICED_MS;
  const [before, first, later] = [
    load.within(startMs, brokenMs),
    load.within(brokenMs, noticedMs),
    load.within(noticedMs, endMs),
  ];
  const p50Ms = percentile(before, 50);
  const usualMs = percentile(beside.within(startMs, brokenMs), 50);
  const lostBans = await banning.end();
  return {
    ...{ name: fault.name, asked, failed: load.failed, backMs, sharedMs },
    before: { p50Ms, maxMs: percentile(before, 100) },
    penaltyMs: percentile(first, 100) - p50Ms,
    noiseMs: percentile(beside.within(brokenMs, noticedMs), 100) - usualMs,
    later: { p99Ms: percentile(later, 99), maxMs: percentile(later, 100) },
    ...{ lostBans, bans: banning.set.length },
  };
}

const columns: Readonly<Record<string, (of: FaultFigures) => string | number>> = {
  fault: ({ name }) => name,
  requests: ({ asked }) => asked,
  'failed (goal 0)': ({ failed }) => [...failed].map((each) => each.join(': ')).join(', ') || 0,
  'slowest before, ms': ({ before }) => before.maxMs.toFixed(0),
  'first-request penalty, ms (250)': ({ penaltyMs }) => penaltyMs.toFixed(0),
  'the same without any Redis, ms': ({ noiseMs }) => noiseMs.toFixed(0),
  'p99 later': ({ later }) => later.p99Ms.toFixed(0),
  'slowest later': ({ later }) => later.maxMs.toFixed(0),
  'back after, s (4)': ({ backMs }) => (backMs / 1000).toFixed(1),
  'pools shared after, s': ({ sharedMs }) => (sharedMs / 1000).toFixed(1),
  bans: ({ bans }) => bans,
  'lost (0)': ({ lostBans }) => lostBans.length,
};

/** The table, in Markdown. */
export function tableOf(rows: readonly FaultFigures[]): string {
  const lines = [Object.keys(columns), Object.keys(columns).map((_, n) => (n === 0 ? '---' : '---:'))];
  for (const row of rows) lines.push(Object.values(columns).map((cell) => String(cell(row))));
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}
