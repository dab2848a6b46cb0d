/** What alerts, webhooks and the audit add to the metrics. */
import { alertKinds } from '../core/alert-events.js';
import type { AlertEvent, AuditRefused, WebhookTried } from '../core/alert-events.js';
import type { VaultEvent } from '../core/vault-events.js';
import { metricTable } from './metric-table.js';
import { Counters } from './series.js';

const refusals: readonly AuditRefused['reason'][] = ['full', 'late', 'sealed', 'closed'];
const outcomes: readonly WebhookTried['outcome'][] = ['delivered', 'retried', 'failed', 'dropped'];

/** Counts such events; those of the vault are read as gauges instead. */
export class AlertCounts {
  private readonly alerts = new Counters('turnpike_alerts_total', metricTable.turnpike_alerts_total);
  private readonly refused = new Counters(
    'turnpike_audit_refused_total',
    metricTable.turnpike_audit_refused_total,
  );
  private readonly webhooks = new Counters('turnpike_webhooks_total', metricTable.turnpike_webhooks_total);

  constructor() {
    for (const kind of alertKinds) this.alerts.of(kind);
    for (const reason of refusals) this.refused.of(reason);
    for (const outcome of outcomes) this.webhooks.of(outcome);
  }

  add(event: AlertEvent | VaultEvent): void {
    if (event.type === 'alert_raised') {
      if (event.state === 'raised') this.alerts.of(event.kind).value += 1;
    } else if (event.type === 'audit_refused') this.refused.of(event.reason).value += 1;
    else if (event.type === 'webhook_tried') this.webhooks.of(event.outcome).value += 1;
  }

  /** All of it in Prometheus' text form. */
  text(): string {
    return this.alerts.text() + this.refused.text() + this.webhooks.text();
  }
}
