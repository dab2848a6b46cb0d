/** What the routes need of the gateway, as interfaces: `app.ts` makes them, and nothing here knows the data plane. */
import type { ClientDeskPort, ClientSource } from '../access/client-desk.js';
import type { Clock } from '../core/clock.js';
import type { BanDesk } from '../exits/ban-desk.js';
import type { ExitState } from '../exits/count-exits.js';
import type { LearntPace } from '../exits/paces.js';
import type { ExitDesk } from '../exits/exit-desk.js';
import type { LoginRead } from '../exits/upstream-logins.js';
import type { ShareCount } from '../exits/share-counts.js';
import type { SharesPhase } from '../exits/shares.js';
import type { Pins } from '../state/ports.js';
import type { Upstream } from '../upstreams/upstream.js';
import type { EventFeed } from './event-feed.js';
import type { VaultServices, VaultStatus } from './vault-services.js';

/** A pool as people see it. */
export interface PoolRow {
  readonly name: string;
  readonly strategy: string;
  /** Most exchanges at once through one exit; null for any number. */
  readonly slots: number | null;
  readonly exits: Readonly<Record<ExitState, number>>;
}

/** A client as people see it; never its password. */
export interface ClientRow {
  readonly name: string;
  readonly login: 'password' | 'address';
  /** Where it can be changed. */
  readonly source: ClientSource;
  readonly allowFrom: readonly string[];
  readonly targets: readonly string[];
  /** Null: no limit. */
  readonly limits: {
    readonly requests: { readonly count: number; readonly perMs: number } | null;
    readonly tunnels: number | null;
    readonly connections: number | null;
    readonly exchanges: number | null;
    readonly bytes: { readonly count: number; readonly perMs: number } | null;
  };
  /** What it uses now; null where nobody counts because there is no limit. */
  readonly usage: {
    readonly tunnels: number;
    readonly connections: number | null;
    readonly exchanges: number | null;
    readonly bytes: number | null;
  };
}

/** A site that is down, or where a rule is suspended. */
export interface SiteRow {
  readonly site: string;
  readonly state: 'down' | 'suspended';
  readonly rule: string | null;
  readonly sinceMs: number;
  /** Exits that had failed when it began. */
  readonly exits: number;
}

/** A site that a dearer pool than the first of its route serves, and why. */
export interface TierRow {
  readonly route: string;
  readonly site: string;
  readonly pool: string;
  readonly why: string;
}

/** The gateways that share a state. */
export interface ClusterRow {
  readonly gatewayId: string;
  readonly state: 'memory' | 'shared' | 'degraded';
  readonly sharing: SharesPhase;
  readonly members: readonly {
    readonly id: string;
    readonly version: string;
    readonly load: number;
    readonly self: boolean;
  }[];
  readonly pools: readonly ShareCount[];
  readonly leases: Readonly<Record<string, number>>;
  readonly owners: readonly { readonly pool: string; readonly owner: string | null }[];
}

/** What came of feedback. */
export type FeedbackTaken =
  | { readonly kind: 'taken'; readonly exit: string; readonly site: string; readonly outcome: string }
  | { readonly kind: 'refused'; readonly detail: string };

/** Figures of the whole gateway. */
export interface Status extends VaultStatus {
  readonly version: string;
  readonly gatewayId: string;
  readonly phase: 'starting' | 'serving' | 'draining';
  readonly state: 'memory' | 'shared' | 'degraded';
  readonly uptimeMs: number;
  readonly proxy: readonly string[];
  readonly exchangesOpen: number;
  readonly tunnelsOpen: number;
}

/** What came of a new reading of the configuration. */
export type Reloaded =
  | {
      readonly kind: 'applied';
      readonly upstreams: number;
      /** Settings that are others than before, by section. */
      readonly changed: readonly string[];
      /** Settings that differ from those at the start and take effect with the next one. */
      readonly needsRestart: readonly string[];
    }
  /** The old one goes on. Every problem with its path; no values of the file. */
  | { readonly kind: 'kept'; readonly problems: readonly string[] };

/** What becomes of the tunnels of a banned exit. */
export type TunnelsOnBan = 'keep' | 'close_idle' | 'close';

/** Stored answers, and the rules to try on them: as YAML, or null for those in force. */
export interface RuleTest {
  readonly rules: string | null;
  readonly host: string;
  readonly samples: readonly { readonly name: string; readonly bytes: Buffer }[];
}

/** What came of one stored answer. */
export interface RuleTestRow {
  readonly sample: string;
  readonly status: number | null;
  readonly verdict: string;
  readonly rule: string | null;
  readonly actions: readonly string[];
  readonly matches: readonly {
    readonly rule: string;
    readonly shadow: boolean;
    readonly field: string;
    readonly found: string;
  }[];
  readonly trouble: string | null;
}

/** All rows, or what is wrong with the rules. */
export type RuleTestResult =
  | { readonly kind: 'rows'; readonly rows: readonly RuleTestRow[] }
  | { readonly kind: 'problems'; readonly problems: readonly string[] };

/** All that the API shows and does. */
export interface AdminServices {
  readonly clock: Pick<Clock, 'nowMs' | 'wallMs'>;
  readonly exits: Pick<ExitDesk, 'page' | 'row' | 'add' | 'order' | 'drain' | 'remove'>;
  readonly bans: Pick<BanDesk, 'list' | 'ban' | 'lift'>;
  readonly sessions: Pick<Pins, 'list' | 'drop'>;
  readonly feed: Pick<EventFeed, 'listen' | 'size' | 'isFull'>;
  /** Null where no vault is configured. */
  readonly vault: VaultServices | null;
  /** Why an exit at this address may not be added, or null. */
  addressFault(upstream: Upstream): string | null;
  /** Deals with the open tunnels of a banned exit; null: as configured. Returns how many it is about. */
  tunnelsOfBanned(ban: { exit: string; site: string | null }, onBan: TunnelsOnBan | null): number;
  testRules(test: RuleTest): Promise<RuleTestResult>;
  pools(): readonly PoolRow[];
  clients(): readonly ClientRow[];
  /** Null: there is no storage, and no client can be stored. */
  readonly clientDesk: ClientDeskPort | null;
  /** The login of an upstream from the vault. */
  upstreamLogin(key: string): Promise<LoginRead>;
  sites(): readonly SiteRow[];
  /** At most so many, those asked last first. */
  tiers(most: number): readonly TierRow[];
  paces(most: number): readonly LearntPace[];
  /** @param exit whose owners are wanted; null: none's */
  cluster(exit: string | null): ClusterRow;
  /** Name of the client with this login, or null. */
  clientOf(authorization: string, remoteAddress: string): Promise<string | null>;
  /** Takes the word of a client about an earlier answer. */
  feedback(client: string, said: { readonly id: string; readonly verdict: string }): FeedbackTaken;
  status(): Status;
  /** Takes the configuration anew; null where there is none to load. */
  reload(): Promise<Reloaded | null>;
}
