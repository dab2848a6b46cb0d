/**
 * The log: JSON lines in pino's form. Exchanges are the bulk and are built by hand (see `line.ts`); everything
 * else is rare and goes through pino. What is written is listed field by field, here and there.
 */
import { pino } from 'pino';
import type { Logger } from 'pino';
import type { Clock } from '../core/clock.js';
import type {
  AttemptEnded,
  BodyNotInspected,
  RuleMatched,
  ConfigReloaded,
  ConnectionRefused,
  GatewayNote,
  BanEvidence,
  BanSpared,
  CredentialBanned,
  ExitBanned,
  FeedbackGiven,
  SessionPinned,
  SiteGuarded,
  PoolChanged,
  TurnpikeEvent,
} from '../core/events.js';
import { createExchangeLine } from './line.js';
import type { RedactableField } from './line.js';
import { openLogSink } from './log-sink.js';
import type { LogSink } from './log-sink.js';
import { plainLine } from './plain-lines.js';
import { scrub } from '../core/scrub.js';

/** What is logged, and where. */
export interface LogSettings {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** Whether each exchange gets a line. */
  readonly access: boolean;
  /** Appended to; null for standard output. */
  readonly file: string | null;
  readonly redact: readonly RedactableField[];
}

/** The log as `app.ts` sees it. */
export interface Log {
  /** Takes every event; writes those that the level asks for. Never throws. Needs no `this`. */
  readonly subscribe: (event: TurnpikeEvent) => void;
  /** Lines lost so far, for the metrics. */
  dropped(): number;
  /** Takes over level and redaction of a new configuration; the file stays the one of the start. */
  use(settings: LogSettings): void;
  /** Opens the file anew, for log rotation. */
  reopen(): void;
  /** Writes what is buffered and closes; takes two seconds at most. */
  close(): Promise<void>;
}

/** Refused connections can come by the thousand; so many lines a second say enough. */
const refusalsPerSecond = 5;

class EventLog implements Log {
  private pino!: Logger;
  private exchangeLine!: ReturnType<typeof createExchangeLine>;
  private writesExchanges = false;
  private hides: ReadonlySet<string> = new Set();
  private refusalSecond = 0;
  private refusalLines = 0;
  private refusalsUnsaid = 0;

  constructor(
    settings: LogSettings,
    private readonly sink: LogSink,
    private readonly clock: Clock,
  ) {
    this.use(settings);
  }

  use(settings: LogSettings): void {
    const redact = new Set(settings.redact);
    this.hides = redact;
    this.exchangeLine = createExchangeLine(redact);
    this.writesExchanges = settings.access && (settings.level === 'info' || settings.level === 'debug');
    const options = { level: settings.level, base: null, timestamp: () => `,"time":${this.clock.wallMs()}` };
    this.pino = pino(options, this.sink);
  }

  readonly subscribe = (event: TurnpikeEvent): void => {
    switch (event.type) {
      case 'exchange_ended':
        if (this.writesExchanges) this.sink.write(this.exchangeLine(event, this.clock.wallMs()));
        return;
      case 'attempt_ended':
        if (this.pino.isLevelEnabled('debug')) this.attempt(event);
        return;
      case 'session_pinned':
        if (this.pino.isLevelEnabled('debug')) this.pinned(event);
        return;
      case 'exit_banned':
      case 'credential_banned':
        this.banned(event);
        return;
      case 'ban_spared':
        if (this.pino.isLevelEnabled('debug')) this.spared(event);
        return;
      case 'feedback_given':
        this.feedback(event);
        return;
      case 'site_guarded':
        this.guarded(event);
        return;
      case 'rule_matched':
      case 'body_not_inspected':
        if (this.pino.isLevelEnabled('debug')) this.sight(event);
        return;
      case 'pool_changed':
        this.poolChange(event);
        return;
      case 'connection_refused':
        this.refusal(event);
        return;
      case 'config_reloaded':
        this.reload(event);
        return;
      case 'note':
        this.note(event);
        return;
      case 'client_connected':
      case 'client_disconnected':
      case 'upstream_connection':
      case 'audit_refused':
      case 'token_used':
        return;
      default: {
        const { level, fields } = plainLine(event);
        this.pino[level](fields);
      }
    }
  };

  dropped(): number {
    return this.sink.dropped();
  }

  reopen(): void {
    this.sink.reopen();
  }

  close(): Promise<void> {
    return this.sink.close();
  }

  private shown(field: RedactableField, value: string): string {
    return this.hides.has(field) ? '[redacted]' : scrub(value);
  }

