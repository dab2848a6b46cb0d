/**
 * Upstreams that stand in two pools with different passwords. To everything else they are one exit (its identity has no
 * password), so that where one password is refused both pools lose it. Knows nothing of files or routes.
 */
import type { Upstream } from './upstream.js';

/** A pool, or what will be one. */
export interface NamedUpstreams {
  readonly name: string;
  readonly upstreams: ArrayLike<Upstream>;
  readonly indexById: { get(id: string): number | undefined };
}

/** One exit, and two pools that log in at it with different passwords. */
export interface PasswordConflict {
  readonly exit: string;
  /** Its address, without the login. */
  readonly label: string;
  readonly pools: readonly [string, string];
}

/** Finds the first `most` of them. */
export function passwordConflicts(pools: readonly NamedUpstreams[], most: number): PasswordConflict[] {
  const found: PasswordConflict[] = [];
  for (const [at, one] of pools.entries()) {
    for (const other of pools.slice(at + 1)) {
      if (found.length < most) found.push(...between(one, other).slice(0, most - found.length));
    }
  }
  return found;
}

/** Says it to people, and what to do. */
export function conflictText({ label, exit, pools: [one, other] }: PasswordConflict): string {
  return (
    `upstream ${label} (${exit}) has one password in pool ${one} and another in pool ${other}; an upstream is its ` +
    'address and user name, so both are one exit and a refused password sets it aside for both: give it one password'
  );
}

function between(one: NamedUpstreams, other: NamedUpstreams): PasswordConflict[] {
  const [small, large] = one.upstreams.length <= other.upstreams.length ? [one, other] : [other, one];
  const found: PasswordConflict[] = [];
  for (let n = 0; n < small.upstreams.length; n++) {
    const upstream = small.upstreams[n];
    const at = upstream === undefined ? undefined : large.indexById.get(upstream.id);
    if (upstream === undefined || at === undefined) continue;
    if (passwordOf(upstream) === passwordOf(large.upstreams[at])) continue;
    found.push({ exit: upstream.id, label: upstream.label, pools: [one.name, other.name] });
  }
  return found;
}

function passwordOf(upstream: Upstream | undefined): string | null {
  return upstream?.login?.password.reveal() ?? null;
}
