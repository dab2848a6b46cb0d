/** What the runtime works by, made from the configuration: one function per value, so that `app.ts` stays small. */
import type { BanRules } from '../facts/ban.js';
import type { EscalationRules } from '../outcome/escalation.js';
import type { GuardRules } from '../outcome/site-guard.js';
import { RuleBook } from '../outcome/rules.js';
import type { Detection, Limits, Runtime, Timeouts } from '../routing/runtime.js';
import type { Route, RouteFilter } from '../routing/route.js';
import { cityName } from '../upstreams/upstream.js';
import type { Config } from './config.js';
import { compiledRulesOf } from './rules.js';
import { openFileLimit } from './open-files.js';

/** Deadlines of the data plane. */
export function timeoutsOf({ timeouts }: Config): Timeouts {
  return {
    dialMs: timeouts.dial,
    tlsMs: timeouts.tls,
    firstByteMs: timeouts.first_byte,
    exchangeMs: timeouts.exchange,
    clientHeaderMs: timeouts.client_header,
    clientIdleMs: timeouts.client_idle,
    bodyIdleMs: timeouts.body_idle,
    halfCloseMs: timeouts.half_close,
    tunnelIdleMs: timeouts.tunnel_idle,
    tunnelLifetimeMs: timeouts.tunnel_lifetime,
    upstreamIdleMs: timeouts.upstream_idle,
    acquireMs: timeouts.acquire,
    drainMs: timeouts.drain,
    preStopMs: timeouts.pre_stop,
  };
}

/** Connections when the system does not tell how many files may be open. */
const cautiousConnections = 10_000;

/** Files kept free for everything but connections: a tenth, but enough for the process itself, and not too many. */
function reservedOf(openFiles: number): number {
  return Math.min(512, Math.max(72, openFiles * 0.1));
}

/** Each client's connection needs one to an upstream. */
function connectionsWithin(openFiles: number): number {
  return Math.max(1, Math.floor((openFiles - reservedOf(openFiles)) / 2));
}

/**
 * Bounds of the data plane. Connections are never more than half of the files that may be open, less a reserve;
 * `openFiles` is that number, null where it isn't known.
 */
export function limitsOf({ limits }: Config, openFiles: number | null = openFileLimit()): Limits {
  const most = openFiles === null ? Infinity : connectionsWithin(openFiles);
  const wanted = limits.connections === 'auto' ? Infinity : limits.connections;
  const connections = Math.min(wanted, most);
  const atOnce = (value: number | 'none'): number => (value === 'none' ? Infinity : value);
  return {
    headBytes: limits.head,
    fieldCount: limits.fields,
    connections: connections === Infinity ? cautiousConnections : connections,
    connectionsPerAddress: atOnce(limits.connections_per_address),
    turnedAway: Math.ceil(reservedOf(openFiles ?? Infinity) / 4),
    sockets: most,
    exchanges: atOnce(limits.exchanges),
    waiting: atOnce(limits.waiting),
    loopDelayMs: limits.loop_delay,
    bodyRate: limits.body_rate,
    replayBytes: limits.replay,
    replayTotalBytes: limits.replay_total,
    idlePerExit: limits.idle_per_exit,
    idleTotal: limits.idle_total,
  };
}

/** How bans are counted. */
export function banRulesOf({ bans }: Config): BanRules {
  return {
    siteMs: bans.site,
    siteCapMs: bans.site_cap,
    transportMs: bans.transport,
    transportCapMs: bans.transport_cap,
    jitter: bans.jitter,
    maxEjected: bans.max_ejected,
    suspectCount: bans.suspect_count,
    suspectWindowMs: bans.suspect_window,
  };
}

/** When a site is down, and not its exits. */
export function guardRulesOf({ guard }: Config): GuardRules {
  return {
    isOn: guard.enabled,
    exits: guard.exits,
    share: guard.share,
    windowMs: guard.window,
    canaryMs: guard.canary,
    suspendMs: guard.suspend,
  };
}