  private attempt(event: AttemptEnded): void {
    this.pino.debug({
      event: 'attempt',
      requestId: event.requestId,
      pool: event.pool,
      upstream: event.upstream,
      upstreamLabel: this.shown('upstreamLabel', event.upstreamLabel),
      site: this.shown('site', event.site),
      attempt: event.attempt,
      verdict: event.verdict,
      reason: scrub(event.reason),
      retried: event.retried,
    });
  }

  private pinned(event: SessionPinned): void {
    this.pino.debug({
      event: 'session_pinned',
      client: this.shown('client', event.client),
      session: this.shown('session', event.session),
      upstream: event.upstream,
      generation: event.generation,
      reason: event.reason,
    });
  }

  private banned(event: ExitBanned | CredentialBanned): void {
    const { upstreamLabel: label } = event;
    this.pino.info({
      event: event.type,
      ...('credential' in event && { credential: event.credential }),
      upstream: event.upstream,
      upstreamLabel: label === null ? null : this.shown('upstreamLabel', label),
      site: event.site === null ? null : this.shown('site', event.site),
      reason: scrub(event.reason),
      strikes: event.strikes,
      forMs: Math.round(event.forMs),
      ...shownEvidence(event.evidence),
    });
  }

  private spared(event: BanSpared): void {
    this.pino.debug({
      event: 'ban_spared',
      ...(event.credential !== undefined && { credential: event.credential }),
      upstream: event.upstream,
      upstreamLabel: this.shown('upstreamLabel', event.upstreamLabel),
      site: event.site === null ? null : this.shown('site', event.site),
      reason: scrub(event.reason),
      pool: event.pool,
    });
  }

  private feedback(event: FeedbackGiven): void {
    this.pino.info({
      event: 'feedback_given',
      client: this.shown('client', event.client),
      requestId: event.requestId,
      upstream: event.upstream,
      site: this.shown('site', event.site),
      verdict: event.verdict,
      outcome: event.outcome,
    });
  }

  private guarded({ site, change, rule, exits, lifted, isHeard }: SiteGuarded): void {
    const level = change === 'site_down' || change === 'rule_suspended' ? 'warn' : 'info';
    const by = isHeard ? 'another gateway' : 'own tries';
    this.pino[level]({ event: change, site: this.shown('site', site), rule, exits, lifted, by });
  }

  private sight(event: RuleMatched | BodyNotInspected): void {
    const { type, requestId, upstream } = event;
    const place = { event: type, requestId, upstream, site: this.shown('site', event.site) };
    if (event.type === 'body_not_inspected') this.pino.debug({ ...place, reason: event.reason });
    else {
      const { rule, shadow, field } = event;
      this.pino.debug({ ...place, rule, shadow, field, found: scrub(event.found) });
    }
  }

  private poolChange({ type, route, site, from, to, why }: PoolChanged): void {
    this.pino.warn({ event: type, route, site: this.shown('site', site), from, to, why: scrub(why) });
  }

  private refusal(event: ConnectionRefused): void {
    const second = Math.floor(this.clock.nowMs() / 1000);
    if (second !== this.refusalSecond) {
      this.refusalSecond = second;
      this.refusalLines = 0;
    }
    this.refusalLines += 1;
    if (this.refusalLines > refusalsPerSecond) {
      this.refusalsUnsaid += 1;
      return;
    }
    this.pino.warn({
      event: 'connection_refused',
      listener: event.listener,
      clientAddress: this.shown('clientAddress', event.clientAddress),
      reason: event.reason,
      detail: scrub(event.detail),
      unsaid: this.refusalsUnsaid,
    });
    this.refusalsUnsaid = 0;
  }

  /** Whoever changed the file should find why it does not count. */
  private reload({ outcome, cause, problems, needsRestart }: ConfigReloaded): void {
    const level = outcome === 'kept' ? 'error' : needsRestart.length > 0 ? 'warn' : 'info';
    const event = outcome === 'kept' ? 'config_kept' : 'config_applied';
    this.pino[level]({ event, cause, problems: problems.map(scrub), needsRestart });
  }

  private note(event: GatewayNote): void {
    const detail: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(event.detail)) {
      detail[key] = typeof value === 'string' ? scrub(value) : isPlain(value) ? value : '[secret]';
    }
    this.pino[event.level]({ event: event.what, detail });
  }
}

/** What a ban goes by, without the page itself. */
function shownEvidence(evidence: BanEvidence | null | undefined): Record<string, unknown> {
  if (evidence === null || evidence === undefined) return {};
  const { requestId, status, rule, field, bodyHash } = evidence;
  return { requestId, status, rule, field, bodyHash };
}

const isPlain = (value: unknown): boolean =>
  value === null || typeof value === 'number' || typeof value === 'boolean';

/** Opens the log. Throws when its file can't be opened. */
export function createLog(settings: LogSettings, clock: Clock): Log {
  return new EventLog(settings, openLogSink(settings.file, clock), clock);
}
