/**
 * What gateways tell each other about a site: that it is down, or that one rule fires on all of it. Such a word travels as
 * one about a ban does, under a name that no exit has, so that it is ordered, repeated and kept in the same way, and a
 * gateway of a version that doesn't know it passes it over.
 */

/** Names under which words about sites travel in the place of an exit's id. */
export const SITE_DOWN = 'site:down';
export const RULE_SUSPENDED = 'site:rule';

/** So long such a word is news to whoever hears it; each gateway finds out by itself when it holds no more. */
export const SITE_WORD_MS = 600_000;

/** What was said about a site. */
export type SiteWord = BadSiteWord | { readonly kind: 'up' } | { readonly kind: 'resumed' };

/** A word that something is wrong there. `ageMs`: how long ago it was said. */
export type BadSiteWord =
  | { readonly kind: 'down'; readonly ageMs: number }
  | { readonly kind: 'suspended'; readonly rule: string; readonly ageMs: number };

/** Reads a word that came as one about a ban; null for one that is about an exit. */
export function readSiteWord(word: {
  readonly exit: string;
  readonly leftMs: number;
  readonly reason: string;
}): SiteWord | null {
  const { exit, leftMs, reason } = word;
  const ageMs = Math.max(0, SITE_WORD_MS - leftMs);
  if (exit === SITE_DOWN) return leftMs > 0 ? { kind: 'down', ageMs } : { kind: 'up' };
  if (exit !== RULE_SUSPENDED) return null;
  return leftMs > 0 ? { kind: 'suspended', rule: reason, ageMs } : { kind: 'resumed' };
}
