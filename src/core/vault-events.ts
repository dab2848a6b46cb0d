/** What happens to the vault and its keys; part of the union in `events.ts`. */

/** The vault opened, or it is sealed and why. */
export interface VaultChanged {
  readonly type: 'vault_changed';
  readonly state: 'open' | 'sealed';
  /** For people; null where it is open. */
  readonly why: string | null;
}

/** A key of the vault was made or moved on, here or by another gateway. */
export interface KeyChanged {
  readonly type: 'key_changed';
  readonly term: number;
  readonly state: 'derive' | 'pending' | 'primary' | 'retired' | 'destroyed';
}

/** A key of the vault has wrapped so much that it should be rotated soon. */
export interface KeyWorn {
  readonly type: 'key_worn';
  readonly term: number;
  readonly wraps: number;
}

export type VaultEvent = VaultChanged | KeyChanged | KeyWorn;
