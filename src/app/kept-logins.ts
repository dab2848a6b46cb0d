/**
 * Logins that are kept in the database: those by which stored clients come in, and those with which upstreams are asked.
 * Put together before the rules are built, since pools are read with them; closed when nothing is served any more.
 */
import type { Audit } from '../audit/entry.js';
import { ClientDesk } from '../access/client-desk.js';
import { FailureLimit } from '../access/failure-limit.js';
import { StoredClients } from '../access/stored-clients.js';
import { readStoredClient } from '../config/stored-client.js';
import type { Clock } from '../core/clock.js';
import type { Emit } from '../core/events.js';
import { noUpstreamLogins, type UpstreamLogins } from '../exits/upstream-logins.js';
import type { GatewayServices } from '../gateway/services.js';
import { ChangeFeed } from '../storage/change-feed.js';
import type { Database } from '../storage/ports.js';
import type { Vault } from '../vault/vault.js';
import type { Stores } from './stores.js';
import { VaultLogins } from './vault-logins.js';

/** What it is made of. */
export interface KeptParts {
  readonly database: Pick<Database, 'clients' | 'credentials' | 'changes' | 'lastChange'>;
  /** Null: clients are stored all the same, and upstreams have the logins of the configuration. */
  readonly vault: Pick<Vault, 'state' | 'reveal'> | null;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly emit: Emit;
}

/** What rules are built with. */
export interface RulesLogins {
  readonly failures: FailureLimit;
  /** Null: there is no storage. */
  readonly stored: StoredClients | null;
  readonly logins: UpstreamLogins;
}

/** What rules are built with where there is no storage. */
export const withoutStorage = (): RulesLogins => ({
  ...{ failures: new FailureLimit(), stored: null, logins: noUpstreamLogins },
});

/** All of it. */
export interface KeptLogins extends RulesLogins {
  readonly stored: StoredClients;
  readonly desk: ClientDesk;
  readonly feed: ChangeFeed;
  /** Reads what there is and follows it. Storage that is away is tried again; what it holds comes when it is there. */
  start(services: GatewayServices): Promise<void>;
  close(): void;
}

/** Makes it; nothing is read yet but what pools ask for. */
export function keepLogins(parts: KeptParts): KeptLogins {
  const { database, vault, audit, clock, emit } = parts;
  const nowMs = (): number => clock.nowMs();
  const failures = new FailureLimit();
  const stored = new StoredClients({ failures, nowMs });
  let gateway: GatewayServices | null = null;
  const desk = new ClientDesk({
    ...{ records: database.clients, stored, audit, emit, nowMs, read: readStoredClient },
    isConfigured: (name) => gateway?.rules().clients.isConfigured(name) ?? false,
    onRemoved: (names) => cutTunnelsOfClients(gateway, names),
  });
  const onFollowing = (reason: string | null): void => {
    if (reason === null) emit({ type: 'note', level: 'info', what: 'storage_followed', detail: {} });
    else emit({ type: 'note', level: 'warn', what: 'storage_not_followed', detail: { reason } });
  };
  const feed = new ChangeFeed({ database, clock, onFollowing });
  feed.listen(desk);
  const logins =
    vault === null ? null : new VaultLogins({ vault, audit, clock, credentials: database.credentials });
  if (logins !== null) feed.listen(logins);
  return {
    ...{ failures, stored, desk, feed, logins: logins ?? noUpstreamLogins },
    start: async (services) => {
      gateway = services;
      await feed.start();
    },
    close: () => {
      feed.close();
      logins?.close();
    },
  };
}

/** The same in the stores of a configuration, or in what a test has in their place; null where there are none. */
export function keptIn(
  stores: Stores | Pick<KeptParts, 'database' | 'vault' | 'audit'> | null,
  parts: Pick<KeptParts, 'clock' | 'emit'>,
): KeptLogins | null {
  if (stores === null) return null;
  const { database, audit } = stores;
  const vault = 'opened' in stores ? (stores.opened?.vault ?? null) : stores.vault;
  return keepLogins({ ...parts, database, audit, vault });
}

/** As on a reload: what a client that is gone has open ends now; plain requests under way may finish. */
function cutTunnelsOfClients(gateway: GatewayServices | null, names: ReadonlySet<string>): void {
  if (gateway === null) return;
  const { clients } = gateway.rules();
  for (const relay of [...gateway.relays]) {
    if (names.has(relay.owner) && clients.byName(relay.owner) === undefined) relay.cut('cut_by_policy');
  }
}
