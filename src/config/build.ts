/** From checked settings to the frozen `Config`. Everything that could be wrong has been found before. */
import { dirname } from 'node:path';
import type { ControlDefaults } from '../request/controls.js';
import type { Pacing } from '../upstreams/pool.js';
import { cityName } from '../upstreams/upstream.js';
import type { UpstreamOptions } from '../upstreams/upstream.js';
import { alertsOf } from './alerts.js';
import type {
  AdminConfig,
  ClientConfig,
  Config,
  ListenerConfig,
  PoolConfig,
  UpstreamSource,
} from './config.js';
import type { Resources } from './resources.js';
import type { Settings } from './schema.js';
import { sharingOf } from './sharing.js';
import { stateOf } from './state.js';
import { storageOf } from './storage.js';
import { vaultOf } from './vault.js';
import type { Secret } from '../core/secret.js';
import { rulesOf } from './rules.js';
import { formatAddress } from './units.js';

type Presets = NonNullable<Settings['clients'][number]['defaults']>;

/** Only what is preset. */
function defaultsOf(presets: Presets): ControlDefaults {
  const defaults: ControlDefaults = {
    ...(presets.session !== undefined && { session: presets.session }),
    ...(presets.mode !== undefined && { mode: presets.mode }),
    ...(presets.ttl !== undefined && { ttlMs: presets.ttl }),
    ...(presets.pool !== undefined && { pool: presets.pool }),
    ...(presets.country !== undefined && { country: presets.country }),
    ...(presets.city !== undefined && { city: cityName(presets.city) }),
    ...(presets.asn !== undefined && { asn: presets.asn }),
    ...(presets.tags !== undefined && { tags: presets.tags }),
    ...(presets.retries !== undefined && { retries: presets.retries }),
    ...(presets.timeout !== undefined && { timeoutMs: presets.timeout }),
    ...(presets.detect !== undefined && { detect: presets.detect }),
  };
  return defaults;
}

function listenerOf(entry: Settings['listen']['proxy'][number], resources: Resources): ListenerConfig {
  const { at, client, route, tls, proxy_protocol, proxy_protocol_from, ...presets } = entry;
  return {
    at,
    label: formatAddress(at),
    client: client ?? null,
    route: route ?? null,
    defaults: defaultsOf(presets),
    tls: tls === undefined ? null : pairOf(tls, resources),
    proxyFrom: proxy_protocol === true ? (proxy_protocol_from ?? []) : [],
  };
}

function pairOf(
  files: { readonly cert: string; readonly key: string },
  resources: Resources,
): NonNullable<ListenerConfig['tls']> {
  const pair = resources.keyPair(files);
  if ('trouble' in pair) throw new Error('a certificate was built before it was checked');
  return pair;
}

function secretOf(reference: string, resources: Resources): Secret {
  const resolved = resources.secret(reference);
  if (resolved.kind === 'problem') throw new Error('a secret was built before it was checked');
  return resolved.secret;
}

/** A client; its password was resolved before. */
export function clientOf(
  client: Omit<Settings['clients'][number], 'password'>,
  password: Secret | null,
): ClientConfig {
  return {
    name: client.name,
    password,
    allowFrom: client.allow_from ?? [],
    tags: client.tags ?? [],
    limits: {
      requests: client.limits?.requests ?? null,
      tunnels: client.limits?.tunnels ?? null,
      connections: client.limits?.connections ?? null,
      exchanges: client.limits?.exchanges ?? null,
      bytes: client.limits?.bytes ?? null,
      cutsTunnels: client.limits?.over_bytes === 'cut',
    },
    targets: client.targets ?? [],
    defaults: defaultsOf(client.defaults ?? {}),
  };
}

function adminOf(admin: Settings['admin'], resources: Resources): AdminConfig {
  const { cert, key } = admin.tls;
  return {
    tokens: admin.tokens.map((each) => ({ ...each, token: secretOf(each.token, resources) })),
    metrics: admin.metrics,
    tls: cert === undefined || key === undefined ? null : pairOf({ cert, key }, resources),
  };
}

/** What `refresh` and `exits` are where they are left out. */
const LIST_REFRESH_MS = 300_000;
const TEMPLATE_EXITS = 100;

type UpstreamEntry = Settings['pools'][string]['upstreams'][number];

