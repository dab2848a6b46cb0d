/**
 * Whether a site itself is down, or one rule fires on all of it: then no exit is to blame. What tries showed comes in
 * with its time, what follows from it goes out; who lifts the bans and tells the clients is not its business.
 *
 *            5 exits fail, and 80 % of the tries          one good answer
 *   watched ────────────────────────────────────▶ down ────────────────────▶ watched
 *      │                                                                        ▲
 *      └──── the same by one rule, and nothing good ───▶ suspended ─────────────┘
 *            within the window                           enough good answers, or its time is over
 */
import { dropEldest } from '../core/eldest.js';

/** `guard` in the configuration; times in milliseconds. */
export interface GuardRules {
  readonly isOn: boolean;
  /** So many exits must have failed at the site within the window. */
  readonly exits: number;
  /** Share of the last tries that must have failed. */
  readonly share: number;
  readonly windowMs: number;
  /** From the end of one canary to the next, while a site is down. */
  readonly canaryMs: number;
  /** Longest suspension of a rule. */
  readonly suspendMs: number;
}

/** What a try through an exit showed about the site. A rule that fired is a failure with a name. */
export type Sighting = { readonly kind: 'good' } | { readonly kind: 'bad'; readonly rule: string | null };

/** What the sighting changed. */
export type GuardChange =
  | { readonly kind: 'none' }
  /** Bans since `sinceMs` are to be taken back. `exits`: how many failed. */
  | { readonly kind: 'site_down'; readonly sinceMs: number; readonly exits: number }
  | { readonly kind: 'site_up' }
  | {
      readonly kind: 'rule_suspended';
      readonly rule: string;
      readonly sinceMs: number;
      readonly exits: number;
    }
  | { readonly kind: 'rule_resumed'; readonly rule: string };

/** Whether a request may go to a site. */
export type Admission =
  | { readonly kind: 'open' }
  /** It is the one that tries whether the site is back; its end has to be told by `canaryEnded`. */
  | { readonly kind: 'canary' }
  | { readonly kind: 'closed'; readonly retryAfterMs: number };

/** A site that is not simply watched. */
export interface GuardedSite {
  readonly site: string;
  readonly state: 'down' | 'suspended';
  readonly rule: string | null;
  readonly sinceMs: number;
  /** Exits that had failed when it began. */
  readonly exits: number;
}

type State =
  | { readonly kind: 'watched' }
  | { readonly kind: 'down'; readonly sinceMs: number; readonly exits: number; nextCanaryMs: number }
  | { readonly kind: 'suspended'; readonly sinceMs: number; readonly exits: number; readonly rule: string };

interface Failure {
  readonly atMs: number;
  readonly rule: string | null;
}

interface Watch {
  state: State;
  lastGoodMs: number;
  /** The last tries, newest in the lowest bit; 1 is a failure. */
  tries: number;
  count: number;
  /** Exits whose last try here failed, the longest ago first. */
  readonly failed: Map<number, Failure>;
}

/** How many of the last tries the share is taken of. */
export const RECENT_TRIES = 20;
/** A canary that says nothing for this long makes room for another. */
export const CANARY_LAPSE_MS = 60_000;
/** So many exits that fail at a site say that others would too. */
const SEVERAL = 2;
const MOST_SITES = 10_000;
const MOST_EXITS = 64;

const NONE: GuardChange = { kind: 'none' };
const OPEN: Admission = { kind: 'open' };
const CANARY: Admission = { kind: 'canary' };
const WATCHED: State = { kind: 'watched' };

/** Watches all sites; one for the process. Bounded: the site known for the longest goes first. */
export class SiteGuard {
  readonly #watches = new Map<string, Watch>();
  readonly #guarded = new Set<string>();

  constructor(private rules: GuardRules) {}

  /** Takes over the settings of a new configuration; switched off, it forgets everything. */
  configure(rules: GuardRules): void {
    this.rules = rules;
    if (rules.isOn) return;
    this.#watches.clear();
    this.#guarded.clear();
  }

