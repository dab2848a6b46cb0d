/**
 * When somebody should look. Listens to what happens and to how many credentials of a policy are usable; raises an alert
 * once, and clears it once it is over. Who is told, and how, is decided by whoever subscribes to `alert_raised`.
 */
import type { Clock } from '../core/clock.js';
import type { Random } from '../core/random.js';
import type { AlertRaised, AlertEvent } from '../core/alert-events.js';

/** How the credentials of a policy stand now. */
export interface PolicySupply {
  readonly policy: string;
  readonly usable: number;
  readonly total: number;
  /** Percent below which it is too few; null: as the configuration says. */
  readonly minActive: number | null;
  /** The policy's rate as percent of what the limits of its credentials add up to; null where either has none. */
  readonly ratePercent: number | null;
}

/** Surroundings of the alerts. */
export interface AlertParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: (event: AlertRaised) => void;
  /** Percent of a policy's credentials that must be usable, where the policy names none. */
  readonly minActive: () => number;
}

/** The alerts of one gateway. */
export interface Alerts {
  /** Takes every event. Never throws. Needs no `this`. */
  readonly subscribe: (event: AlertEvent | { readonly type: string }) => void;
  /** How all policies stand; to be told every few seconds. A policy that is left out is gone. */
  look(policies: readonly PolicySupply[]): void;
  /** What is raised now. */
  raised(): readonly AlertRaised[];
}
