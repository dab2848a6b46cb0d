/** The admin listener with its API and tokens, made of the parts of the gateway. */
import { createAdminServer, type AdminServer, type Readiness } from '../admin/server.js';
import type { ClusterRow } from '../admin/services.js';
import type { VaultServices, VaultStatus } from '../admin/vault-services.js';
import { TokenBook } from '../admin/tokens.js';
import { EventFeed } from '../admin/event-feed.js';
import type { Config } from '../config/config.js';
import { formatAddress } from '../config/units.js';
import type { GatewayNote } from '../core/events.js';
import type { ListenAt } from '../gateway/listener.js';
import type { MissingLogin } from '../exits/source-logins.js';
import type { GatewayServices } from '../gateway/services.js';
import type { Subscriber } from '../telemetry/hub.js';
import type { Gauges, Metrics } from '../telemetry/metrics.js';
import type { Applied } from './reload.js';
import { adminServices } from './admin-services.js';
import { adminTokens } from './admin-tokens.js';
import type { Desks } from './desks.js';
import type { FleetState } from './fleet-state.js';
import type { KeptLogins } from './kept-logins.js';

/** What the listener shows. */
export interface DoorParts {
  readonly services: GatewayServices;
  readonly desks: Desks;
  readonly version: string;
  phase(): Readiness['phase'];
  readonly state: Pick<FleetState, 'kind' | 'strangers'>;
  readonly vault: VaultServices | null;
  /** Null: there is no storage. */
  readonly kept: KeptLogins | null;
  /** Sources of pools that have no exits because their login is not to be had. */
  missingLogins(): readonly MissingLogin[];
  vaultStatus(): VaultStatus;
  exchangesOpen(): number;
  cluster(exit: string | null): ClusterRow;
  /** Takes the configuration anew; null where nobody knows from where. */
  reload(): Promise<Applied | null>;
  proxyDoors(): readonly ListenAt[];
  /** Makes the metrics, with the readings of this listener among them. */
  metrics(readings: Gauges): Metrics;
}

/** The listener, and the file that holds its token where none is configured. */
export interface AdminDoor {
  readonly server: AdminServer;
  readonly tokenFile: string | null;
  /** Who wants to hear of everything that happens. */
  readonly subscribers: readonly Subscriber[];
  /** Lets go of whoever listens, then stops. */
  close(): Promise<void>;
}

/** Makes it; nothing listens yet. */
export function makeAdminDoor(config: Config, parts: DoorParts): AdminDoor {
  const { services, version } = parts;
  const { tokens, file } = adminTokens(config, services.random, services.emit);
  const beganMs = services.clock.nowMs();
  const feed = new EventFeed(services.clock);
  const metrics = parts.metrics({
    adminAnswers: () => server.answers(),
    eventListeners: () => feed.size,
    eventListenersDropped: () => feed.dropped(),
  });
  const server = createAdminServer(
    {
      metrics,
      metricsFor: config.adminApi.metrics,
      onFailure: (route, error) => services.emit(failureNote(route, error)),
      hosts: config.adminHosts,
      readiness: () => ({
        ...{ phase: parts.phase(), state: parts.state.kind() },
        isRefusing: services.shares.refusesAll(services.rules().runtime.pools.values()),
        detail: {
          emptyPools: emptyPools(services),
          ...otherSecrets(parts.state.strangers()),
          ...parts.vaultStatus(),
          ...missing(parts.missingLogins()),
          ...unread(parts.kept),
        },
      }),
      api: {
        tokens: new TokenBook(tokens),
        services: adminServices({
          ...{ services, ...parts.desks, feed, vault: parts.vault, kept: parts.kept },
          reload: () => parts.reload(),
          cluster: (exit) => parts.cluster(exit),
          status: () => ({
            ...{ version, gatewayId: services.gatewayId, phase: parts.phase() },
            ...{ state: parts.state.kind(), ...parts.vaultStatus() },
            uptimeMs: Math.round(services.clock.nowMs() - beganMs),
            proxy: parts.proxyDoors().map(formatAddress),
            exchangesOpen: parts.exchangesOpen(),
            tunnelsOpen: services.relays.size,
          }),
        }),
      },
    },
    { tls: config.adminApi.tls },
  );
  return {
    server,
    tokenFile: file,
    subscribers: [feed.subscribe, (event) => metrics.subscribe(event)],
    close: async () => {
      feed.close();
      await server.close();
    },
  };
}

/** Names of the pools that have no exit at all: every request to them fails until they get one. */
function emptyPools(services: GatewayServices): string[] {
  const pools = [...services.rules().runtime.pools.values()];
  return pools.filter(({ upstreams }) => upstreams.length === 0).map(({ name }) => name);
}

/** Shown only where there is something to mend. */
function otherSecrets(count: number): { readonly otherSecrets?: number } {
  return count === 0 ? {} : { otherSecrets: count };
}

function missing(logins: readonly MissingLogin[]): { readonly missingLogins?: readonly string[] } {
  if (logins.length === 0) return {};
  return { missingLogins: logins.map(({ path, credential, why }) => `${path}: vault:${credential} ${why}`) };
}

function unread(kept: KeptLogins | null): { readonly storedClients?: 'unread' } {
  return kept === null || kept.stored.isRead ? {} : { storedClients: 'unread' };
}

/** What failed inside, for the log: what kind of error it was and where, and nothing that it may have in its hands. */
function failureNote(route: string, error: unknown): GatewayNote {
  const kind = error instanceof Error ? error.name : typeof error;
  const at = error instanceof Error ? (/\n\s+at (.+)/.exec(error.stack ?? '')?.[1] ?? '') : '';
  return { type: 'note', level: 'error', what: 'admin_failed', detail: { route, kind, at } };
}
