/** What events add to the metrics. */
import { errorTable } from '../core/errors.js';
import type { ErrorCode } from '../core/errors.js';
import type { AlertEvent } from '../core/alert-events.js';
import type { TokenEvent } from '../core/token-events.js';
import type { VaultEvent } from '../core/vault-events.js';
import type {
  BanSpared,
  BodyNotInspected,
  ClientConnection,
  ConnectionRefused,
  CredentialBanned,
  ExchangeEnded,
  ExitBanned,
  ListFetched,
  PoolLoaded,
  SessionPinned,
  SiteGuarded,
  TurnpikeEvent,
  UpstreamConnection,
} from '../core/events.js';
import { AlertCounts } from './alert-counts.js';
import { methodClass, nameOrNone, statusClass, verdictClass } from './label-values.js';
import { metricTable } from './metric-table.js';
import type { MetricName } from './metric-table.js';
import { Counters, Histograms, readingsText } from './series.js';
import type { Count, Histogram } from './series.js';
import { TokenCounts } from './token-counts.js';

const counters = (name: MetricName): Counters => new Counters(name, metricTable[name]);
const histograms = (name: MetricName): Histograms => new Histograms(name, metricTable[name]);

const pinReasons: readonly SessionPinned['reason'][] = [
  'first',
  'exit_failed',
  'exit_banned',
  'exit_gone',
  'expired',
];
const upstreamEvents: readonly UpstreamConnection['what'][] = ['opened', 'reused', 'stale', 'closed'];
const guardChanges: readonly SiteGuarded['change'][] = [
  'site_down',
  'site_up',
  'rule_suspended',
  'rule_resumed',
];
const refusalReasons: readonly ConnectionRefused['reason'][] = [
  ...(['tls_hello', 'tls_failed', 'proxy_header', 'socks_handshake'] as const),
  ...(['over_limit', 'own_fault'] as const),
];

const inspectionTroubles: readonly BodyNotInspected['reason'][] = [
  ...(['coding_unknown', 'coding_nested', 'coding_broken', 'swells'] as const),
  ...(['too_busy', 'too_slow'] as const),
];

/** What every exchange of one route, pool, kind and outcome adds to. Found with one look-up. */
interface ExchangeSeries {
  readonly ended: Count;
  readonly duration: Histogram;
  readonly firstByte: Histogram;
  readonly open: Histogram;
  readonly received: Count;
  readonly sent: Count;
}

interface Door {
  readonly opened: Count;
  readonly closed: Count;
}

const mostKinds = 4000;

/** Counts events. One per gateway: nothing is shared between two in one process. */
export class EventCounts {
  private readonly exchanges = counters('turnpike_exchanges_total');
  private readonly methods = counters('turnpike_exchange_methods_total');
  private readonly errors = counters('turnpike_errors_total');
  private readonly verdicts = counters('turnpike_verdicts_total');
  private readonly durations = histograms('turnpike_exchange_duration_seconds');
  private readonly firstBytes = histograms('turnpike_first_byte_seconds');
  private readonly opens = histograms('turnpike_upstream_open_seconds');
  private readonly received = counters('turnpike_client_received_bytes_total');
  private readonly sent = counters('turnpike_client_sent_bytes_total');
  private readonly attempts = counters('turnpike_attempts_total');
  private readonly retries = counters('turnpike_retries_total');
  private readonly bans = counters('turnpike_bans_total');
  private readonly spared = counters('turnpike_bans_spared_total');
  private readonly lifted = counters('turnpike_bans_lifted_total');
  private readonly feedback = counters('turnpike_feedback_total');
  private readonly guard = counters('turnpike_site_guard_total');
  private readonly matches = counters('turnpike_rule_matches_total');
  private readonly notInspected = counters('turnpike_bodies_not_inspected_total');
  private readonly poolChanges = counters('turnpike_pool_changes_total');
  private readonly pins = counters('turnpike_session_pins_total');
  private readonly opened = counters('turnpike_client_connections_opened_total');
  private readonly closed = counters('turnpike_client_connections_closed_total');
  private readonly refused = counters('turnpike_connections_refused_total');
  private readonly upstreams = counters('turnpike_upstream_connections_total');
  private readonly reloads = counters('turnpike_config_reloads_total');
  private readonly notes = counters('turnpike_notes_total');
  private readonly poolLoads = counters('turnpike_pool_loads_total');
  private readonly listFetches = counters('turnpike_list_fetches_total');
  private readonly alerts = new AlertCounts();
  private readonly tokens = new TokenCounts();
  private readonly exchangeSeries = new Map<string, ExchangeSeries>();
  private readonly doors = new Map<string, Door>();

  constructor(private readonly sites: () => ReadonlySet<string>) {
    for (const code of Object.keys(errorTable)) this.error(code as ErrorCode);
    for (const reason of pinReasons) this.pins.of(reason);
    for (const what of upstreamEvents) this.upstreams.of(what);
    for (const change of guardChanges) this.guard.of(change);
    this.lifted.of();
    for (const reason of refusalReasons) this.refused.of(reason);
    for (const reason of inspectionTroubles) this.notInspected.of(reason);
    for (const outcome of ['applied', 'kept']) this.reloads.of(outcome);
    for (const level of ['info', 'warn', 'error']) this.notes.of(level);
  }

