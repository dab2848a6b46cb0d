/**
 * The composition root: makes every adapter once, hands each part what it needs, starts and stops them.
 * The only place that knows all of them.
 */
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { Clients } from './access/clients.js';
import { RateLimits } from './access/rate-limit.js';
import { createAdminServer, type AdminServer, type Readiness } from './admin/server.js';
import type { Config } from './config/config.js';
import { runtimeValuesOf, metricSites } from './config/runtime-values.js';
import { systemClock, type Clock } from './core/clock.js';
import type { Emit } from './core/events.js';
import { systemRandom, type Random } from './core/random.js';
import { TimerWheel } from './core/timer-wheel.js';
import { countExits } from './exits/count-exits.js';
import { Ledger } from './exits/ledger.js';
import { createListFetch } from './exits/list-fetch.js';
import { PoolKeeper } from './exits/pool-keeper.js';
import { MAX_LIST_BYTES } from './exits/sources.js';
import { Listener, type ListenAt } from './gateway/listener.js';
import { drainGateway } from './gateway/drain.js';
import { RequestIds } from './gateway/request-ids.js';
import { ReplayBudget } from './gateway/replay-body.js';
import type { GatewayServices, Rules } from './gateway/services.js';
import { IdleConnections } from './open/idle-connections.js';
import { TransportBudget } from './outcome/budget.js';
import { isOwnDoor, type Door } from './protocol/own-door.js';
import { parseAllowEntry, type OwnAddresses } from './protocol/target.js';
import type { Pool } from './upstreams/pool.js';
import { MemoryPins } from './state/memory.js';
import { createEmit, type Subscriber } from './telemetry/hub.js';
import { createLog } from './telemetry/logger.js';
import { createMetrics, type Metrics } from './telemetry/metrics.js';

/** What a running gateway offers to the command line. */
export interface App {
  /** Listens; resolves with the addresses that it got. @throws when one can't be had. */
  start(): Promise<Started>;
  /** Drains and closes everything; resolves with what had to be cut. Idempotent. */
  stop(reason: string): Promise<Stopped>;
  /** Upstreams over all pools. */
  readonly upstreamCount: number;
}

/** Where a gateway listens. */
export interface Started {
  readonly proxy: readonly ListenAt[];
  readonly admin: ListenAt | null;
}

/** How a gateway ended. */
export interface Stopped {
  /** Answers and tunnels that were cut. */
  readonly cut: number;
}

/** Parts that a test may replace. */
export interface AppParts {
  readonly clock?: Clock;
  readonly random?: Random;
  /** Hears every event beside log and metrics. */
  readonly subscriber?: Subscriber;
  /** The compiled thread that reads big lists. */
  readonly listWorker?: URL;
}

/** A list that takes longer to come is given up. */
const LIST_TIMEOUT_MS = 30_000;

/** Builds a gateway; nothing listens yet. @throws when a source of upstreams or the log file can't be read. */
export async function buildApp(config: Config, parts: AppParts = {}): Promise<App> {
  const clock = parts.clock ?? systemClock;
  const log = createLog(config.log, clock);
  const subscribers: Subscriber[] = [(event) => log.subscribe(event)];
  if (parts.subscriber !== undefined) subscribers.push(parts.subscriber);
  const emit = createEmit(subscribers);
  const own = {
    ports: new Set<number>(),
    doors: [] as Door[],
    addresses: ownAddresses(),
    names: new Set([os.hostname().toLowerCase()]),
  };
  const { services, keeper } = await buildServices(config, basicsOf(parts, { clock, emit, own }));
  subscribers.push(toldOfBans(keeper));
  const listeners = config.listeners.map(
    (each) =>
      new Listener(services, {
        name: each.label,
        client: each.client,
        route: each.route,
        controls: each.defaults,
        merged: new WeakMap(),
      }),
  );
  let phase: Readiness['phase'] = 'starting';
  const metrics = observe(config, services, listeners, () => log.dropped());
  subscribers.push((event) => metrics.subscribe(event));
  const admin = createAdminServer({
    metrics,
    hosts: config.adminHosts,
    readiness: () => ({ phase, state: 'memory' }),
  });
  const shutDown = async (): Promise<Stopped> => {
    phase = 'draining';
    keeper.close();
    const { timeouts } = services.rules().runtime;
    const cut = await drainGateway({ listeners, relays: services.relays, clock, timeouts });
    services.opener.idle.dropWhere(() => true);
    await admin.close();
    emit({ type: 'note', level: 'info', what: 'stopped', detail: { cut } });
    await log.close();
    return { cut };
  };
  let stopping: Promise<Stopped> | null = null;
  return {
    upstreamCount: countUpstreams(services),
    start: async () => {
      const started = await listenAll(config, { listeners, admin, own });
      keeper.start();
      phase = 'serving';
      return started;
    },
    stop: (reason) => {
      if (stopping === null) emit({ type: 'note', level: 'info', what: 'stopping', detail: { reason } });
      stopping ??= shutDown();
      return stopping;
    },
  };
}

function countUpstreams(services: GatewayServices): number {
  const pools = [...services.rules().runtime.pools.values()];
  return pools.reduce((sum, pool) => sum + pool.upstreams.length, 0);
}

