/** Alerts and webhooks put together: what raises them, what is looked at every few seconds, who is told. */
import { Alerts } from '../access/alerts.js';
import type { PolicySupply } from '../access/policy-desk.js';
import { createWebhooks, type Webhook } from '../access/webhooks.js';
import type { AlertsConfig } from '../config/config.js';
import type { Clock, Timer } from '../core/clock.js';
import type { Emit, TurnpikeEvent } from '../core/events.js';
import type { Random } from '../core/random.js';
import { parseAllowEntry, type OwnAddresses } from '../protocol/target.js';

const lookMs = 5000;

/** Surroundings of the alarm. */
export interface AlarmParts {
  readonly own: OwnAddresses;
  readonly clock: Clock;
  readonly random: Random;
  /** To everybody who listens to events; the alarm listens too. */
  readonly emit: Emit;
}

/** The alarm of one gateway. */
export interface Alarm {
  /** Takes every event. Needs no `this`. */
  readonly subscribe: (event: TurnpikeEvent) => void;
  /** Takes over a new configuration. */
  use(settings: AlertsConfig): void;
  /** Looks at the policies from now on, every few seconds. @param supplies null while they are not known */
  watch(supplies: () => readonly PolicySupply[] | null): void;
  alerts: Pick<Alerts, 'raised'>;
  stop(): void;
}

function webhooksOf({ webhooks }: AlertsConfig): readonly Webhook[] {
  return webhooks.map(({ allow, ...rest }) => ({
    ...rest,
    policy: { allow: allow.map(parseAllowEntry).filter((each) => each !== null) },
  }));
}

/** Makes it. */
export function createAlarm(settings: AlertsConfig, parts: AlarmParts): Alarm {
  const { own, clock, random, emit } = parts;
  let inForce = settings;
  let hooks = webhooksOf(settings);
  let timer: Timer | null = null;
  const alerts = new Alerts({ clock, random, emit, minActive: () => inForce.minActive });
  const webhooks = createWebhooks({ webhooks: () => hooks, own, clock, random, emit });
  return {
    alerts,
    subscribe: (event) => {
      if (event.type === 'alert_raised') webhooks.tell(event);
      else alerts.subscribe(event);
    },
    use: (next) => {
      inForce = next;
      hooks = webhooksOf(next);
    },
    watch: (supplies) => {
      const look = (): void => {
        const known = supplies();
        if (known !== null) alerts.look(known);
        timer = clock.after(lookMs, look);
      };
      timer?.cancel();
      look();
    },
    stop: () => {
      timer?.cancel();
      alerts.close();
      webhooks.close();
    },
  };
}
