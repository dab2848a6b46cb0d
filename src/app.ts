/**
 * The composition root: makes every adapter once, hands each part what it needs, starts and stops them.
 * With the files under `app/` the only place that knows all of them.
 */
import { readFileSync } from 'node:fs';
import type { AdminServer, Readiness } from './admin/server.js';
import { makeAdminDoor, type AdminDoor } from './app/admin-door.js';
import { clusterOf } from './app/cluster.js';
import { exitsIn, makeDesks, type Desks } from './app/desks.js';
import { defaultsIn, defaultsOf } from './app/listener-defaults.js';
import { layFoundation, type Foundation, type GivenStorage } from './app/foundation.js';
import { Reclaim } from './app/reclaim.js';
import { Reloads, type Applied, type ReloadCause, type ReloadParts } from './app/reload.js';
import { countUpstreams } from './app/rules.js';
import type { VaultParts } from './app/vault-parts.js';
import { ownPlace, type Plant } from './app/services.js';
import type { Config } from './config/config.js';
import type { Loaded } from './config/load.js';
import { systemClock, type Clock } from './core/clock.js';
import type { Emit } from './core/events.js';
import { systemRandom, type Random } from './core/random.js';
import { shareCounts } from './exits/share-counts.js';
import { countExits } from './exits/count-exits.js';
import { Listener, type ListenAt } from './gateway/listener.js';
import { chargeBytes, spentToday } from './gateway/tiers.js';
import { drainGateway } from './gateway/drain.js';
import type { LookUp } from './open/resolver.js';
import { systemLookUp } from './open/system-names.js';
import type { Door } from './protocol/own-door.js';
import { createEmit, type Subscriber } from './telemetry/hub.js';
import { createLog, type Log } from './telemetry/logger.js';
import { createMetrics, type Gauges, type Metrics } from './telemetry/metrics.js';

export type { Applied } from './app/reload.js';

/** What a running gateway offers to the command line. */
export interface App {
  /** Listens; resolves with the addresses that it got. @throws when one can't be had. */
  start(): Promise<Started>;
  /**
   * Takes over another configuration while everything goes on; what can't be built keeps the old one. Never rejects.
   * @param cause who asked; the admin API when not given
   */
  apply(config: Config, cause?: ReloadCause): Promise<Applied>;
  /** The same with a configuration that is loaded now. The log is opened anew first, for whoever rotated it. */
  reload(load: () => Loaded, cause: ReloadCause): Promise<Applied>;
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
  /** Resolves names, of upstreams and of targets of `direct://`. */
  readonly lookUp?: LookUp;
  /** Hears every event beside log and metrics. */
  readonly subscriber?: Subscriber;
  /** The compiled thread that reads big lists. */
  readonly listWorker?: URL;
  /** Where logins are kept; the storage of the configuration where not given. */
  readonly storage?: GivenStorage;
  /** Loads the configuration anew, for the admin API. */
  readonly load?: () => Loaded;
}

const ownWorker = new URL('./exits/list-worker.js', import.meta.url);

/** Builds a gateway; nothing listens yet. @throws when a source of upstreams or the log file can't be read. */
export async function buildApp(config: Config, parts: AppParts = {}): Promise<App> {
  const { clock = systemClock, random = systemRandom, lookUp = systemLookUp, listWorker = ownWorker } = parts;
  const log = createLog(config.log, clock);
  const subscribers: Subscriber[] = [(event) => log.subscribe(event), new Reclaim(clock).subscribe];
  if (parts.subscriber !== undefined) subscribers.push(parts.subscriber);
  const emit = createEmit(subscribers);
  const [own, version] = [ownPlace(), versionOf()];
  const foundation = await layFoundation(config, {
    ...{ clock, random, lookUp, emit, own, listWorker, version, subscribers, storage: parts.storage ?? null },
    exchangesOpen: () => exchangesOpen(),
  });
  const { plant, kept, vaultParts } = foundation;
  const { services, state } = plant;
  const desks = makeDesks(services, plant);
  const listeners = config.listeners.map((each) => new Listener(services, defaultsOf(each)));
  let phase: Readiness['phase'] = 'starting';
  const proxyDoors: ListenAt[] = [];
  const exchangesOpen = (): number => listeners.reduce((sum, { exchangeCount }) => sum + exchangeCount, 0);
  const door = makeAdminDoor(config, {
    ...{ services, desks, version, exchangesOpen, state, vault: vaultParts.services, kept },
    missingLogins: () => plant.missingLogins(),
    vaultStatus: () => vaultParts.status(),
    cluster: (exit) => clusterOf(plant, version, exit),
    phase: () => phase,
    reload: async () => (parts.load === undefined ? null : reload(parts.load, 'api')),
    proxyDoors: () => proxyDoors,
    metrics: (readings) => observe(plant, log, { ...readings, ...vaultParts.gauges, exchangesOpen }),
  });
  subscribers.push(...toldByPlant(plant), ...door.subscribers);
  const shutDown = (): Promise<Stopped> => {
    phase = 'draining';
    kept?.close();
    return closeAll(plant, { desks, door, listeners, log, emit, vaultParts });
  };
  let stopping: Promise<Stopped> | null = null;
  const reloads = reloadsOf(config, {
    ...{ plant, log, listeners, emit, vaultParts, isStopping: () => stopping !== null },
  });
  const reload: App['reload'] = (load, cause) =>
    reopenThen([log, vaultParts], () => reloads.reload(load, cause));
  return {
    exits: () => exitsIn(services.rules().runtime.pools.values()),
    get upstreamCount() {
      return countUpstreams(services.rules());
    },
    start: async () => {
      const started = await startAll(config, { listeners, door, own, foundation });
      proxyDoors.push(...started.proxy);
      phase = 'serving';
      return started;
    },
    apply: (next, cause = 'api') => reloads.apply(next, cause),
    reload,
    stop: (reason) => {
      if (stopping === null) emit({ type: 'note', level: 'info', what: 'stopping', detail: { reason } });
      stopping ??= shutDown();
      return stopping;
    },
  };
}

