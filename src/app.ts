/**
 * The composition root: makes every adapter once, hands each part what it needs, starts and stops them.
 * The only place that knows all of them.
 */
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { Clients } from './access/clients.js';
import { RateLimits } from './access/rate-limit.js';
import type { AdminServer, Readiness } from './admin/server.js';
import { makeAdminDoor } from './app/admin-door.js';
import { exitsIn, makeDesks, type Desks } from './app/desks.js';
import type { Config } from './config/config.js';
import { runtimeValuesOf, metricSites } from './config/runtime-values.js';
import { systemClock, type Clock } from './core/clock.js';
import type { Emit } from './core/events.js';
import { systemRandom, type Random } from './core/random.js';
import { TimerWheel } from './core/timer-wheel.js';
import { countExits } from './exits/count-exits.js';
import { Ledger } from './exits/ledger.js';
import { loadPools } from './exits/load-pools.js';
import { Roster } from './exits/roster.js';
import { Listener, type ListenAt } from './gateway/listener.js';
import { drainGateway } from './gateway/drain.js';
import { RequestIds } from './gateway/request-ids.js';
import { ReplayBudget } from './gateway/replay-body.js';
import type { GatewayServices, Rules } from './gateway/services.js';
import { IdleConnections } from './open/idle-connections.js';
import { TransportBudget } from './outcome/budget.js';
import { isOwnDoor, type Door } from './protocol/own-door.js';
import { parseAllowEntry, type OwnAddresses } from './protocol/target.js';
import { MemoryPins } from './state/memory.js';
import { createEmit, type Subscriber } from './telemetry/hub.js';
import { createLog } from './telemetry/logger.js';
import { createMetrics, type Gauges, type Metrics } from './telemetry/metrics.js';

/** What a running gateway offers to the command line. */
export interface App {
  /** Listens; resolves with the addresses that it got. @throws when one can't be had. */
  start(): Promise<Started>;
  /** Drains and closes everything; resolves with what had to be cut. Idempotent. */
  stop(reason: string): Promise<Stopped>;
  /** Upstreams over all pools. */
  readonly upstreamCount: number;
  /** All exits, for commands that try each of them. */
  exits(): Iterable<{ readonly id: string; readonly label: string; readonly pool: string }>;
}

/** Where a gateway listens. */
export interface Started {
  readonly proxy: readonly ListenAt[];
  readonly admin: ListenAt | null;
  /** Path of the admin socket, where it listens on one. */
  readonly adminSocket?: string;
  /** The file with the token for the admin API, where none is configured. */
  readonly adminTokenFile?: string;
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
}

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
  const random = parts.random ?? systemRandom;
  const { services, desks } = await buildServices(config, { clock, random, emit, own });
  const listeners = config.listeners.map((each) => listenerOf(services, each));
  let phase: Readiness['phase'] = 'starting';
  const proxyDoors: ListenAt[] = [];
  const exchangesOpen = (): number => listeners.reduce((sum, { exchangeCount }) => sum + exchangeCount, 0);
  const door = makeAdminDoor(config, {
    ...{ services, desks, version: versionOf(), exchangesOpen },
    phase: () => phase,
    proxyDoors: () => proxyDoors,
    metrics: (readings) =>
      observe(config, services, { ...readings, exchangesOpen, logLinesDropped: () => log.dropped() }),
  });
  subscribers.push(...door.subscribers);
  const shutDown = async (): Promise<Stopped> => {
    phase = 'draining';
    const { timeouts } = services.rules().runtime;
    const cut = await drainGateway({ listeners, relays: services.relays, clock, timeouts });
    services.opener.idle.dropWhere(() => true);
    desks.exits.close();
    await door.close();
    emit({ type: 'note', level: 'info', what: 'stopped', detail: { cut } });
    await log.close();
    return { cut };
  };
  let stopping: Promise<Stopped> | null = null;
  return {
    exits: () => exitsIn(services.rules().runtime.pools.values()),
    upstreamCount: [...services.rules().runtime.pools.values()].reduce(
      (sum, pool) => sum + pool.upstreams.length,
      0,
    ),
    start: async () => {
      const started = await listenAll(config, { listeners, admin: door.server, own });
      proxyDoors.push(...started.proxy);
      phase = 'serving';
      return door.tokenFile === null ? started : { ...started, adminTokenFile: door.tokenFile };
    },
    stop: (reason) => {
      if (stopping === null) emit({ type: 'note', level: 'info', what: 'stopping', detail: { reason } });
      stopping ??= shutDown();
      return stopping;
    },
  };
}

function listenerOf(services: GatewayServices, given: Config['listeners'][number]): Listener {
  const { label: name, client, route, defaults: controls } = given;
  return new Listener(services, { name, client, route, controls, merged: new WeakMap() });
}

function observe(config: Config, services: GatewayServices, gauges: Gauges): Metrics {
  return createMetrics({
    sites: metricSites(config),
    version: versionOf(),
    gauges: {
      ...gauges,
      tunnelsOpen: () => services.relays.size,
      upstreamConnectionsIdle: () => services.opener.idle.size,
      exits: () => countExits(services.rules().runtime.pools, services.ledger, services.clock.nowMs()),
    },
  });
}

interface Basics {
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: Emit;
  readonly own: OwnAddresses & { readonly doors: readonly Door[] };
}

/** The parts of the gateway, and the desks from which it is run. */
interface Built {
  readonly services: GatewayServices;
  readonly desks: Desks;
}

async function buildServices(config: Config, basics: Basics): Promise<Built> {
  const { clock, random, emit, own } = basics;
  const wheel = new TimerWheel(clock);
  const values = runtimeValuesOf(config);
  const ledger = new Ledger(values.bans, random);
  const { pools, problems } = await loadPools(config.pools, (upstream) => ledger.intern(upstream));
  for (const problem of problems)
    emit({ type: 'note', level: 'warn', what: 'bad_upstream', detail: { ...problem } });
  ledger.applyPools(pools.values(), clock.nowMs());
  const roster = new Roster();
  for (const pool of pools.values()) roster.compose(pool.name, pool.upstreams);
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
  const setPools = (next: Rules['runtime']['pools']): void => {
    rules = { ...rules, runtime: { ...rules.runtime, pools: next } };
  };
  return { services, desks: makeDesks(services, { roster, setPools }) };
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
  if (config.adminSocket !== null) await parts.admin.listenSocket(config.adminSocket);
  if (admin !== null) {
    parts.own.ports.add(admin.port);
    parts.own.doors.push(admin);
  }
  return config.adminSocket === null ? { proxy, admin } : { proxy, admin, adminSocket: config.adminSocket };
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
