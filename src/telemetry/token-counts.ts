/** What credentials and tokens add to the metrics. Policies are made by administrators, so they may be labels. */
import { tokenEvents, type TokenEvent } from '../core/token-events.js';
import { metricTable } from './metric-table.js';
import { Counters } from './series.js';

/** Policies come and go while a gateway runs; past so many the rest are `other`. */
const MOST_POLICIES = 500;

/** Counts such events. */
export class TokenCounts {
  private readonly tokens = new Counters('turnpike_tokens_total', metricTable.turnpike_tokens_total);
  private readonly byPolicy = new Counters(
    'turnpike_policy_tokens_total',
    metricTable.turnpike_policy_tokens_total,
  );
  private readonly changes = new Counters(
    'turnpike_credential_changes_total',
    metricTable.turnpike_credential_changes_total,
  );
  private readonly policies = new Set<string>();

  constructor() {
    for (const event of tokenEvents) this.tokens.of(event);
  }

  add(event: TokenEvent): void {
    if (event.type === 'credential_status_changed') {
      this.changes.of(event.to, event.by).value += 1;
      return;
    }
    this.tokens.of(event.what).value += 1;
    if (event.what !== 'acquired' && event.what !== 'refused') return;
    if (event.policy !== '') this.byPolicy.of(this.label(event.policy), event.what).value += 1;
  }

  /** All of it in Prometheus' text form. */
  text(): string {
    return this.tokens.text() + this.byPolicy.text() + this.changes.text();
  }

  private label(policy: string): string {
    if (this.policies.size < MOST_POLICIES) this.policies.add(policy);
    return this.policies.has(policy) ? policy : 'other';
  }
}