/** Lets what is under way end, then closes everything. */
async function closeAll(
  plant: Plant,
  parts: {
    desks: Desks;
    door: AdminDoor;
    listeners: readonly Listener[];
    log: Log;
    emit: Emit;
    vaultParts: VaultParts;
  },
): Promise<Stopped> {
  plant.close();
  const { clock, relays, opener } = plant.services;
  const { timeouts } = plant.services.rules().runtime;
  const cut = await drainGateway({ listeners: parts.listeners, relays, clock, timeouts });
  opener.idle.dropWhere(() => true);
  parts.desks.exits.close();
  await Promise.all([plant.services.judge.close(), plant.state.stop()]);
  await parts.door.close();
  await parts.vaultParts.close();
  parts.emit({ type: 'note', level: 'info', what: 'stopped', detail: { cut } });
  await parts.log.close();
  return { cut };
}

/** What takes new configurations, and puts each in force everywhere at once. */
function reloadsOf(
  started: Config,
  of: Pick<ReloadParts, 'emit' | 'isStopping'> & {
    plant: Plant;
    log: Log;
    listeners: readonly Listener[];
    vaultParts: VaultParts;
  },
): Reloads {
  const { plant, log, listeners, emit, isStopping, vaultParts } = of;
  return new Reloads({
    ...{ emit, isStopping, startedWith: started, rulesParts: plant.rulesParts },
    swap: (next, built) => {
      const defaults = defaultsIn(started, next);
      plant.swap(built);
      log.use(next.log);
      vaultParts.use(next);
      defaults.forEach((each, index) => {
        if (each !== null) listeners[index]?.use(each);
      });
      return plant.services.rules();
    },
  });
}

/** A signal is also how whoever moved the log away asks for a new one. */
function reopenThen(files: readonly { reopen(): void }[], reload: () => Promise<Applied>): Promise<Applied> {
  for (const each of files) each.reopen();
  return reload();
}

/** Who in the data plane goes by what happened. Exits of templates take new sessions after a ban for a site. */
function toldByPlant(plant: Plant): Subscriber[] {
  return [
    (event) => {
      if (event.type === 'exit_banned' && event.site !== null) plant.exitBanned(event.upstream);
    },
    (event) => chargeBytes(plant.services, event),
    (event) => plant.state.subscribe(event),
  ];
}

function observe(plant: Plant, log: Log, gauges: Gauges): Metrics {
  const { services } = plant;
  return createMetrics({
    sites: () => plant.sites(),
    version: versionOf(),
    gauges: {
      ...gauges,
      logLinesDropped: () => log.dropped(),
      tunnelsOpen: () => services.relays.size,
      state: () => plant.state.readings(),
      requestsWaiting: () => services.waiting.size,
      pacedPairs: () => services.paces.size,
      spentToday: () => spentToday(services),
      exitsOwn: () =>
        shareCounts(services.shares, services.rules().runtime.pools.values(), services.clock.nowMs()).flatMap(
          ({ pool, own }): [string, number][] => (own === null ? [] : [[pool, own]]),
        ),
      capturesFailed: () => services.captures.failed,
      upstreamConnectionsIdle: () => services.opener.idle.size,
      sitesGuarded: () => {
        const counts = new Map([
          ['down', 0],
          ['suspended', 0],
        ]);
        for (const { state } of services.siteGuard.guarded()) counts.set(state, (counts.get(state) ?? 0) + 1);
        return counts;
      },
      deadlines: () => services.wheel.size,
      exits: () => countExits(services.rules().runtime.pools, services.ledger, services.clock.nowMs()),
    },
  });
}

/** Reads what is kept, listens, and begins to work. */
async function startAll(
  config: Config,
  parts: {
    listeners: readonly Listener[];
    door: AdminDoor;
    own: { ports: Set<number>; doors: Door[] };
    foundation: Foundation;
  },
): Promise<Started> {
  const { listeners, door, own } = parts;
  const { plant, kept, vaultParts } = parts.foundation;
  await kept?.start(plant.services);
  const started = await listenAll(config, { listeners, admin: door.server, own });
  await vaultParts.start();
  plant.start();
  return door.tokenFile === null ? started : { ...started, adminTokenFile: door.tokenFile };
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