/** What services are built with, the system's own parts where a test has none. */
function basicsOf(parts: AppParts, given: Pick<Basics, 'clock' | 'emit' | 'own'>): Basics {
  const listWorker = parts.listWorker ?? new URL('./exits/list-worker.js', import.meta.url);
  return { ...given, random: parts.random ?? systemRandom, listWorker };
}

/** Exits of templates take new sessions after a ban for a site. */
function toldOfBans(keeper: PoolKeeper): Subscriber {
  return (event) => {
    if (event.type === 'exit_banned' && event.site !== null) keeper.exitBanned(event.upstream);
  };
}

function observe(
  config: Config,
  services: GatewayServices,
  listeners: readonly Listener[],
  dropped: () => number,
): Metrics {
  return createMetrics({
    sites: metricSites(config),
    version: versionOf(),
    gauges: {
      exchangesOpen: () => listeners.reduce((sum, listener) => sum + listener.exchangeCount, 0),
      tunnelsOpen: () => services.relays.size,
      upstreamConnectionsIdle: () => services.opener.idle.size,
      logLinesDropped: dropped,
      exits: () => countExits(services.rules().runtime.pools, services.ledger, services.clock.nowMs()),
    },
  });
}

interface Basics {
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: Emit;
  readonly own: OwnAddresses & { readonly doors: readonly Door[] };
  readonly listWorker: URL;
}

/** Keeps the pools up to date; a new snapshot is swapped in, and the ledger goes on. */
function keeperOf(
  basics: Basics,
  parts: { readonly wheel: TimerWheel; readonly ledger: Ledger; readonly onSwap: (pool: Pool) => void },
): PoolKeeper {
  const { own, emit, listWorker } = basics;
  return new PoolKeeper({
    intern: (upstream) => parts.ledger.intern(upstream),
    wheel: parts.wheel,
    emit,
    fetchList: createListFetch({ own, maxBytes: MAX_LIST_BYTES, timeoutMs: LIST_TIMEOUT_MS }),
    workerFile: listWorker,
    onSwap: parts.onSwap,
  });
}

async function buildServices(
  config: Config,
  basics: Basics,
): Promise<{ readonly services: GatewayServices; readonly keeper: PoolKeeper }> {
  const { clock, random, emit, own } = basics;
  const wheel = new TimerWheel(clock);
  const values = runtimeValuesOf(config);
  const ledger = new Ledger(values.bans, random);
  const onSwap = (pool: Pool): void => {
    const pools = new Map(rules.runtime.pools).set(pool.name, pool);
    rules = { ...rules, runtime: { ...rules.runtime, pools } };
    ledger.applyPools(pools.values(), clock.nowMs());
  };
  const keeper = keeperOf(basics, { wheel, ledger, onSwap });
  const pools = await keeper.open(config.pools);
  ledger.applyPools(pools.values(), clock.nowMs());
  let rules: Rules = {
    runtime: { ...values, pools },
    clients: new Clients(config.clients, { anonymousAllowed: true }),
    targets: { allow: config.allowedTargets.map(parseAllowEntry).filter((entry) => entry !== null) },
  };
  const limits = (): Rules['runtime']['limits'] => rules.runtime.limits;
  const idle = new IdleConnections(() => ({
    idleMs: rules.runtime.timeouts.upstreamIdleMs,
    perKey: limits().idlePerExit,
    total: limits().idleTotal,
  }));
  const gatewayId = random.hex(4);
  const services: GatewayServices = {
    clock,
    wheel,
    random,
    emit,
    own,
    ledger,
    gatewayId,
    ids: new RequestIds(gatewayId),
    rules: () => rules,
    pins: new MemoryPins(clock),
    rateLimits: new RateLimits(),
    opener: {
      ...{ wheel, idle, headLimits: limits, emit },
      isOwn: ({ host, port }) => isOwnDoor(host, port, own.doors, own),
    },
    transportBudget: new TransportBudget(values.retry.transportRatio, values.retry.transportFloorPerS),
    replayBudget: new ReplayBudget(() => limits().replayTotalBytes),
    relays: new Set(),
  };
  return { services, keeper };
}

async function listenAll(
  config: Config,
  parts: { listeners: readonly Listener[]; admin: AdminServer; own: { ports: Set<number>; doors: Door[] } },
): Promise<Started> {
  const proxy: ListenAt[] = [];
  for (const [index, listener] of parts.listeners.entries()) {
    const at = config.listeners[index]?.at;
    if (at === undefined) continue;
    const got = await listener.listen(at);
    parts.own.ports.add(got.port);
    parts.own.doors.push(got);
    proxy.push(got);
  }
  const admin = config.admin === null ? null : await parts.admin.listen(config.admin.host, config.admin.port);
  if (admin !== null) {
    parts.own.ports.add(admin.port);
    parts.own.doors.push(admin);
  }
  return { proxy, admin };
}

function versionOf(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

function ownAddresses(): Set<string> {
  const addresses = new Set<string>();
  for (const list of Object.values(os.networkInterfaces())) {
    for (const { address } of list ?? []) addresses.add(address);
  }
  return addresses;
}
