/**
 * Everything that stands on the vault, put together: the desks of credentials, policies and tokens, alerts and webhooks,
 * what the API calls and what status and metrics show. Where there is no vault it is all there and does nothing.
 */
import { Alerts } from '../alerts/alerts.js';
import { openDesks, type Desks } from '../credentials/desks.js';
import { TokenOverview } from '../credentials/token-overview.js';
import { createWebhooks, type Webhook } from '../alerts/webhooks.js';
import type { VaultServices, VaultStatus } from '../admin/vault-services.js';
import type { Config } from '../config/config.js';
import type { Clock, Timer } from '../core/clock.js';
import type { Emit } from '../core/events.js';
import type { Random } from '../core/random.js';
import { parseAllowEntry, type OwnAddresses } from '../protocol/target.js';
import type { Limits } from '../state/ports.js';
import type { Subscriber } from '../telemetry/hub.js';
import type { Gauges, VaultReadings } from '../telemetry/metrics.js';
import type { Vault } from '../vault/vault.js';
import type { KeptLogins } from './kept-logins.js';
import { idsOf, type OpenedVault, type Stores } from './stores.js';

/** How often is looked whether policies have enough credentials. */
const LOOK_MS = 2000;

/** A second in all: records that take longer to be read are for later, and what asks for them is told so. */
const FIRST_LOOKS = 50;
const FIRST_LOOK_MS = 20;

/** Surroundings of the alerts. */
export interface WatchParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: Emit;
  readonly own: OwnAddresses;
}

/** Alerts, and who is told of them. */
export interface Watch {
  readonly alerts: Alerts;
  readonly subscriber: Subscriber;
  /** Webhooks and thresholds of another configuration. */
  use(config: Config): void;
  close(): void;
}

/** Begins to watch; before the vault is opened, so that one that is sealed from the start is told of. */
export function watchFor(config: Config, { clock, random, emit, own }: WatchParts): Watch {
  let inForce = config.alerts;
  let webhooksInForce = webhooksOf(config);
  const chance = idsOf(random);
  const alerts = new Alerts({ clock, random: chance, emit, minActive: () => inForce.minActive });
  const webhooks = createWebhooks({ clock, random: chance, emit, own, webhooks: () => webhooksInForce });
  return {
    alerts,
    subscriber: (event) => {
      alerts.subscribe(event);
      if (event.type === 'alert_raised') webhooks.tell(event);
    },
    use: (next) => {
      inForce = next.alerts;
      webhooksInForce = webhooksOf(next);
    },
    close: () => webhooks.close(),
  };
}

function webhooksOf({ alerts }: Config): Webhook[] {
  return alerts.webhooks.map(({ allow, ...webhook }) => ({
    ...webhook,
    policy: { allow: allow.map(parseAllowEntry).filter((entry) => entry !== null) },
  }));
}

/** What it is made of. */
export interface VaultDeskParts {
  readonly stores: Stores | null;
  readonly kept: Pick<KeptLogins, 'feed' | 'stored'> | null;
  readonly watch: Watch;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: Emit;
}

/** The parts. */
export interface VaultParts {
  /** Null where there is no vault. */
  readonly services: VaultServices | null;
  readonly gauges: Pick<Gauges, 'vault' | 'audit' | 'credentials' | 'loginChecks'>;
  status(): VaultStatus;
  /** Begins to read what there is; resolves once it is read, or soon where that takes longer. */
  start(): Promise<void>;
  /** Takes another configuration over, and tries its key where the vault is sealed. */
  use(config: Config): void;
  /** Opens the file of the audit anew, for whoever moved it away. */
  reopen(): void;
  /** Stops, and writes what waits. */
  close(): Promise<void>;
}

/** Makes them; nothing is read before `start`. */
export function makeVaultParts(parts: VaultDeskParts): VaultParts {
  const { stores, watch, clock } = parts;
  const opened = stores?.opened ?? null;
  const desks = stores === null || opened === null ? null : desksOf(stores, opened, parts);
  let looking: Timer | null = null;
  const look = (): void => {
    if (desks?.isReady === true) watch.alerts.look(desks.policies.supplies());
    looking = clock.after(LOOK_MS, look);
  };
  if (opened !== null) followKeys(opened.vault, parts.kept);
  return {
    services: stores === null || opened === null || desks === null ? null : servicesOf(stores, opened, desks),
    gauges: {
      vault: () => (opened === null ? null : readingsOf(opened.vault)),
      audit: () => opened?.audit.figures() ?? null,
      loginChecks: () => parts.kept?.stored.outcomes() ?? null,
      credentials: () =>
        desks?.isReady === true ? { counts: desks.counts(), policies: desks.policies.supplies() } : null,
    },
    status: () => ({
      vault: opened?.vault.state.kind ?? 'off',
      storage: stores === null ? 'off' : parts.kept?.feed.trouble === null ? 'up' : 'away',
    }),
    start: async () => {
      if (desks === null) return;
      desks.start();
      look();
      for (let looks = 0; !desks.isReady && looks < FIRST_LOOKS; looks++) await pause(clock, FIRST_LOOK_MS);
    },
    use: (config) => {
      watch.use(config);
      if (opened === null || config.vault === null) return;
      opened.useKeyFrom(config.vault);
      if (opened.vault.state.kind === 'sealed') void opened.vault.unseal();
    },
    reopen: () => opened?.audit.reopen(),
    close: async () => {
      looking?.cancel();
      watch.close();
      await desks?.stop();
      await stores?.close();
    },
  };
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve));
}

function desksOf(stores: Stores, { vault, audit }: OpenedVault, parts: VaultDeskParts): Desks {
  const { limits, clock, random, emit } = parts;
  return openDesks({ db: stores.database, vault, audit, limits, clock, random: idsOf(random), emit });
}

/** Keys that another gateway made are taken up at once, and not only with the next beat. */
function followKeys(vault: Vault, kept: VaultDeskParts['kept']): void {
  kept?.feed.listen({ kind: 'key', readAll: () => vault.refresh(), changed: () => vault.refresh() });
}

function servicesOf({ database }: Stores, { vault, audit }: OpenedVault, desks: Desks): VaultServices {
  const { credentials, policies, tokens } = desks;
  return {
    ...{ vault, credentials, policies, tokens },
    overview: new TokenOverview(database.tokens, audit),
    audit: {
      record: (entry) => audit.record(entry),
      search: (query) => database.audit.search(query),
    },
    once: database.once,
  };
}

function readingsOf(vault: Vault): VaultReadings {
  const keys = vault.keys();
  const byState = new Map<string, number>();
  for (const { state } of keys) byState.set(state, (byState.get(state) ?? 0) + 1);
  const { left, broken } = vault.rotation.progress();
  return {
    isOpen: vault.state.kind === 'open',
    keys: byState,
    wraps: keys.find(({ state }) => state === 'primary')?.wraps ?? 0,
    ...{ recordsLeft: left, recordsBroken: broken },
  };
}
