/** What policies are to each other, and to their credentials: chains of fallbacks, and rates that are too near to what is there. PURE. */
import type { Rate } from '../facts/limit.js';
import type { Policy } from './policy-document.js';

/** A policy and what it falls back to, in turn; ends where one is gone or would come again. */
export function chainOf(name: string, find: (name: string) => Policy | undefined): Policy[] {
  const chain: Policy[] = [];
  for (let next = find(name); next !== undefined && !chain.includes(next);) {
    chain.push(next);
    next = next.fallback === null ? undefined : find(next.fallback);
  }
  return chain;
}

/** Why a policy may not fall back to what it names, or null. */
export function fallbackFault(policy: Policy, find: (name: string) => Policy | undefined): string | null {
  if (policy.fallback === null) return null;
  if (find(policy.fallback) === undefined) return `there is no policy ${policy.fallback}`;
  const names = [policy.name, ...chainOf(policy.fallback, find).map(({ name }) => name)];
  return names.indexOf(policy.name, 1) > 0
    ? `it falls back to itself: ${names.slice(0, names.indexOf(policy.name, 1) + 1).join(' → ')}`
    : null;
}

/** Above this share of what its credentials bear, a policy drives them to their limits all at once. */
export const WISE_SHARE = 60;

/** A policy's rate as percent of what the limits of `usable` credentials add up to; null where either has none. */
export function ratePercent({ rate, perCredential }: Policy, usable: number): number | null {
  if (rate === null || perCredential === null) return null;
  const all = perMs(perCredential) * usable;
  return all === 0 ? null : Math.round((perMs(rate) / all) * 1000) / 10;
}

const perMs = ({ count, perMs: ms }: Rate): number => count / ms;
