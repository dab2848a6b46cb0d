/**
 * Tells webhooks of alerts: a signed POST, repeated with growing pauses, never to an address that is not public or named
 * under `allow`. A webhook that is away costs a bounded queue and nothing else.
 */
import type { Clock } from '../core/clock.js';
import type { Random } from '../core/random.js';
import type { Secret } from '../core/secret.js';
import type { AlertRaised, AlertKind, WebhookTried } from '../core/alert-events.js';
import type { OwnAddresses, TargetPolicy } from '../protocol/target.js';

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
  readonly webhooks: () => readonly Webhook[];
  readonly own: () => OwnAddresses;
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: (event: WebhookTried) => void;
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
