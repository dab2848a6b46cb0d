/** A gateway with a vault: a root key, a place for its records, and API tokens for an administrator and a crawler. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminSection, askAdmin, tokens, type AdminAnswer } from './admin.js';
import { startGateway, type GatewayOptions, type TestGateway } from './gateway.js';

/** A gateway with a vault. */
export interface VaultedGateway {
  readonly gateway: TestGateway;
  /** Asks the API as the administrator: `POST /credentials`, with a body. */
  admin(route: string, body?: unknown, headers?: Record<string, string>): Promise<AdminAnswer>;
  /** Asks it as a crawler, whose token has the scope `tokens` only. */
  crawler(route: string, body?: unknown, headers?: Record<string, string>): Promise<AdminAnswer>;
  /** Ends the gateway; its records stay until {@link vaultFolder} is removed. */
  close(): Promise<unknown>;
}

/** Where the records of a test are, and the key to them. */
export interface VaultPlace {
  readonly folder: string;
  readonly key: string;
  /** The section `storage`. */
  readonly storage: Readonly<Record<string, unknown>>;
  close(): Promise<void>;
}

/** A new place in SQLite. @param storage another section, for records that are elsewhere */
export function vaultPlace(storage: Readonly<Record<string, unknown>> | null = null): VaultPlace {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-vault-'));
  return {
    folder,
    key: randomBytes(32).toString('base64'),
    storage: storage ?? { kind: 'sqlite', path: join(folder, 'turnpike.db') },
    close: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Starts a gateway over this place. */
export async function startVaulted(
  place: VaultPlace,
  options: Partial<GatewayOptions> = {},
): Promise<VaultedGateway> {
  const { config = {}, env = {}, upstreams = [] } = options;
  const gateway = await startGateway({
    ...{ ...options, upstreams },
    config: { admin: adminSection, storage: place.storage, ...config },
    env: { TURNPIKE_VAULT_KEY: place.key, ...env },
  });
  const ask =
    (token: string) =>
    (route: string, body?: unknown, headers: Record<string, string> = {}): Promise<AdminAnswer> => {
      const [method = '', path = ''] = route.split(' ');
      return askAdmin(gateway.adminPort, `/api/v1${path}`, { method, token, body, headers });
    };
  return {
    gateway,
    admin: ask(tokens.admin),
    crawler: ask(tokens.tokens),
    close: () => gateway.close(),
  };
}
