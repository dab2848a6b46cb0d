/** The metrics of one gateway: what events add up to, what is asked for at reading time, and what Node tells. */
import { Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { TurnpikeEvent } from '../core/events.js';
import { EventCounts } from './event-counts.js';
import { metricTable } from './metric-table.js';
import type { MetricName } from './metric-table.js';
import { readingsText } from './series.js';
import type { Reading } from './series.js';

export { metricTable } from './metric-table.js';

/** How many exits of a pool are in a state. */
export interface ExitCount {
  readonly pool: string;
  readonly state: string;
  readonly count: number;
}

/** How the shared state is. */
export interface StateReadings {
  readonly isShared: boolean;
  readonly gateways: number;
  readonly strangers: number;
  readonly bansWaiting: number;
  /** Calls of the store by what came of them. */
  readonly counts: Readonly<Record<string, number>>;
  /** Words about bans. */
  readonly bans: Readonly<Record<string, number>>;
  readonly leases: Readonly<Record<string, number>>;
  readonly leasesHeld: number;
  /** Exits, trials and canaries that were asked for. */
  readonly turns: Readonly<Record<string, number>>;
  /** Whether it keeps to its own part of shared pools. */
  readonly isAlone: boolean;
}

/** How the vault is. */
export interface VaultReadings {
  readonly isOpen: boolean;
  /** Keys by state. */
  readonly keys: ReadonlyMap<string, number>;
  /** Of the key that seals. */
  readonly wraps: number;
  readonly recordsLeft: number;
  readonly recordsBroken: number;
}

/** How the audit is. */
export interface AuditReadings {
  readonly recorded: number;
  readonly sinks: readonly {
    readonly sink: string;
    readonly isWorking: boolean;
    readonly failures: number;
    readonly behind: number;
  }[];
}

/** How credentials and policies are. */
export interface CredentialReadings {
  readonly counts: Readonly<Record<string, number>>;
  readonly policies: readonly { readonly policy: string; readonly total: number; readonly usable: number }[];
}

/** Live values, asked for when metrics are read. What is left out is not shown. */
export interface Gauges {
  readonly exchangesOpen?: () => number;
  readonly tunnelsOpen?: () => number;
  readonly upstreamConnectionsIdle?: () => number;
  readonly deadlines?: () => number;
  readonly logLinesDropped?: () => number;
  readonly capturesFailed?: () => number;
  readonly exits?: () => Iterable<ExitCount>;
  /** Sites that are down, or have a rule suspended, by state. */
  readonly sitesGuarded?: () => ReadonlyMap<string, number>;
  /** Answers of the admin listener by class of status. */
  readonly adminAnswers?: () => ReadonlyMap<string, number>;
  readonly eventListeners?: () => number;
  readonly eventListenersDropped?: () => number;
  /** Null where nothing is shared. */
  readonly state?: () => StateReadings | null;
  /** Null where there is no vault. */
  readonly vault?: () => VaultReadings | null;
  /** Null where there is no audit. */
  readonly audit?: () => AuditReadings | null;
  /** Null where there is no vault, or its credentials were not read yet. */
  readonly credentials?: () => CredentialReadings | null;
  /** Logins that cost a hash, by what came of them; null where nobody can be stored. */
  readonly loginChecks?: () => ReadonlyMap<string, number> | null;
  readonly requestsWaiting?: () => number;
  readonly pacedPairs?: () => number;
  /** Exits that are this gateway's, by shared pool. */
  readonly exitsOwn?: () => Iterable<readonly [string, number]>;
  /** By pool. */
  readonly spentToday?: () => Iterable<readonly [string, number]>;
}

/** What metrics are made of. */
export interface MetricsOptions {
  /** Sites that get a label of their own: those that routes name. A function when a reload can change them. */
  readonly sites: ReadonlySet<string> | (() => ReadonlySet<string>);
  readonly gauges: Gauges;
  readonly version: string;
}

/** The metrics as `app.ts` and `admin/` see them. */
export interface Metrics {
  /** Counts an event. Needs no `this`. */
  readonly subscribe: (event: TurnpikeEvent) => void;
  /** Everything in Prometheus' text form. */
  readonly render: () => Promise<string>;
  readonly contentType: string;
}

const asReading = (read: (() => number) | undefined): Reading[] =>
  read === undefined ? [] : [{ labels: [], value: read() }];

const byLabel = (read: (() => ReadonlyMap<string, number>) | undefined): Reading[] =>
  Array.from(read?.() ?? [], ([label, value]) => ({ labels: [label], value }));

function gaugesText(gauges: Gauges, version: string): string {
  const text = (name: MetricName, readings: Iterable<Reading>): string =>
    readingsText(name, metricTable[name], readings);
  const exits = Array.from(gauges.exits?.() ?? [], ({ pool, state, count }) => ({
    labels: [pool, state],
    value: count,
  }));
  return [
    text('turnpike_exchanges_open', asReading(gauges.exchangesOpen)),
    text('turnpike_tunnels_open', asReading(gauges.tunnelsOpen)),
    text(
      'turnpike_login_checks_total',
      byLabel(() => gauges.loginChecks?.() ?? new Map()),
    ),
    text('turnpike_upstream_connections_idle', asReading(gauges.upstreamConnectionsIdle)),
    text('turnpike_deadlines', asReading(gauges.deadlines)),
    text('turnpike_exits', exits),
    text('turnpike_sites_guarded', byLabel(gauges.sitesGuarded)),
    text('turnpike_admin_answers_total', byLabel(gauges.adminAnswers)),
    text('turnpike_requests_waiting', asReading(gauges.requestsWaiting)),
    text('turnpike_paced_pairs', asReading(gauges.pacedPairs)),
    text(
      'turnpike_pool_spent_today',
      Array.from(gauges.spentToday?.() ?? [], ([pool, value]) => ({ labels: [pool], value })),
    ),
    text('turnpike_event_listeners', asReading(gauges.eventListeners)),
    text('turnpike_event_listeners_dropped_total', asReading(gauges.eventListenersDropped)),
    text(
      'turnpike_exits_own',
      Array.from(gauges.exitsOwn?.() ?? [], ([pool, value]) => ({ labels: [pool], value })),
    ),
    ...stateTexts(gauges.state?.() ?? null, text),
    ...vaultTexts(gauges.vault?.() ?? null, text),
    ...auditTexts(gauges.audit?.() ?? null, text),
    ...credentialTexts(gauges.credentials?.() ?? null, text),
    text('turnpike_log_lines_dropped_total', asReading(gauges.logLinesDropped)),
    text('turnpike_captures_failed_total', asReading(gauges.capturesFailed)),
    text('turnpike_build_info', [{ labels: [version, process.version], value: 1 }]),
  ].join('');
}

const byName = (counts: Readonly<Record<string, number>> = {}): Reading[] =>
  Object.entries(counts).map(([name, value]) => ({ labels: [name], value }));

const one = (value: number | undefined): Reading[] => (value === undefined ? [] : [{ labels: [], value }]);

function stateTexts(
  state: StateReadings | null,
  text: (name: MetricName, readings: Iterable<Reading>) => string,
): string[] {
  return [
    text('turnpike_state_shared', one(state === null ? undefined : Number(state.isShared))),
    text('turnpike_state_gateways', one(state?.gateways)),
    text('turnpike_state_strangers', one(state?.strangers)),
    text('turnpike_state_bans_waiting', one(state?.bansWaiting)),
    text('turnpike_state_events_total', byName(state?.counts)),
    text('turnpike_leases_held', one(state?.leasesHeld)),
    text('turnpike_leases_total', byName(state?.leases)),
    text('turnpike_turns_total', byName(state?.turns)),
    text('turnpike_sharing_alone', one(state === null ? undefined : Number(state.isAlone))),
    text('turnpike_state_bans_total', byName(state?.bans)),
  ];
}

function vaultTexts(
  vault: VaultReadings | null,
  text: (name: MetricName, readings: Iterable<Reading>) => string,
): string[] {
  return [
    text('turnpike_vault_open', one(vault === null ? undefined : Number(vault.isOpen))),
    text('turnpike_vault_keys', byLabel(vault === null ? undefined : () => vault.keys)),
    text('turnpike_vault_key_wraps', one(vault?.wraps)),
    text('turnpike_vault_records_left', one(vault?.recordsLeft)),
    text('turnpike_vault_records_broken', one(vault?.recordsBroken)),
  ];
}

function auditTexts(
  audit: AuditReadings | null,
  text: (name: MetricName, readings: Iterable<Reading>) => string,
): string[] {
  const bySink = (read: (sink: AuditReadings['sinks'][number]) => number): Reading[] =>
    (audit?.sinks ?? []).map((each) => ({ labels: [each.sink], value: read(each) }));
  return [
    text('turnpike_audit_records_total', one(audit?.recorded)),
    text(
      'turnpike_audit_sink_working',
      bySink(({ isWorking }) => Number(isWorking)),
    ),
    text(
      'turnpike_audit_sink_failures_total',
      bySink(({ failures }) => failures),
    ),
    text(
      'turnpike_audit_sink_behind',
      bySink(({ behind }) => behind),
    ),
  ];
}

function credentialTexts(
  credentials: CredentialReadings | null,
  text: (name: MetricName, readings: Iterable<Reading>) => string,
): string[] {
  const policies = credentials?.policies ?? [];
  return [
    text('turnpike_credentials', byName(credentials?.counts)),
    text(
      'turnpike_policy_credentials',
      policies.map(({ policy, total }) => ({ labels: [policy], value: total })),
    ),
    text(
      'turnpike_policy_usable',
      policies.map(({ policy, usable }) => ({ labels: [policy], value: usable })),
    ),
  ];
}

/** Metrics of the process, without those whose number of series comes and goes with the traffic. */
function processRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 20 });
  registry.removeSingleMetric('nodejs_active_handles');
  registry.removeSingleMetric('nodejs_active_requests');
  registry.removeSingleMetric('nodejs_active_resources');
  const collections = registry.getSingleMetric('nodejs_gc_duration_seconds');
  if (collections instanceof Histogram) {
    for (const kind of ['major', 'minor', 'incremental', 'weakcb']) collections.zero({ kind });
  }
  return registry;
}

/** Makes metrics with a registry of their own: two gateways in one process do not meet. */
export function createMetrics(options: MetricsOptions): Metrics {
  const { sites, gauges, version } = options;
  const counts = new EventCounts(typeof sites === 'function' ? sites : () => sites);
  const registry = processRegistry();
  return {
    subscribe: (event) => counts.add(event),
    render: async () => counts.text() + gaugesText(gauges, version) + (await registry.metrics()),
    contentType: registry.contentType,
  };
}
