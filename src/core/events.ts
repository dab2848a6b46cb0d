/**
 * Everything that happens, as one union. Log and metrics subscribe; who acts only emits.
 * No event holds a secret, a password or a full URL with a query.
 */
import type { AlertEvent } from './alert-events.js';
import type { Blame, ErrorCode } from './errors.js';
import type { TokenEvent } from './token-events.js';
import type { VaultEvent } from './vault-events.js';

/** Where the time of an exchange went, in milliseconds; null where the phase was not reached. */
export interface ExchangeTimes {
  readonly totalMs: number;
  /** From the request's head to the first byte of the answer that was delivered. */
  readonly firstByteMs: number | null;
  /** Dial, TLS and handshake of the last attempt; 0 on a kept connection. */
  readonly openMs: number | null;
}

/** The end of one client request: one access-log line, one count in the metrics. */
export interface ExchangeEnded {
  readonly type: 'exchange_ended';
  readonly requestId: string;
  readonly kind: 'forward' | 'tunnel' | 'upgrade' | 'refused';
  readonly listener: string;
  readonly client: string;
  readonly clientAddress: string;
  readonly method: string;
  /** `host:port`. */
  readonly target: string;
  readonly site: string;
  /** Path without query; empty for tunnels. */
  readonly path: string;
  readonly route: string;
  readonly pool: string | null;
  /** Why this pool; null where the route doesn't escalate. */
  readonly poolWhy: string | null;
  readonly upstream: string | null;
  readonly upstreamLabel: string | null;
  readonly session: string | null;
  readonly generation: number | null;
  /** Status that the client got; 0 when it left before one was sent. */
  readonly status: number;
  readonly code: ErrorCode | null;
  readonly blame: Blame | null;
  readonly verdict: string;
  readonly attempts: number;
  /** Body or tunnel bytes from the client and to it. */
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** How the exchange ended: whole, cut by one side, or refused. */
  readonly end:
    'complete' | 'client_gone' | 'upstream_cut' | 'timeout' | 'cut_by_drain' | 'cut_by_policy' | 'failed';
  readonly times: ExchangeTimes;
}

/** One try through one exit is over. */
export interface AttemptEnded {
  readonly type: 'attempt_ended';
  readonly requestId: string;
  readonly pool: string;
  readonly upstream: string;
  readonly upstreamLabel: string;
  readonly site: string;
  readonly attempt: number;
  readonly verdict: string;
  /** Fault kind or status, for people. */
  readonly reason: string;
  readonly retried: boolean;
}

/** What a ban goes by, kept for whoever asks why. Bounded, secrets taken out. */
export interface BanEvidence {
  /** The request that brought it; null where a person or a client said so. */
  readonly requestId: string | null;
  /** Status of the answer; null where there was none. */
  readonly status: number | null;
  /** Name of the rule that fired; null where status or fault alone decided. */
  readonly rule: string | null;
  /** What decided: a condition of the rule, a status, a kind of fault. */
  readonly field: string;
  /** What was found there; empty where the field says it all. */
  readonly found: string;
  /** SHA-256 of what was looked at of the body, and how it begins; null where it was not looked at. */
  readonly bodyHash: string | null;
  readonly bodyStart: string | null;
}

/** An exit was set aside, for a site or (site null) altogether. */
export interface ExitBanned {
  readonly type: 'exit_banned';
  readonly upstream: string;
  readonly upstreamLabel: string;
  readonly site: string | null;
  readonly reason: string;
  readonly strikes: number;
  readonly forMs: number;
  readonly evidence?: BanEvidence | null;
}

/** The login of an exit was set aside for a site, and with it all exits that share it. */
export interface CredentialBanned {
  readonly type: 'credential_banned';
  /** Its id; never the login itself. */
  readonly credential: string;
  /** The exit that it was seen through; null where a person said so. */
  readonly upstream: string | null;
  readonly upstreamLabel: string | null;
  readonly site: string;
  readonly reason: string;
  readonly strikes: number;
  readonly forMs: number;
  readonly evidence: BanEvidence | null;
}

/** An exit would have been set aside, but too much of its pool is already, or it is the last one and the sign is weak. */
export interface BanSpared {
  readonly type: 'ban_spared';
  /** Set where it was about the login of the exit. */
  readonly credential?: string;
  readonly upstream: string;
  readonly upstreamLabel: string;
  readonly site: string | null;
  readonly reason: string;
  readonly pool: string;
}

/** The site guard opened or closed: a site is down or up again, or one rule fires on all of it and is suspended. */
export interface SiteGuarded {
  readonly type: 'site_guarded';
  readonly site: string;
  readonly change: 'site_down' | 'site_up' | 'rule_suspended' | 'rule_resumed';
  /** The rule that is suspended or resumed. */
  readonly rule: string | null;
  /** Exits that failed there within the window. */
  readonly exits: number;
  /** Bans that were taken back. */
  readonly lifted: number;
  /** Another gateway said so. */
  readonly isHeard: boolean;
}

