/**
 * Which pool of a route serves a site: the cheapest one whose share of blocks is acceptable there. The pools of the route
 * are its tiers, in their order. Pure but for its memory: time and chance come in, a decision with its reason goes out.
 *
 *   share of blocks above `blockRate`, from `least` tries on ──▶ up one tier
 *   on a higher tier, every so many requests still go one tier down: the canary
 *   canaries are blocked in less than half of `blockRate`, from `canaryLeast` tries on ──▶ down one tier
 *
 * Tiers whose budget is spent are passed over: then the best affordable one below serves, blocked or not.
 */

/** When a route goes to a dearer pool, and back. */
export interface EscalationRules {
  /** Largest acceptable share of blocks. */
  readonly blockRate: number;
  /** What was seen counts half after this time. */
  readonly windowMs: number;
  /** So many tries before a tier is judged. */
  readonly least: number;
  /** Share of requests that try the tier below, while a higher one serves. */
  readonly canary: number;
}

/** A pool as a tier. */
export interface Tier {
  readonly name: string;
  /** Whether its budget and the ceiling of the exchange bear one more request. */
  readonly isAffordable: boolean;
}

/** Which tier serves, and why. */
export interface TierChoice {
  /** Position in the route's pools; -1 where none is affordable. */
  readonly tier: number;
  readonly why: string;
  /** Set when the tier of the site has changed with this request. */
  readonly moved?: { readonly from: string; readonly to: string };
}

interface Seen {
  tries: number;
  blocks: number;
  atMs: number;
}

/** Canaries that must have been tried before the way down. */
const CANARY_LEAST = 4;
/** Of a tier below only the last few tries matter, so that a site that has calmed down is not held to its past. */
const CANARIES_KEPT = 5;
/** Down only when it is clearly better than what led up. */
const BACK_SHARE = 0.5;

/** The tiers of one route for one site. */
export class Escalation {
  #tier = 0;
  #why = 'the first pool of the route';
  #canaries = 0;
  readonly #seen: Seen[] = [];

  /** Where the site stands, whoever can pay for it. */
  get tier(): number {
    return this.#tier;
  }

  /** Why it stands there. */
  get why(): string {
    return this.#why;
  }

  /** The tier for one more try. `mayProbe`: whether it may be a canary, which a second try is not. */
  choose(
    tiers: readonly Tier[],
    rules: EscalationRules,
    now: { readonly nowMs: number; readonly mayProbe: boolean },
  ): TierChoice {
    const { nowMs, mayProbe } = now;
    const before = Math.min(this.#tier, tiers.length - 1);
    this.#tier = this.#judged(before, { tiers, rules, nowMs });
    const moved =
      this.#tier === before ? {} : { moved: { from: nameAt(tiers, before), to: nameAt(tiers, this.#tier) } };
    const tier = affordableFrom(tiers, this.#tier);
    if (tier < 0)
      return { tier, why: `no budget left for ${tiers.map(({ name }) => name).join(', ')}`, ...moved };
    if (tier !== this.#tier)
      return {
        tier,
        why: `no budget left for ${nameAt(tiers, this.#tier)}, which would serve (${this.#why})`,
        ...moved,
      };
    if (
      tier > 0 &&
      mayProbe &&
      moved.moved === undefined &&
      this.#isCanary(rules) &&
      tiers[tier - 1]?.isAffordable === true
    )
      return { tier: tier - 1, why: `canary: does ${nameAt(tiers, tier - 1)} work again?` };
    return { tier, why: this.#why, ...moved };
  }

  /** What came of a try through a tier. */
  record(
    tier: number,
    isBlocked: boolean,
    at: { readonly nowMs: number; readonly rules: EscalationRules },
  ): void {
    const seen = this.#faded(tier, at.nowMs, at.rules);
    if (tier < this.#tier && seen.tries > CANARIES_KEPT) {
      seen.blocks *= CANARIES_KEPT / seen.tries;
      seen.tries = CANARIES_KEPT;
    }
    seen.tries++;
    if (isBlocked) seen.blocks++;
  }

  /** Share of blocks of a tier, and over how many tries. */
  share(
    tier: number,
    rules: EscalationRules,
    nowMs: number,
  ): { readonly share: number; readonly tries: number } {
    const { tries, blocks } = this.#faded(tier, nowMs, rules);
    return { share: tries === 0 ? 0 : blocks / tries, tries };
  }

  #judged(
    tier: number,
    by: { readonly tiers: readonly Tier[]; readonly rules: EscalationRules; readonly nowMs: number },
  ): number {
    const { tiers, rules, nowMs } = by;
    if (tier > 0) {
      const below = this.share(tier - 1, rules, nowMs);
      if (Math.round(below.tries) >= CANARY_LEAST && below.share <= rules.blockRate * BACK_SHARE)
        return this.#move(tier - 1, `${nameAt(tiers, tier - 1)} works again: ${shown(below)}`);
    }
    const own = this.share(tier, rules, nowMs);
    const isTooMuch = Math.round(own.tries) >= rules.least && own.share > rules.blockRate;
    if (!isTooMuch || tier + 1 >= tiers.length) return tier;
    this.#canaries = 0;
    const why = `${nameAt(tiers, tier)} is blocked: ${shown(own)}`;
    // From here on canaries alone speak for the tier below, and a tier that is new is judged by what comes.
    this.#seen[tier] = { tries: 0, blocks: 0, atMs: nowMs };
    return this.#move(tier + 1, why);
  }

  #move(tier: number, why: string): number {
    this.#why = why;
    return tier;
  }

  /** Evenly spread, so that few requests need no luck to find the way down. */
  #isCanary(rules: EscalationRules): boolean {
    this.#canaries += rules.canary;
    if (this.#canaries < 1) return false;
    this.#canaries -= 1;
    return true;
  }

  #faded(tier: number, nowMs: number, rules: EscalationRules): Seen {
    const seen = (this.#seen[tier] ??= { tries: 0, blocks: 0, atMs: nowMs });
    const share = 0.5 ** (Math.max(0, nowMs - seen.atMs) / rules.windowMs);
    seen.tries *= share;
    seen.blocks *= share;
    seen.atMs = nowMs;
    return seen;
  }
}

/** The tier itself, or the nearest one below that can be paid for; never a dearer one. */
function affordableFrom(tiers: readonly Tier[], tier: number): number {
  for (let at = tier; at >= 0; at--) if (tiers[at]?.isAffordable === true) return at;
  return -1;
}

function nameAt(tiers: readonly Tier[], tier: number): string {
  return tiers[tier]?.name ?? '';
}

function shown(seen: { readonly share: number; readonly tries: number }): string {
  return `${Math.round(seen.share * 100)} % of ${Math.round(seen.tries)} tries blocked`;
}
