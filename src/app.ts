/**
 * The composition root: makes every adapter once, hands each part what it needs, starts and stops them.
 * With the files under `app/` the only place that knows all of them.
 */
import { readFileSync } from 'node:fs';
import tls from 'node:tls';
import { createAdminServer, type AdminServer, type Readiness } from './admin/server.js';
import { Reloads, type Applied, type ReloadCause } from './app/reload.js';
import { countUpstreams } from './app/rules.js';
import { buildPlant, ownPlace, type Plant } from './app/services.js';
import type { Config } from './config/config.js';
import type { Loaded } from './config/load.js';
import { systemClock, type Clock } from './core/clock.js';
import { systemRandom, type Random } from './core/random.js';
import { countExits } from './exits/count-exits.js';
import { Listener, type ListenAt } from './gateway/listener.js';
import { drainGateway } from './gateway/drain.js';
import { systemLookUp, type LookUp } from './open/resolver.js';
import type { ListenerDefaults } from './gateway/understand.js';
import { parseCidr } from './protocol/address.js';
import type { Door } from './protocol/own-door.js';
import { createEmit, type Subscriber } from './telemetry/hub.js';
import { createLog, type Log } from './telemetry/logger.js';
import { createMetrics, type Metrics } from './telemetry/metrics.js';

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
  /** The compiled thread that reads big lists. */
  readonly listWorker?: URL;
}

const ownWorker = new URL('./exits/list-worker.js', import.meta.url);

/** Builds a gateway; nothing listens yet. @throws when a source of upstreams or the log file can't be read. */
export async function buildApp(config: Config, parts: AppParts = {}): Promise<App> {
  const { clock = systemClock, random = systemRandom, lookUp = systemLookUp, listWorker = ownWorker } = parts;
  const log = createLog(config.log, clock);
  const subscribers: Subscriber[] = [(event) => log.subscribe(event)];
  if (parts.subscriber !== undefined) subscribers.push(parts.subscriber);
  const emit = createEmit(subscribers);
  const own = ownPlace();
  const plant = await buildPlant(config, { clock, random, lookUp, emit, own, listWorker });
  const { services } = plant;
  const listeners = config.listeners.map((each) => new Listener(services, defaultsOf(each)));
  let phase: Readiness['phase'] = 'starting';
  const metrics = observe(plant, listeners, () => log.dropped());
  subscribers.push(toldOfBans(plant), (event) => metrics.subscribe(event));
  const admin = createAdminServer({
    metrics,
    hosts: config.adminHosts,
    readiness: () => ({ phase, state: 'memory' }),
  });
  const shutDown = async (): Promise<Stopped> => {
    phase = 'draining';
    plant.close();
    const { timeouts } = services.rules().runtime;
    const cut = await drainGateway({ listeners, relays: services.relays, clock, timeouts });
    services.opener.idle.dropWhere(() => true);
    await admin.close();
    emit({ type: 'note', level: 'info', what: 'stopped', detail: { cut } });
    await log.close();
    return { cut };
  };
  let stopping: Promise<Stopped> | null = null;
  const reloads = new Reloads({
    ...{ emit, startedWith: config, rulesParts: plant.rulesParts, isStopping: () => stopping !== null },
    swap: (next, built) => {
      const defaults = defaultsIn(config, next);
      plant.swap(built);
      log.use(next.log);
      defaults.forEach((each, index) => {
        if (each !== null) listeners[index]?.use(each);
      });
    },
  });
  return {
    get upstreamCount() {
      return countUpstreams(services.rules());
    },
    start: async () => {
      const started = await listenAll(config, { listeners, admin, own });
      plant.start();
      phase = 'serving';
      return started;
    },
    apply: (next, cause = 'api') => reloads.apply(next, cause),
    reload: (load, cause) => reopenThen(log, () => reloads.reload(load, cause)),
    stop: (reason) => {
      if (stopping === null) emit({ type: 'note', level: 'info', what: 'stopping', detail: { reason } });
      stopping ??= shutDown();
      return stopping;
    },
  };
}

/** A signal is also how whoever moved the log away asks for a new one. */
function reopenThen(log: Log, reload: () => Promise<Applied>): Promise<Applied> {
  log.reopen();
  return reload();
}

/** @throws when the certificate can't be used. */
function defaultsOf(listener: Config['listeners'][number]): ListenerDefaults {
  const { label, client, route, defaults, proxyFrom } = listener;
  const pair = listener.tls;
  return {
    ...{ name: label, client, route, controls: defaults, merged: new WeakMap() },
    tls: pair === null ? null : tls.createSecureContext({ cert: pair.cert, key: pair.key.reveal() }),
    proxyFrom: proxyFrom.map(parseCidr).filter((range) => range !== null),
  };
}

/** For each listener what the new configuration says of its address; nothing for one that it leaves out. */
function defaultsIn(started: Config, next: Config): (ListenerDefaults | null)[] {
  const left = [...next.listeners];
  return started.listeners.map(({ label }) => {
    const at = left.findIndex((each) => each.label === label);
    const [found] = at < 0 ? [] : left.splice(at, 1);
    return found === undefined ? null : defaultsOf(found);
  });
}

/** Exits of templates take new sessions after a ban for a site. */
function toldOfBans(plant: Plant): Subscriber {
  return (event) => {
    if (event.type === 'exit_banned' && event.site !== null) plant.exitBanned(event.upstream);
  };
}

function observe(plant: Plant, listeners: readonly Listener[], dropped: () => number): Metrics {
  const { services } = plant;
  return createMetrics({
    sites: () => plant.sites(),
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
