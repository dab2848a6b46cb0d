/**
 * Stored clients, as an operator changes them: those of the configuration can only be looked at. Each change is audited
 * before it is made, holds here at once and on the other gateways within a second. Knows no route and no configuration.
 */

/** A client as it is asked for: settings as the configuration writes them, `password` as it is. */
export interface ClientDraft {
  readonly name: string;
  /** Null: known by its address alone. Undefined, where it is replaced: the one before stays. */
  readonly password?: string | null;
  /** `allow_from`, `tags`, `limits`, `targets`, `defaults`. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Who asks. */
export interface AskedBy {
  /** Name of the API token. */
  readonly actor: string;
  readonly address: string | null;
}

/** What came of it. Rejects with StorageAway or AuditUnavailable where nothing was done. */
export type ClientChanged =
  | { readonly kind: 'done'; readonly name: string }
  | { readonly kind: 'unknown' }
  /** The name is taken. `configuration`: only there it can be changed. */
  | { readonly kind: 'taken'; readonly by: 'configuration' | 'storage' }
  /** Each problem with the path of its setting; no values. */
  | { readonly kind: 'invalid'; readonly problems: readonly string[] };

/** Where clients come from. */
export type ClientSource = 'configuration' | 'storage';

/** What the routes of `/clients` call; how a client looks and what it uses, they ask elsewhere. */
export interface ClientDeskPort {
  create(draft: ClientDraft, by: AskedBy): Promise<ClientChanged>;
  replace(draft: ClientDraft, by: AskedBy): Promise<ClientChanged>;
  remove(name: string, by: AskedBy): Promise<ClientChanged>;
  /** Settings of a stored client as they were given; null where there is none of this name. */
  settingsOf(name: string): Readonly<Record<string, unknown>> | null;
}
