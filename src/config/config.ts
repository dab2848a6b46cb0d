/**
 * The configuration as the rest of the program sees it: plain frozen values, durations in milliseconds, sizes in
 * bytes, files as absolute paths, secrets resolved and unprintable.
 */
import type { AlertKind } from '../core/alert-events.js';
import type { Secret } from '../core/secret.js';
import type { Settings } from './schema.js';
import type { Rate } from '../facts/limit.js';
import type { ControlDefaults } from '../request/controls.js';
import type { RuleSpec } from '../outcome/rule.js';
import type { PoolCost } from '../outcome/spending.js';
import type { Pacing } from '../upstreams/pool.js';
import type { Sharing } from '../upstreams/sharing.js';
import type { UpstreamOptions } from '../upstreams/upstream.js';
import type { Address } from './units.js';

/** One door for crawlers. */
export interface ListenerConfig {
  readonly at: Address;
  /** `host:port` as configured: the listener's name in logs and metrics. */
  readonly label: string;
  /** Client of requests without a login, or null. */
  readonly client: string | null;
  /** Route of all its requests, or null for the first that matches. */
  readonly route: string | null;
  readonly defaults: ControlDefaults;
  /** PEM texts of certificate and key, where clients may speak TLS to the proxy. */
  readonly tls: { readonly cert: string; readonly key: Secret } | null;
  /** Ranges of balancers that send a PROXY protocol header; empty: nobody does. */
  readonly proxyFrom: readonly string[];
}

/** What a client may use at most; null: no limit. */
export interface ClientLimits {
  readonly requests: Rate | null;
  readonly tunnels: number | null;
  readonly connections: number | null;
  readonly exchanges: number | null;
  /** Bytes in a time, both directions together. */
  readonly bytes: Rate | null;
  /** Whether tunnels that stand are cut when the bytes are used up. */
  readonly cutsTunnels: boolean;
}

/** One client. */
export interface ClientConfig {
  readonly name: string;
  /** Null: `allowFrom` decides alone. */
  readonly password: Secret | null;
  /** Ranges such as `10.0.0.0/8`; empty: from everywhere. */
  readonly allowFrom: readonly string[];
  /** Words by which routes match it. */
  readonly tags: readonly string[];
  readonly limits: ClientLimits;
  /** Host names and `*.` patterns that it may go to; empty: everywhere. */
  readonly targets: readonly string[];
  readonly defaults: ControlDefaults;
}

/** What all sources have. */
interface AnySource {
  readonly options: UpstreamOptions;
  /** Key of the login of its upstreams in the vault; not there where they have their own, or none. */
  readonly credential?: string;
}

/** Where upstreams come from: lists in files or from servers, URLs, templates. What may hold a login is a secret. */
export type UpstreamSource = AnySource & UpstreamPlace;

type UpstreamPlace =
  | { readonly kind: 'file'; readonly file: string }
  | { readonly kind: 'url'; readonly url: Secret }
  | {
      readonly kind: 'list';
      readonly url: Secret;
      readonly refreshMs: number;
      readonly allow: readonly string[];
    }
  | { readonly kind: 'template'; readonly template: Secret; readonly exits: number };

/** One pool. */
export interface PoolConfig {
  readonly name: string;
  readonly sources: readonly UpstreamSource[];
  readonly strategy: Settings['pools'][string]['strategy'];
  readonly hashOn: Settings['pools'][string]['hash_on'];
  readonly algorithm: Settings['pools'][string]['algorithm'];
  /** Infinity: no limit. */
  readonly slotsPerExit: number;
  /** Null: exits need no rest and nothing has to be learnt of them. */
  readonly pacing: Pacing | null;
  /** Null: every gateway uses all exits for all sites, whatever becomes of Redis. */
  readonly sharing: Sharing | null;
  readonly cost: PoolCost;
}

/** Where the log goes and what it holds. */
export interface LogConfig {
  readonly level: Settings['log']['level'];
  readonly access: boolean;
  /** Null: standard output. */
  readonly file: string | null;
  readonly redact: Settings['log']['redact'];
}

/** A token for the admin API. */
export interface AdminTokenConfig {
  readonly name: string;
  readonly token: Secret;
  readonly scopes: Settings['admin']['tokens'][number]['scopes'];
}

