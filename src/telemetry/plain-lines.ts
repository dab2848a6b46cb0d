/** Rare events that the log shows as they are, with how loud each is. Nothing that is not listed here reaches the log. */
import type { AlertRaised } from '../core/alert-events.js';
import type { TurnpikeEvent } from '../core/events.js';
import { scrub } from '../core/scrub.js';

type PlainType =
  | ('pool_loaded' | 'list_fetched' | 'vault_changed' | 'key_changed' | 'key_worn' | 'token_leaked')
  | 'credential_status_changed'
  | ('audit_sink_turned' | 'audit_anchored' | 'audit_disk_turned' | 'alert_raised' | 'webhook_tried');

/** One line. */
export interface PlainLine {
  readonly level: 'info' | 'warn' | 'error';
  readonly fields: Readonly<Record<string, string | number | null>>;
}

/** The line of an event. */
export function plainLine(event: Extract<TurnpikeEvent, { type: PlainType }>): PlainLine {
  switch (event.type) {
    case 'pool_loaded':
    case 'list_fetched': {
      const { type, pool, outcome } = event;
      const level = outcome === 'kept' || outcome === 'failed' ? 'warn' : 'info';
      const exits = type === 'pool_loaded' ? { exits: event.exits } : {};
      return { level, fields: { event: type, pool, outcome, reason: scrub(event.reason), ...exits } };
    }
    case 'vault_changed': {
      const { type, state, why } = event;
      const level = state === 'open' ? 'info' : 'error';
      return { level, fields: { event: type, state, why: why === null ? null : scrub(why) } };
    }
    case 'key_changed':
      return { level: 'info', fields: { event: event.type, term: event.term, state: event.state } };
    case 'key_worn':
      return { level: 'warn', fields: { event: event.type, term: event.term, wraps: event.wraps } };
    case 'alert_raised':
      return alertLine(event);
    case 'webhook_tried': {
      const { type, webhook, alert, outcome, reason } = event;
      const level = outcome === 'delivered' ? 'info' : outcome === 'retried' ? 'warn' : 'error';
      return { level, fields: { event: type, webhook, alert, outcome, reason: scrub(reason) } };
    }
    case 'credential_status_changed': {
      const { type, credential, from, to, forMs, by } = event;
      return { level: 'info', fields: { event: type, credential, from, to, forMs, by } };
    }
    case 'token_leaked': {
      const { type, token, credential, policy, addresses } = event;
      return { level: 'warn', fields: { event: type, token, credential, policy, addresses } };
    }
    case 'audit_anchored': {
      const { type, chain, n, hash } = event;
      return { level: 'info', fields: { event: type, chain, n, hash } };
    }
    case 'audit_sink_turned': {
      const { type, sink, state, reason } = event;
      const level = state === 'working' ? 'info' : 'error';
      return { level, fields: { event: type, sink, state, reason: scrub(reason) } };
    }
    case 'audit_disk_turned': {
      const { type, disk, state, usedPercent } = event;
      return {
        level: state === 'roomy' ? 'info' : 'error',
        fields: { event: type, disk, state, usedPercent },
      };
    }
  }
}

function alertLine(alert: AlertRaised): PlainLine {
  const { type, id, kind, state, subject, message, clears } = alert;
  const level = state === 'raised' ? 'error' : 'info';
  const said = { subject: scrub(subject), message: scrub(message), clears };
  return { level, fields: { event: type, id, kind, state, ...said } };
}
