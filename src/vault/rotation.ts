/** Changes the key of keys while everything runs. */

/** How far a rotation is. */
export interface RotationProgress {
  /** `waiting`: for gateways that don't know the new key yet; `rewrapping`: records go to the new key. */
  readonly phase: 'idle' | 'waiting' | 'rewrapping';
  /** Of the key that records go to. */
  readonly term: number;
  /** Gateways that are waited for. */
  readonly waitsFor: readonly string[];
  /** Records that are still under an older key, as last counted. */
  readonly left: number;
  /** How many there were when this gateway began to count. */
  readonly total: number;
  /** Records that don't open, and so stay where they are. */
  readonly broken: number;
}

export type RotationStarted =
  | { readonly kind: 'started' | 'under_way'; readonly term: number }
  /** The root key can't be had or is another than the one that wrapped the keys. */
  | { readonly kind: 'no_root_key'; readonly why: string };

export type KeyDestroyed =
  | { readonly kind: 'destroyed' }
  /** `in_use`: records are under it; `too_soon`: it was retired less than a minute ago. */
  | { readonly kind: 'refused'; readonly why: 'unknown' | 'not_retired' | 'in_use' | 'too_soon' };

export interface Rotation {
  /** Makes a new key; gateways take it up and records go over by themselves. @param how `reencrypt`: records get new keys of their own, too @throws {VaultSealed} @throws {StorageAway} */
  start(how: { readonly reencrypt: boolean }): Promise<RotationStarted>;
  /** As last known here; asks nobody. */
  progress(): RotationProgress;
  /** Destroys a retired key for good. @throws {VaultSealed} @throws {StorageAway} */
  destroy(term: number): Promise<KeyDestroyed>;
}