/** The budget of retries after transport faults. */
export function retryRulesOf({ retry }: Config): Runtime['retry'] {
  return { transportRatio: retry.transport_ratio, transportFloorPerS: retry.transport_floor };
}

function captureRulesOf({ dir, which, body, total, files }: Config['capture']): Detection['capture'] {
  return dir === null ? null : { dir, which, bodyBytes: body, totalBytes: total, files };
}

/** How blocks are seen. */
export function detectionOf({ rules, detection, capture }: Config): Detection {
  const isShare = (limit: unknown): boolean => typeof limit === 'object';
  return {
    book: new RuleBook(compiledRulesOf(rules), detection.look_at),
    types: new Set(detection.types),
    lookAt: detection.look_at,
    holdMs: detection.hold,
    usesBaseline: rules.some(({ when }) =>
      when.some((each) => isShare(each.size_below) || isShare(each.slower_than)),
    ),
    capture: captureRulesOf(capture),
  };
}

/** The routes with all defaults filled in. */
export function routesOf(config: Config): Route[] {
  const allPools = config.pools.map((pool) => pool.name);
  return config.routes.map((route, index) => ({
    label: route.name ?? `route-${index}`,
    match: {
      sites: route.match.site ?? [],
      hosts: route.match.host ?? [],
      ports: route.match.port ?? [],
      paths: route.match.path ?? [],
      methods: route.match.method ?? [],
      clients: route.match.client ?? [],
      tags: route.match.tag ?? [],
    },
    pools: route.pools ?? allPools,
    retries: route.retries ?? config.retry.retries,
    timeoutMs: route.timeout ?? config.timeouts.exchange,
    retryUnsafe: route.retry_unsafe,
    onClientFin: route.on_client_fin,
    expose: route.expose,
    onExhausted: route.on_exhausted,
    statuses: route.statuses,
    escalate: escalationOf(route),
    costCeiling: route.cost_ceiling ?? Infinity,
    filter: routeFilterOf(route.filter),
  }));
}

function routeFilterOf(filter: Config['routes'][number]['filter']): RouteFilter | null {
  if (filter === undefined) return null;
  return {
    country: filter.country ?? null,
    city: filter.city === undefined ? null : cityName(filter.city),
    asn: filter.asn ?? null,
    tags: filter.tags ?? [],
  };
}

/** Pools that cost anything, or may. */
function costsOf({ pools }: Config): Runtime['costs'] {
  const priced = pools.filter(({ cost }) => cost.perGb > 0 || cost.perRequest > 0);
  return new Map(priced.map(({ name, cost }) => [name, cost]));
}

function escalationOf({ escalate }: Config['routes'][number]): EscalationRules | null {
  const { block_rate: blockRate, window: windowMs, least, canary } = escalate;
  if (blockRate === undefined) return null;
  return { blockRate, windowMs, least, canary };
}

/** Everything of a `Runtime` but its pools, whose upstreams come from sources. */
export function runtimeValuesOf(config: Config): Omit<Runtime, 'pools'> {
  return {
    routes: routesOf(config),
    costs: costsOf(config),
    timeouts: timeoutsOf(config),
    limits: limitsOf(config),
    bans: banRulesOf(config),
    guard: guardRulesOf(config),
    feedback: { holdMs: config.feedback.hold, clients: config.feedback.clients },
    tunnels: { onBan: config.tunnels.on_ban, banIdleMs: config.tunnels.ban_idle },
    retry: retryRulesOf(config),
    detection: detectionOf(config),
    sessionHeader: config.sessions.header,
    sessionTtlMs: config.sessions.ttl,
  };
}

/** Sites named in routes: the only ones that metrics tell apart. */
export function metricSites(config: Config): ReadonlySet<string> {
  return new Set(config.routes.flatMap((route) => route.match.site ?? []));
}
