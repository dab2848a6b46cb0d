/** Why a token may not be used, from how it and its credential stand: one table, in the order in which reasons are given. */
import type { CredentialStatus, TokenRow, TokenUse, TokenUsed } from './credential-ports.js';

export type RefusedUse = Extract<TokenUsed, { kind: 'refused' }>['why'];

/** What a credential is set to. */
export interface Standing {
  readonly status: CredentialStatus;
  readonly untilMs: number | null;
}

/** Whether a credential may be used: it is active, or its rest is over. */
export function isUsable({ status, untilMs }: Standing, nowMs: number): boolean {
  if (status === 'active') return true;
  return (status === 'cooldown' || status === 'exhausted') && untilMs !== null && untilMs <= nowMs;
}

/** Null where it may be used, from an address that it knows or has room for. @param credential null: it is gone */
export function refusalOf(
  token: TokenRow,
  credential: Standing | null,
  { use, nowMs }: { readonly use: TokenUse; readonly nowMs: number },
): RefusedUse | null {
  if (token.state !== 'live') return token.state;
  if (token.expiresMs <= nowMs) return 'expired';
  if (credential === null || !isUsable(credential, nowMs)) return 'credential';
  if (token.maxUses !== null && token.uses >= token.maxUses) return 'used_up';
  const isKnown = token.addresses.includes(use.address);
  return isKnown || token.addresses.length < use.maxAddresses ? null : 'leaked';
}
