/** What happens to the audit, and what somebody should look at; part of the union in `events.ts`. */

/** A token was used from more places than its policy allows, and was revoked. */
export interface TokenLeaked {
  readonly type: 'token_leaked';
  /** A short form of its keyed hash. */
  readonly token: string;
  readonly credential: string;
  readonly policy: string;
  readonly addresses: number;
}

/** A sink of the audit stopped taking records, or takes them again. */
export interface AuditSinkTurned {
  readonly type: 'audit_sink_turned';
  readonly sink: AuditSinkName;
  readonly state: 'failing' | 'working';
  /** A code or a short sentence; empty where it works. */
  readonly reason: string;
}

/** Where records of the audit go. */
export type AuditSinkName = 'database' | 'file';

/** No sink took a record in time, so what needed it was refused. */
export interface AuditRefused {
  readonly type: 'audit_refused';
  readonly action: string;
  readonly reason: 'full' | 'late' | 'sealed' | 'closed';
}

/** A head of this process's chain, for whoever keeps the log apart from the audit. */
export interface AuditAnchored {
  readonly type: 'audit_anchored';
  readonly chain: string;
  readonly n: number;
  readonly hash: string;
}

/** A disk that the audit is on is nearly full, or has room again. */
export interface AuditDiskTurned {
  readonly type: 'audit_disk_turned';
  readonly disk: AuditSinkName;
  readonly state: 'nearly_full' | 'roomy';
  readonly usedPercent: number;
}

/** Every kind of alert: a closed set, since it is a label of metrics. */
export const alertKinds = [
  'credentials_low',
  'token_leaked',
  'audit_failing',
  'audit_disk',
  'vault_sealed',
  'key_worn',
  'policy_rate',
] as const;
export type AlertKind = (typeof alertKinds)[number];

/** Somebody should look: log, metric and webhooks are told. */
export interface AlertRaised {
  readonly type: 'alert_raised';
  /** Unique; a webhook sees it with each delivery of the same alert. */
  readonly id: string;
  readonly kind: AlertKind;
  /** `cleared`: what was raised before is over. */
  readonly state: 'raised' | 'cleared';
  /** What it is about: a policy, a sink, a key; empty for the whole gateway. */
  readonly subject: string;
  readonly atMs: number;
  /** Id of the alert that is over; null where one is raised. */
  readonly clears: string | null;
  /** One sentence for people. Never a secret. */
  readonly message: string;
  readonly detail: Readonly<Record<string, string | number | boolean | null>>;
}

/** A try to tell a webhook of an alert is over. */
export interface WebhookTried {
  readonly type: 'webhook_tried';
  /** Its name in the configuration, never its URL. */
  readonly webhook: string;
  readonly alert: string;
  /** `failed`: the last try; `dropped`: too many were waiting. */
  readonly outcome: 'delivered' | 'retried' | 'failed' | 'dropped';
  readonly reason: string;
}

export type AlertEvent =
  TokenLeaked | AuditSinkTurned | AuditRefused | AuditAnchored | AuditDiskTurned | AlertRaised | WebhookTried;
