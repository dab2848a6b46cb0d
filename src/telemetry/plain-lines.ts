/** Rare events that the log shows as they are, with how loud each is. Nothing that is not listed here reaches the log. */
import type { TurnpikeEvent } from '../core/events.js';
import { scrub } from '../core/scrub.js';

type PlainType = 'pool_loaded' | 'list_fetched' | 'vault_changed' | 'key_changed' | 'key_worn';

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
  }
}
