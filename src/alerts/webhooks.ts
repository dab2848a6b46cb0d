/**
 * Tells webhooks of alerts: a signed POST, repeated with growing pauses, never to an address that is not public or named
 * under `allow`, and no redirect is followed. A webhook that is away costs a bounded queue and nothing else.
 */
import { request } from 'undici';
import type { AlertKind, AlertRaised, WebhookTried } from '../core/alert-events.js';
import type { Clock, Timer } from '../core/clock.js';
import type { Random } from '../core/random.js';
import type { Secret } from '../core/secret.js';
import { AddressRefused, checkedAgent, faultText, type Resolve } from '../open/checked-agent.js';
import type { OwnAddresses, TargetPolicy } from '../protocol/target.js';
import { webhookSignature } from './webhook-signature.js';

/** One that is told. */
export interface Webhook {
  readonly name: string;
  readonly url: Secret;
  readonly secret: Secret;
  /** Null: every kind. */
  readonly kinds: readonly AlertKind[] | null;
  /** Exceptions to the refusal of special addresses. */
  readonly policy: TargetPolicy;
}

/** Surroundings of the webhooks. */
export interface WebhookParts {
  /** Those of the configuration in force. */
  readonly webhooks: () => readonly Webhook[];
  readonly own: OwnAddresses;
  readonly resolve?: Resolve;
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: (event: WebhookTried) => void;
  /** How long one try may take; 10 s when not given. */
  readonly timeoutMs?: number;
}

/** The webhooks of one gateway. */
export interface Webhooks {
  /** Tells all that want to know. Never throws, never waits. Needs no `this`. */
  readonly tell: (alert: AlertRaised) => void;
  /** Alerts that wait for a webhook. */
  waiting(): number;
  /** Gives up what waits. */
  close(): void;
}

const mostWaiting = 100;
const mostTries = 10;
const firstPauseMs = 1000;
const longestPauseMs = 300_000;
const tryMs = 10_000;

/** Makes them. */
export function createWebhooks(parts: WebhookParts): Webhooks {
  return new AlertWebhooks(parts);
}

/** The pause behind a failed try: half of it is chance, so that many gateways don't come back together. */
export function webhookPause(tries: number, chance: number): number {
  const longest = Math.min(longestPauseMs, firstPauseMs * 2 ** (tries - 1));
  return longest / 2 + (longest / 2) * chance;
}

/** The body of an alert: what people and programs read. */
export function alertBody(alert: AlertRaised): string {
  const { id, kind, state, subject, clears, message, detail, atMs } = alert;
  const at = new Date(atMs).toISOString();
  return JSON.stringify({ id, kind, state, subject, at, message, clears, detail });
}

class AlertWebhooks implements Webhooks {
  private readonly lines = new Map<string, WebhookLine>();
  private isClosed = false;

  constructor(private readonly parts: WebhookParts) {}

  readonly tell = (alert: AlertRaised): void => {
    if (this.isClosed) return;
    const webhooks = this.parts.webhooks();
    for (const [name, line] of this.lines) {
      if (webhooks.some((each) => each.name === name)) continue;
      line.close();
      this.lines.delete(name);
    }
    for (const { name, kinds } of webhooks) {
      if (kinds !== null && !kinds.includes(alert.kind)) continue;
      const line = this.lines.get(name) ?? new WebhookLine(name, this.parts);
      this.lines.set(name, line);
      line.add(alert);
    }
  };

  waiting(): number {
    return [...this.lines.values()].reduce((sum, line) => sum + line.size, 0);
  }

  close(): void {
    this.isClosed = true;
    for (const line of this.lines.values()) line.close();
  }
}

/** What waits for one webhook: one at a time, in order. */
class WebhookLine {
  private readonly alerts: AlertRaised[] = [];
  private tries = 0;
  private pause: Timer | null = null;
  private isBusy = false;
  private readonly abort = new AbortController();

  constructor(
    private readonly name: string,
    private readonly parts: WebhookParts,
  ) {}

  get size(): number {
    return this.alerts.length;
  }

  add(alert: AlertRaised): void {
    this.alerts.push(alert);
    // The first one is on its way.
    if (this.alerts.length > mostWaiting) this.tell(this.alerts.splice(1, 1)[0], 'dropped', 'too many wait');
    this.run();
  }

  close(): void {
    this.pause?.cancel();
    this.abort.abort();
    this.alerts.length = 0;
  }

  private run(): void {
    const [alert] = this.alerts;
    if (alert === undefined || this.isBusy || this.pause !== null) return;
    this.isBusy = true;
    this.tries += 1;
    this.attempt(alert).then(
      () => this.ended(alert, null, false),
      (error: unknown) => this.ended(alert, reasonOf(error), error instanceof AddressRefused),
    );
  }

  private ended(alert: AlertRaised, reason: string | null, isFinal: boolean): void {
    this.isBusy = false;
    if (this.abort.signal.aborted) return;
    const isOver = reason === null || isFinal || this.tries >= mostTries;
    this.tell(alert, reason === null ? 'delivered' : isOver ? 'failed' : 'retried', reason ?? '');
    if (isOver) {
      this.alerts.shift();
      this.tries = 0;
      this.run();
      return;
    }
    const { clock, random } = this.parts;
    this.pause = clock.after(webhookPause(this.tries, random.float()), () => {
      this.pause = null;
      this.run();
    });
  }

  private tell(alert: AlertRaised | undefined, outcome: WebhookTried['outcome'], reason: string): void {
    if (alert === undefined) return;
    this.parts.emit({ type: 'webhook_tried', webhook: this.name, alert: alert.id, outcome, reason });
  }

  private async attempt(alert: AlertRaised): Promise<void> {
    const { webhooks, own, resolve, clock, timeoutMs = tryMs } = this.parts;
    const webhook = webhooks().find(({ name }) => name === this.name);
    // A reload took it away; what waits for it goes with it.
    if (webhook === undefined) throw new AddressRefused(null);
    const url = new URL(webhook.url.reveal());
    const agent = checkedAgent(url, {
      own,
      policy: webhook.policy,
      ...(resolve !== undefined && { resolve }),
    });
    const body = alertBody(alert);
    try {
      const { statusCode } = await request(`${url.origin}${url.pathname}${url.search}`, {
        method: 'POST',
        dispatcher: agent,
        signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), this.abort.signal]),
        headers: {
          'content-type': 'application/json',
          'user-agent': 'turnpike',
          'x-turnpike-alert-id': alert.id,
          'x-turnpike-signature': webhookSignature(webhook.secret.reveal(), body, clock.wallMs()),
        },
        body,
      });
      if (statusCode < 200 || statusCode > 299) throw new WebhookRefusal(`it answered ${statusCode}`);
    } finally {
      void agent.destroy();
    }
  }
}

/** An answer that is no success. */
class WebhookRefusal extends Error {}

/** Why a try failed; names nothing of the URL, which may hold a token. */
function reasonOf(error: unknown): string {
  if (error instanceof WebhookRefusal) return error.message;
  if (error instanceof AddressRefused) return 'its address may not be visited; name it under allow';
  const isLate = error instanceof Error && error.name === 'TimeoutError';
  return isLate ? 'no answer in time' : faultText(error);
}