  /** Whether a request may go there now. While a site is down, one at a time may. */
  admit(site: string, nowMs: number): Admission {
    const state = this.#stateOf(site);
    if (state.kind !== 'down') return OPEN;
    if (nowMs < state.nextCanaryMs) return { kind: 'closed', retryAfterMs: this.#waitMs(state, nowMs) };
    state.nextCanaryMs = nowMs + CANARY_LAPSE_MS;
    return CANARY;
  }

  /** The request that was let through as a canary is over. */
  canaryEnded(site: string, nowMs: number): void {
    const state = this.#stateOf(site);
    if (state.kind === 'down') state.nextCanaryMs = nowMs + this.rules.canaryMs;
  }

  /** Whether the site is down, so that nothing is held against exits there. */
  isDown(site: string): boolean {
    return this.#stateOf(site).kind === 'down';
  }

  /** Whether several exits have failed there of late and none was served: then it is no sign against one of them. */
  isFailingAll(site: string, nowMs: number): boolean {
    const watch = this.#watches.get(site);
    if (watch === undefined) return false;
    const sinceMs = nowMs - this.rules.windowMs;
    if (watch.lastGoodMs >= sinceMs) return false;
    let failing = 0;
    for (const { atMs } of watch.failed.values()) if (atMs >= sinceMs) failing++;
    return failing >= SEVERAL;
  }

  /** Whether this rule fires on everything there, so that its word counts for nothing. */
  isSuspended(site: string, rule: string, nowMs: number): boolean {
    const state = this.#stateOf(site);
    return state.kind === 'suspended' && state.rule === rule && nowMs < state.sinceMs + this.rules.suspendMs;
  }

  /** Takes in what a try through an exit showed. */
  saw(site: string, exit: number, sighting: Sighting, nowMs: number): GuardChange {
    if (!this.rules.isOn) return NONE;
    const watch = this.#watchOf(site);
    watch.tries = (watch.tries << 1) | (sighting.kind === 'bad' ? 1 : 0);
    watch.count = Math.min(watch.count + 1, RECENT_TRIES);
    watch.failed.delete(exit);
    if (sighting.kind === 'good') watch.lastGoodMs = nowMs;
    else this.#noteFailure(watch, exit, { atMs: nowMs, rule: sighting.rule });
    switch (watch.state.kind) {
      case 'down':
        return sighting.kind === 'good' ? this.#reset(site, watch, { kind: 'site_up' }) : NONE;
      case 'suspended':
        return this.#easeSuspension(site, watch, watch.state, nowMs);
      case 'watched':
        return sighting.kind === 'bad' ? this.#judge(site, watch, nowMs) : NONE;
    }
  }

  /** Sites that are down or have a rule suspended. */
  guarded(): GuardedSite[] {
    return [...this.#guarded].flatMap((site) => {
      const state = this.#stateOf(site);
      if (state.kind === 'watched') return [];
      const rule = state.kind === 'suspended' ? state.rule : null;
      return [{ site, state: state.kind, rule, sinceMs: state.sinceMs, exits: state.exits }];
    });
  }

  #stateOf(site: string): State {
    // Asked for every request; nearly always nothing is guarded.
    return this.#guarded.size === 0 ? WATCHED : (this.#watches.get(site)?.state ?? WATCHED);
  }

  #waitMs(state: State & { kind: 'down' }, nowMs: number): number {
    return Math.min(state.nextCanaryMs - nowMs, this.rules.canaryMs);
  }

  #judge(site: string, watch: Watch, nowMs: number): GuardChange {
    const { exits, share, windowMs } = this.rules;
    const sinceMs = nowMs - windowMs;
    for (const [exit, { atMs }] of watch.failed) {
      if (atMs >= sinceMs) break;
      watch.failed.delete(exit);
    }
    if (watch.failed.size < exits) return NONE;
    const hasGood = watch.lastGoodMs >= sinceMs;
    if (hasGood && (watch.count < RECENT_TRIES || shareOf(watch) < share)) return NONE;
    const size = watch.failed.size;
    const rule = ruleBehind(watch.failed.values(), size * share);
    if (rule === undefined) {
      watch.state = { kind: 'down', sinceMs: nowMs, exits: size, nextCanaryMs: nowMs + this.rules.canaryMs };
      this.#guarded.add(site);
      return { kind: 'site_down', sinceMs, exits: size };
    }
    // A site that blocks one exit after the other gives good pages in between; then the rule is right.
    if (hasGood) return NONE;
    watch.state = { kind: 'suspended', sinceMs: nowMs, exits: size, rule };
    this.#guarded.add(site);
    return { kind: 'rule_suspended', rule, sinceMs, exits: size };
  }

  #easeSuspension(
    site: string,
    watch: Watch,
    state: State & { kind: 'suspended' },
    nowMs: number,
  ): GuardChange {
    const isOver = nowMs >= state.sinceMs + this.rules.suspendMs;
    const isEased = watch.lastGoodMs >= state.sinceMs && shareOf(watch) < this.rules.share;
    return isOver || isEased ? this.#reset(site, watch, { kind: 'rule_resumed', rule: state.rule }) : NONE;
  }

  #reset(site: string, watch: Watch, change: GuardChange): GuardChange {
    watch.state = WATCHED;
    watch.tries = 0;
    watch.count = 0;
    watch.failed.clear();
    this.#guarded.delete(site);
    return change;
  }

  #noteFailure(watch: Watch, exit: number, failure: Failure): void {
    watch.failed.set(exit, failure);
    if (watch.failed.size <= MOST_EXITS) return;
    for (const oldest of watch.failed.keys()) {
      watch.failed.delete(oldest);
      return;
    }
  }

  #watchOf(site: string): Watch {
    const known = this.#watches.get(site);
    if (known !== undefined) return known;
    if (this.#watches.size >= MOST_SITES) this.#forgetOldest();
    const watch: Watch = { state: WATCHED, lastGoodMs: -Infinity, tries: 0, count: 0, failed: new Map() };
    this.#watches.set(site, watch);
    return watch;
  }

  #forgetOldest(): void {
    const site = dropEldest(this.#watches);
    if (site !== undefined) this.#guarded.delete(site);
  }
}

/** Share of failures among the last tries. */
function shareOf({ tries, count }: Watch): number {
  let failures = 0;
  for (let index = 0; index < count; index++) failures += (tries >>> index) & 1;
  return count === 0 ? 0 : failures / count;
}

/** The one rule that at least so many failures come from; undefined where there is none. */
function ruleBehind(failures: Iterable<Failure>, atLeast: number): string | undefined {
  const counts = new Map<string, number>();
  for (const { rule } of failures) if (rule !== null) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  for (const [rule, count] of counts) if (count >= atLeast) return rule;
  return undefined;
}