/** How the admin listener judges who asks. */
export interface AdminConfig {
  /** Empty: one is made on the first start. */
  readonly tokens: readonly AdminTokenConfig[];
  /** From where /metrics is read without a token. */
  readonly metrics: Settings['admin']['metrics'];
  readonly tls: { readonly cert: string; readonly key: Secret } | null;
}

/** Which Redis, and how to log in. */
export interface RedisAt {
  readonly kind: 'single' | 'sentinel' | 'cluster';
  /** The server, the Sentinels, or some nodes of the cluster. */
  readonly nodes: readonly Address[];
  /** What the Sentinels call the primary. */
  readonly primary: string;
  readonly username: string | null;
  readonly password: Secret | null;
  readonly tls: boolean;
  readonly db: number;
}

/** Where sessions and bans live. */
export type StateConfig =
  | { readonly kind: 'memory' }
  | { readonly kind: 'redis'; readonly place: RedisAt; readonly prefix: string; readonly secret: Secret };

/** Where the audit goes besides the database. */
export interface AuditConfig {
  /** Null: nowhere. */
  readonly file: string | null;
}

/** When somebody is told, and who. */
export interface AlertsConfig {
  /** Percent of a policy's credentials that must be usable. */
  readonly minActive: number;
  readonly webhooks: readonly {
    readonly name: string;
    readonly url: Secret;
    readonly secret: Secret;
    /** Null: all kinds. */
    readonly kinds: readonly AlertKind[] | null;
    /** Exceptions to the refusal of special addresses, as written. */
    readonly allow: readonly string[];
  }[];
}
/** Where the records are; `isSet`: the configuration says so, and nobody guessed. */
export type StorageConfig = { readonly isSet: boolean; readonly callMs: number } & (
  | { readonly kind: 'sqlite'; readonly path: string }
  | (PostgresAt & {
      readonly kind: 'postgres';
      /** PEM of the authorities that judge its certificate; null: the system's. */
      readonly ca: string | null;
      readonly connections: number;
    })
);

/** Where a PostgreSQL is, and who we are there. */
export interface PostgresAt {
  /** A name, an address, or the folder of its socket. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly username: string;
  readonly password: Secret | null;
  /** `encrypted`: whoever it is; `authority`: its certificate is judged; `full`: its name, too. */
  readonly tls: 'off' | 'encrypted' | 'authority' | 'full';
}

/** Where the root key of the vault comes from. */
export type VaultConfig =
  | { readonly kind: 'env'; readonly name: string; readonly secret: Secret }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'command'; readonly argv: readonly string[] };

/** Everything. `runtime-values.ts` makes of it what the runtime wants. */
export interface Config {
  /** The file it came from, or null. */
  readonly file: string | null;
  readonly listeners: readonly ListenerConfig[];
  /** Null: nowhere, or on `adminSocket`. */
  readonly admin: Address | null;
  /** Path of the socket that the admin API listens on, or null. */
  readonly adminSocket: string | null;
  readonly adminApi: AdminConfig;
  /** Names by which the admin listener may be called, besides loopback names and its own addresses. */
  readonly adminHosts: readonly string[];
  /** Exceptions to the refusal of special addresses, as written. */
  readonly allowedTargets: readonly string[];
  readonly clients: readonly ClientConfig[];
  readonly pools: readonly PoolConfig[];
  readonly routes: Settings['routes'];
  readonly sessions: Settings['sessions'];
  readonly timeouts: Settings['timeouts'];
  readonly limits: Settings['limits'];
  readonly bans: Settings['bans'];
  readonly guard: Settings['guard'];
  readonly feedback: { readonly key: Secret | null; readonly hold: number; readonly clients: number };
  readonly tunnels: Settings['tunnels'];
  readonly retry: Settings['retry'];
  /** Own rules, then the shipped ones that are on. */
  readonly rules: readonly RuleSpec[];
  readonly detection: Settings['detection'];
  /** `dir` null: nothing is stored. */
  readonly capture: Omit<Settings['capture'], 'dir'> & { readonly dir: string | null };
  readonly log: LogConfig;
  readonly state: StateConfig;
  readonly cluster: Settings['cluster'];
  readonly storage: StorageConfig;
  readonly audit: AuditConfig;
  readonly alerts: AlertsConfig;
  /** Null: there is no vault. */
  readonly vault: VaultConfig | null;
  readonly dataDir: string;
}
