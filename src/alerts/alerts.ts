/**
 * When somebody should look. Listens to what happens and to how many credentials of a policy are usable; raises an alert
 * once, and clears it once it is over and has stayed so. Who is told, and how, is decided by whoever hears `alert_raised`.
 */
import type { AlertKind, AlertRaised } from '../core/alert-events.js';
import type { Clock, Timer } from '../core/clock.js';
import type { TurnpikeEvent } from '../core/events.js';
import type { Random } from '../core/random.js';
import type { PolicySupply } from '../credentials/policy-desk.js';

/** Surroundings of the alerts. */
export interface AlertParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: (event: AlertRaised) => void;
  /** Percent of a policy's credentials that must be usable, where the policy names none. */
  readonly minActive: () => number;
}

/** What is told of an alert. */
interface Cause {
  readonly kind: AlertKind;
  readonly subject: string;
  readonly message: string;
  readonly detail?: AlertRaised['detail'];
}

interface Standing {
  readonly raised: AlertRaised;
  /** Runs while all is well again; the alert is cleared when it ends. */
  calm: Timer | null;
}

/** What was raised is cleared when it has been well for so long: a sink that comes and goes is one alert. */
const calmMs = 30_000;
/** Things that have no end are told of once in this time for the same subject. */
const quietMs = 60_000;
/** Percent points above the threshold where a policy has enough again. */
const margin = 5;
/** Percent of what its credentials bear that a policy should not ask of them. */
const mostRatePercent = 60;
const mostRemembered = 1000;

/** The alerts of one gateway. */
export class Alerts {
  private readonly standing = new Map<string, Standing>();
  private readonly told = new Map<string, number>();

  constructor(private readonly parts: AlertParts) {}

  /** What is raised now. */
  raised(): readonly AlertRaised[] {
    return [...this.standing.values()].map(({ raised }) => raised);
  }

  /** Takes every event. Never throws. Needs no `this`. */
  readonly subscribe = (event: TurnpikeEvent): void => {
    switch (event.type) {
      case 'vault_changed':
        this.set(event.state === 'sealed', {
          ...{ kind: 'vault_sealed', subject: '' },
          message: `The vault is sealed: ${event.why ?? 'nobody said why'}.`,
        });
        return;
      case 'key_worn':
        this.set(true, {
          ...{ kind: 'key_worn', subject: `term ${event.term}`, detail: { wraps: event.wraps } },
          message: `Key ${event.term} has wrapped ${event.wraps} keys; run turnpike vault rotate.`,
        });
        return;
      case 'key_changed':
        if (event.state === 'retired') this.clear('key_worn', `term ${event.term}`);
        return;
      case 'token_leaked':
        this.once({
          ...{ kind: 'token_leaked', subject: event.credential },
          message: `A token of ${event.credential} was used from ${event.addresses} addresses and was revoked.`,
          detail: { token: event.token, policy: event.policy, addresses: event.addresses },
        });
        return;
      case 'audit_sink_turned':
        this.set(event.state === 'failing', {
          ...{ kind: 'audit_failing', subject: event.sink },
          message: `The audit can't write to its ${event.sink}: ${event.reason}.`,
        });
        return;
      case 'audit_refused':
        if (event.reason === 'late' || event.reason === 'full') this.auditRefuses();
        return;
      case 'audit_disk_turned':
        this.set(event.state === 'nearly_full', {
          ...{ kind: 'audit_disk', subject: event.disk, detail: { usedPercent: event.usedPercent } },
          message: `The disk of the audit's ${event.disk} is ${event.usedPercent} % full.`,
        });
        return;
      default:
        return;
    }
  };

  /** How all policies stand; to be told every few seconds. A policy that is left out is gone. */
  look(policies: readonly PolicySupply[]): void {
    for (const each of policies) {
      this.lookAtSupply(each);
      this.lookAtRate(each);
    }
    const names = new Set(policies.map(({ policy }) => policy));
    for (const { raised } of this.standing.values()) {
      const isOfPolicy = raised.kind === 'credentials_low' || raised.kind === 'policy_rate';
      if (isOfPolicy && !names.has(raised.subject)) this.clear(raised.kind, raised.subject);
    }
  }

  /** Stops all that runs. */
  close(): void {
    for (const { calm } of this.standing.values()) calm?.cancel();
  }

  private lookAtSupply({ policy, usable, total, minActive }: PolicySupply): void {
    const least = minActive ?? this.parts.minActive();
    const percent = total === 0 ? 100 : (usable / total) * 100;
    const isRaised = this.standing.has(keyOf('credentials_low', policy));
    const enough = isRaised ? Math.min(100, least + margin) : least;
    if (percent < enough) {
      this.raise({
        ...{ kind: 'credentials_low', subject: policy, detail: { usable, total, minActive: least } },
        message: `Of the ${total} credentials of policy ${policy} ${usable} can be used; it should be ${least} %.`,
      });
    } else this.clear('credentials_low', policy);
  }

  private lookAtRate({ policy, ratePercent }: PolicySupply): void {
    if (ratePercent === null || ratePercent <= mostRatePercent) {
      this.clear('policy_rate', policy);
      return;
    }
    const percent = Math.round(ratePercent);
    this.raise({
      ...{ kind: 'policy_rate', subject: policy, detail: { ratePercent: percent } },
      message: `The rate of policy ${policy} is ${percent} % of what its credentials bear; above ${mostRatePercent} % they wear out.`,
    });
  }

  /** No sink takes records: over when none was refused for a while. */
  private auditRefuses(): void {
    const cause = { kind: 'audit_failing', subject: 'all' } as const;
    this.raise({ ...cause, message: 'No sink of the audit takes records; credentials are not given out.' });
    this.calmDown(cause.kind, cause.subject);
  }

  private set(isWrong: boolean, cause: Cause): void {
    if (isWrong) this.raise(cause);
    else this.calmDown(cause.kind, cause.subject);
  }

  private raise(cause: Cause): void {
    const key = keyOf(cause.kind, cause.subject);
    const known = this.standing.get(key);
    if (known === undefined) this.standing.set(key, { raised: this.tell(cause, null), calm: null });
    else {
      known.calm?.cancel();
      known.calm = null;
    }
  }

  private calmDown(kind: AlertKind, subject: string): void {
    const known = this.standing.get(keyOf(kind, subject));
    if (known === undefined || known.calm !== null) return;
    known.calm = this.parts.clock.after(calmMs, () => this.clear(kind, subject));
  }

  private clear(kind: AlertKind, subject: string): void {
    const key = keyOf(kind, subject);
    const known = this.standing.get(key);
    if (known === undefined) return;
    known.calm?.cancel();
    this.standing.delete(key);
    this.tell({ kind, subject, message: `Over: ${known.raised.message}` }, known.raised.id);
  }

  private once(cause: Cause): void {
    const key = keyOf(cause.kind, cause.subject);
    const now = this.parts.clock.nowMs();
    if (now - (this.told.get(key) ?? -Infinity) < quietMs) return;
    if (this.told.size >= mostRemembered) this.told.clear();
    this.told.set(key, now);
    this.tell(cause, null);
  }

  private tell({ kind, subject, message, detail = {} }: Cause, clears: string | null): AlertRaised {
    const { random, clock, emit } = this.parts;
    const alert: AlertRaised = {
      ...{ type: 'alert_raised', id: random.hex(16), kind, state: clears === null ? 'raised' : 'cleared' },
      ...{ subject, atMs: clock.wallMs(), message, clears, detail },
    };
    emit(alert);
    return alert;
  }
}

const keyOf = (kind: AlertKind, subject: string): string => `${kind}\n${subject}`;