function optionsOf(entry: UpstreamEntry, resources: Resources): UpstreamOptions {
  const certificate = entry.tls?.ca === undefined ? null : resources.certificate(entry.tls.ca);
  const tls = {
    ca: certificate !== null && 'pem' in certificate ? certificate.pem : null,
    verify: entry.tls?.verify ?? true,
    servername: entry.tls?.servername ?? null,
  };
  return {
    ...(entry.weight !== undefined && { weight: entry.weight }),
    ...(entry.tags !== undefined && { tags: entry.tags }),
    ...(entry.country !== undefined && { country: entry.country }),
    ...(entry.city !== undefined && { city: entry.city }),
    ...(entry.asn !== undefined && { asn: entry.asn }),
    ...(entry.turnpike !== undefined && { turnpike: entry.turnpike }),
    ...(entry.tls !== undefined && { tls }),
  };
}

function sourceOf(entry: UpstreamEntry, resources: Resources): UpstreamSource {
  const { credential } = entry;
  const all = { options: optionsOf(entry, resources), ...(credential !== undefined && { credential }) };
  if (entry.url !== undefined) return { kind: 'url', url: secretOf(entry.url, resources), ...all };
  if (entry.list !== undefined) {
    const { refresh, allow = [] } = entry;
    const url = secretOf(entry.list, resources);
    return { kind: 'list', url, refreshMs: refresh ?? LIST_REFRESH_MS, allow, ...all };
  }
  if (entry.template !== undefined) {
    const template = secretOf(entry.template, resources);
    return { kind: 'template', template, exits: entry.exits ?? TEMPLATE_EXITS, ...all };
  }
  return { kind: 'file', file: resources.path(entry.file ?? ''), ...all };
}

function poolOf(name: string, pool: Settings['pools'][string], resources: Resources): PoolConfig {
  return {
    name,
    sources: pool.upstreams.map((entry) => sourceOf(entry, resources)),
    strategy: pool.strategy,
    hashOn: pool.hash_on,
    algorithm: pool.algorithm,
    slotsPerExit: pool.limits.slots ?? Infinity,
    pacing: pacingOf(pool),
    sharing: sharingOf(pool),
    cost: {
      perGb: pool.cost.per_gb ?? 0,
      perRequest: pool.cost.per_request ?? 0,
      budgetPerDay: pool.cost.per_day ?? Infinity,
    },
  };
}

/** `adaptive` learns the odds of exits, which needs the same memory. */
function pacingOf({ strategy, limits }: Settings['pools'][string]): Pacing | null {
  const { spacing, site_slots: siteSlots } = limits;
  if (spacing === undefined && siteSlots === undefined && strategy !== 'adaptive') return null;
  return { spacing: spacing ?? 0, siteSlots: siteSlots ?? Infinity };
}

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) frozen(inner);
  return Object.freeze(value);
}

function captureOf(capture: Settings['capture'], resources: Resources): Config['capture'] {
  const { dir, ...rest } = capture;
  return { ...rest, dir: dir === undefined ? null : resources.path(dir) };
}

/** The folder that paths in a file are relative to. */
export function folderOf(file: string | null): string {
  return file === null ? '.' : dirname(file);
}

/** Builds the configuration. */
export function buildConfig(settings: Settings, resources: Resources, file: string | null): Config {
  const { log } = settings;
  const door = settings.listen.admin;
  return frozen({
    file,
    listeners: settings.listen.proxy.map((entry) => listenerOf(entry, resources)),
    admin: door !== null && 'host' in door ? door : null,
    adminSocket: door !== null && 'socket' in door ? resources.path(door.socket) : null,
    adminApi: adminOf(settings.admin, resources),
    adminHosts: settings.listen.admin_hosts,
    allowedTargets: settings.targets.allow,
    clients: settings.clients.map((client) =>
      clientOf(client, client.password === undefined ? null : secretOf(client.password, resources)),
    ),
    pools: Object.entries(settings.pools).map(([name, pool]) => poolOf(name, pool, resources)),
    routes: settings.routes,
    sessions: settings.sessions,
    timeouts: settings.timeouts,
    limits: settings.limits,
    bans: settings.bans,
    guard: settings.guard,
    feedback: {
      ...settings.feedback,
      key: settings.feedback.key === undefined ? null : secretOf(settings.feedback.key, resources),
    },
    tunnels: settings.tunnels,
    retry: settings.retry,
    rules: rulesOf(settings),
    detection: settings.detection,
    capture: captureOf(settings.capture, resources),
    log: {
      level: log.level,
      access: log.access,
      file: log.file === undefined ? null : resources.path(log.file),
      redact: log.redact,
    },
    state: stateOf(settings.state, resources),
    cluster: settings.cluster,
    storage: storageOf(settings.storage, settings.data_dir, resources),
    audit: { file: settings.audit.file === undefined ? null : resources.path(settings.audit.file) },
    alerts: alertsOf(settings.alerts, resources),
    vault: vaultOf(settings.vault, resources),
    dataDir: resources.path(settings.data_dir),
  });
}
