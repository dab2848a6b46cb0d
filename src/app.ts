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
import { loadPools } from './exits/load-pools.js';
import { Listener, type ListenAt } from './gateway/listener.js';
import { drainGateway } from './gateway/drain.js';
import { RequestIds } from './gateway/request-ids.js';
import { ReplayBudget } from './gateway/replay-body.js';
import type { GatewayServices, Rules } from './gateway/services.js';
import { IdleConnections } from './open/idle-connections.js';
import { Resolver, systemLookUp, type LookUp } from './open/resolver.js';
import { TransportBudget } from './outcome/budget.js';
import { isOwnDoor, type Door } from './protocol/own-door.js';
import { checkResolvedAddress, parseAllowEntry, type OwnAddresses } from './protocol/target.js';
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
  /** Resolves names, of upstreams and of targets of `direct://`. */
  readonly lookUp?: LookUp;
  /** Hears every event beside log and metrics. */
  readonly subscriber?: Subscriber;
}

/** Builds a gateway; nothing listens yet. @throws when a source of upstreams or the log file can't be read. */
export async function buildApp(config: Config, parts: AppParts = {}): Promise<App> {
  const { clock = systemClock, random = systemRandom, lookUp = systemLookUp } = parts;
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
  const services = await buildServices(config, { clock, random, lookUp, emit, own });
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
    upstreamCount: [...services.rules().runtime.pools.values()].reduce(
      (sum, pool) => sum + pool.upstreams.length,
      0,
    ),
    start: async () => {
      const started = await listenAll(config, { listeners, admin, own });
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
  readonly lookUp: LookUp;
}

/** The look-up tells no TTL, so addresses of upstreams are asked for anew twice a minute; a name that failed soon. */
const upstreamNameTimes = { keepMs: 30_000, keepFailureMs: 2000 };
/** Long enough for a page and its parts. */
const targetNameTimes = { keepMs: 10_000, keepFailureMs: 2000 };

async function buildServices(config: Config, basics: Basics): Promise<GatewayServices> {
  const { clock, random, emit, own, lookUp } = basics;
  const wheel = new TimerWheel(clock);
  const values = runtimeValuesOf(config);
  const ledger = new Ledger(values.bans, random);
  const { pools, problems } = await loadPools(config.pools, (upstream) => ledger.intern(upstream));
  for (const problem of problems)
    emit({ type: 'note', level: 'warn', what: 'bad_upstream', detail: { ...problem } });
  ledger.applyPools(pools.values(), clock.nowMs());
  const rules: Rules = {
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
  return {
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
      ...{ clock, wheel, idle, headLimits: limits, emit },
      isOwn: ({ host, port }) => isOwnDoor(host, port, own.doors, own),
      upstreamNames: new Resolver({ clock, lookUp, ...upstreamNameTimes }),
      targetNames: new Resolver({ clock, lookUp, ...targetNameTimes }),
      forbids: (target, address) => checkResolvedAddress(target, address, rules.targets, own),
    },
    transportBudget: new TransportBudget(values.retry.transportRatio, values.retry.transportFloorPerS),
    replayBudget: new ReplayBudget(() => limits().replayTotalBytes),
    relays: new Set(),
  };
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