  /** Counts one event. */
  add(event: TurnpikeEvent): void {
    switch (event.type) {
      case 'exchange_ended':
        this.exchange(event);
        return;
      case 'attempt_ended':
        this.attempts.of(event.pool, verdictClass(event.verdict)).value += 1;
        if (event.retried) this.retries.of(event.pool).value += 1;
        return;
      case 'exit_banned':
      case 'credential_banned':
        this.banned(event);
        return;
      case 'ban_spared':
        this.spared.of(event.pool, scopeOf(event)).value += 1;
        return;
      case 'site_guarded':
        this.guarded(event);
        return;
      case 'feedback_given':
        this.feedback.of(event.verdict, event.outcome).value += 1;
        return;
      case 'rule_matched':
        this.matches.of(event.rule, String(event.shadow)).value += 1;
        return;
      case 'body_not_inspected':
        this.notInspected.of(event.reason).value += 1;
        return;
      case 'pool_changed':
        this.poolChanges.of(event.route, event.to).value += 1;
        return;
      case 'session_pinned':
        this.pins.of(event.reason).value += 1;
        return;
      case 'client_connected':
      case 'client_disconnected':
        this.passedDoor(event);
        return;
      case 'connection_refused':
        this.refused.of(event.reason).value += 1;
        return;
      case 'upstream_connection':
        this.upstreams.of(event.what).value += 1;
        return;
      case 'config_reloaded':
        this.reloads.of(event.outcome).value += 1;
        return;
      case 'pool_loaded':
      case 'list_fetched':
        this.loaded(event);
        return;
      case 'note':
        this.notes.of(event.level).value += 1;
        return;
      default:
        this.ofVault(event);
    }
  }

  private ofVault(event: TokenEvent | AlertEvent | VaultEvent): void {
    if (event.type === 'token_used' || event.type === 'credential_status_changed') this.tokens.add(event);
    else this.alerts.add(event);
  }

  private passedDoor({ type, listener }: ClientConnection): void {
    const door = this.door(listener);
    (type === 'client_connected' ? door.opened : door.closed).value += 1;
  }

  private loaded({ type, pool, outcome }: PoolLoaded | ListFetched): void {
    (type === 'pool_loaded' ? this.poolLoads : this.listFetches).of(pool, outcome).value += 1;
  }

  private guarded({ change, lifted }: SiteGuarded): void {
    this.guard.of(change).value += 1;
    this.lifted.of().value += lifted;
  }

  /** All of it in Prometheus' text form. */
  text(): string {
    const families = [
      ...[
        this.exchanges,
        this.methods,
        this.errors,
        this.verdicts,
        this.durations,
        this.firstBytes,
        this.opens,
      ],
      ...[
        this.received,
        this.sent,
        this.attempts,
        this.retries,
        this.bans,
        this.spared,
        this.lifted,
        this.guard,
        this.feedback,
        this.pins,
        this.opened,
        this.closed,
      ],
      ...[this.refused, this.upstreams, this.reloads, this.notes, this.poolLoads, this.listFetches],
      ...[this.poolChanges, this.matches, this.notInspected],
    ];
    const open = [...this.doors].map(([listener, { opened, closed }]) => ({
      labels: [listener],
      value: opened.value - closed.value,
    }));
    const openName = 'turnpike_client_connections_open';
    return (
      families.map((family) => family.text()).join('') +
      this.alerts.text() +
      this.tokens.text() +
      readingsText(openName, metricTable[openName], open)
    );
  }

  private site(site: string): string {
    return this.sites().has(site) ? site : 'other';
  }

  private error(code: ErrorCode): Count {
    return this.errors.of(code, errorTable[code].blame);
  }

  private banned(event: ExitBanned | CredentialBanned): void {
    if (event.site === null) this.bans.of('exit', 'none').value += 1;
    else this.bans.of(event.type === 'exit_banned' ? 'site' : 'credential', this.site(event.site)).value += 1;
  }

  private exchange(event: ExchangeEnded): void {
    const series = this.seriesOf(event);
    series.ended.value += 1;
    series.duration.observe(event.times.totalMs / 1000);
    if (event.times.firstByteMs !== null) series.firstByte.observe(event.times.firstByteMs / 1000);
    // 0 is a kept connection: nothing was opened.
    if (event.times.openMs !== null && event.times.openMs > 0) series.open.observe(event.times.openMs / 1000);
    series.received.value += event.bytesIn;
    series.sent.value += event.bytesOut;
    this.methods.of(methodClass(event.method)).value += 1;
    this.verdicts.of(this.site(event.site), verdictClass(event.verdict)).value += 1;
    if (event.code !== null) this.error(event.code).value += 1;
  }

  private seriesOf(event: ExchangeEnded): ExchangeSeries {
    const status = statusClass(event.status);
    const key = `${event.route}\n${event.pool ?? ''}\n${event.kind}\n${status}\n${event.end}`;
    const known = this.exchangeSeries.get(key);
    if (known !== undefined) return known;
    const route = nameOrNone(event.route);
    const pool = nameOrNone(event.pool);
    const made = {
      ended: this.exchanges.of(route, pool, event.kind, status, event.end),
      duration: this.durations.of(route, event.kind),
      firstByte: this.firstBytes.of(route),
      open: this.opens.of(pool),
      received: this.received.of(event.kind),
      sent: this.sent.of(event.kind),
    };
    if (this.exchangeSeries.size < mostKinds) this.exchangeSeries.set(key, made);
    return made;
  }

  private door(listener: string): Door {
    const known = this.doors.get(listener);
    if (known !== undefined) return known;
    const made = { opened: this.opened.of(listener), closed: this.closed.of(listener) };
    this.doors.set(listener, made);
    return made;
  }
}

function scopeOf({ credential, site }: BanSpared): string {
  if (credential !== undefined) return 'credential';
  return site === null ? 'exit' : 'site';
}