/** A client judged an earlier answer itself. */
export interface FeedbackGiven {
  readonly type: 'feedback_given';
  readonly client: string;
  /** The request that it is about. */
  readonly requestId: string;
  readonly upstream: string;
  readonly site: string;
  readonly verdict: 'blocked' | 'ok';
  /** Noted for this client, agreed by several, withdrawn, or one too many of this client. */
  readonly outcome: 'noted' | 'agreed' | 'withdrawn' | 'too_many';
}

/** An answer or a fault met a rule. */
export interface RuleMatched {
  readonly type: 'rule_matched';
  readonly requestId: string;
  readonly upstream: string;
  readonly site: string;
  /** Name of the rule, from the configuration or of a shipped one. */
  readonly rule: string;
  /** The rule is only counted. */
  readonly shadow: boolean;
  /** The condition that decided, and what was found there. */
  readonly field: string;
  readonly found: string;
}

/** Rules wanted to see a body that could not be looked at, and judged without. */
export interface BodyNotInspected {
  readonly type: 'body_not_inspected';
  readonly requestId: string;
  readonly upstream: string;
  readonly site: string;
  readonly reason: 'coding_unknown' | 'coding_nested' | 'coding_broken' | 'swells' | 'too_busy' | 'too_slow';
}

/** A site goes to another pool of its route from now on. */
export interface PoolChanged {
  readonly type: 'pool_changed';
  readonly route: string;
  readonly site: string;
  readonly from: string;
  readonly to: string;
  readonly why: string;
}

/** A session got an exit, or another one. */
export interface SessionPinned {
  readonly type: 'session_pinned';
  readonly client: string;
  readonly session: string;
  readonly upstream: string;
  readonly generation: number;
  readonly reason: 'first' | 'exit_failed' | 'exit_banned' | 'exit_gone' | 'expired';
}

/** Connections of clients: `opened` = `closed` + open at all times. */
export interface ClientConnection {
  readonly type: 'client_connected' | 'client_disconnected';
  readonly listener: string;
}

/** A connection that never became a request: TLS on a plain port, garbage, nothing at all. */
export interface ConnectionRefused {
  readonly type: 'connection_refused';
  readonly listener: string;
  readonly clientAddress: string;
  readonly reason:
    'tls_hello' | 'tls_failed' | 'proxy_header' | 'socks_handshake' | 'over_limit' | 'own_fault';
  readonly detail: string;
}

/** An upstream connection was made, reused or closed. */
export interface UpstreamConnection {
  readonly type: 'upstream_connection';
  readonly what: 'opened' | 'reused' | 'stale' | 'closed';
}

/** A new configuration came: it is in force, or the old one was kept. */
export interface ConfigReloaded {
  readonly type: 'config_reloaded';
  readonly outcome: 'applied' | 'kept';
  readonly cause: 'signal' | 'file' | 'api';
  /** Why it was kept, each with its path; never a value of the file. */
  readonly problems: readonly string[];
  /** Names of settings that were changed and take effect with the next start only. */
  readonly needsRestart: readonly string[];
}

/** Something about the gateway itself: start, ready, drain, lists, faults. */
export interface GatewayNote {
  readonly type: 'note';
  readonly level: 'info' | 'warn' | 'error';
  readonly what: string;
  readonly detail: Readonly<Record<string, string | number | boolean | null>>;
}

/** The exits of a pool were read anew: the new ones are in use, or the old ones are kept because something was wrong. */
export interface PoolLoaded {
  readonly type: 'pool_loaded';
  readonly pool: string;
  readonly outcome: 'swapped' | 'kept';
  readonly exits: number;
  /** Why: what changed, or what was wrong. For people; never holds a line of a list. */
  readonly reason: string;
}

/** A list of upstreams was asked for by its URL. */
export interface ListFetched {
  readonly type: 'list_fetched';
  readonly pool: string;
  readonly outcome: 'fresh' | 'unchanged' | 'failed';
  /** For people; holds the host at most, never the URL. */
  readonly reason: string;
}

export type TurnpikeEvent =
  | ExchangeEnded
  | AttemptEnded
  | ExitBanned
  | CredentialBanned
  | BanSpared
  | SiteGuarded
  | FeedbackGiven
  | RuleMatched
  | BodyNotInspected
  | PoolChanged
  | SessionPinned
  | ClientConnection
  | ConnectionRefused
  | UpstreamConnection
  | ConfigReloaded
  | PoolLoaded
  | ListFetched
  | VaultEvent
  | TokenEvent
  | AlertEvent
  | GatewayNote;

/** Tells everybody who listens. Never throws. */
export type Emit = (event: TurnpikeEvent) => void;
