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
import type { BadSiteWord, SiteWord } from '../facts/site-word.js';
import {
  newWatch,
  noteTry,
  RECENT_TRIES,
  ruleBehind,
  shareOf,
  WATCHED,
  type SiteState,
  type Watch,
} from './site-watch.js';

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

/** A canary that says nothing for this long makes room for another. */
export const CANARY_LAPSE_MS = 60_000;
/** A site that was good here so lately is not taken for one that is down at another's word. */
const FRESH_MS = 2000;
/** So many exits that fail at a site say that others would too. */
const SEVERAL = 2;
const MOST_SITES = 10_000;

const NONE: GuardChange = { kind: 'none' };
const OPEN: Admission = { kind: 'open' };
const CANARY: Admission = { kind: 'canary' };

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

  /** Another gateway has the canary, or had it a moment ago; one may be asked for again then. */
  canaryElsewhere(site: string, againMs: number): void {
    const state = this.#stateOf(site);
    if (state.kind === 'down') state.nextCanaryMs = againMs;
  }

  /**
   * Another gateway says so. That a site is down, or a rule wrong, is believed unless it was good here of late; then the
   * next failure here confirms it.
   */
  heard(site: string, word: SiteWord, nowMs: number): GuardChange {
    if (!this.rules.isOn) return NONE;
    const { state } = this.#watches.get(site) ?? { state: WATCHED };
    switch (word.kind) {
      case 'up':
      case 'resumed':
        return this.#heardGood(site, state, word.kind);
      case 'down':
      case 'suspended': {
        if (state.kind !== 'watched') return NONE;
        const watch = this.#watchOf(site);
        const believedMs = nowMs - (word.kind === 'down' ? FRESH_MS : this.rules.windowMs);
        if (watch.lastGoodMs < believedMs) return this.#believe(site, watch, word, nowMs);
        watch.told = word.kind === 'down' ? { word, untilMs: nowMs + this.rules.windowMs } : null;
        return NONE;
      }
    }
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
    noteTry(watch, exit, sighting.kind === 'bad' ? { atMs: nowMs, rule: sighting.rule } : null);
    if (sighting.kind === 'good') Object.assign(watch, { lastGoodMs: nowMs, told: null });
    switch (watch.state.kind) {
      case 'down':
        return sighting.kind === 'good' ? this.#reset(site, watch, { kind: 'site_up' }) : NONE;
      case 'suspended':
        return this.#easeSuspension(site, watch, watch.state, nowMs);
      case 'watched':
        if (sighting.kind === 'good') return NONE;
        if (watch.told !== null && nowMs < watch.told.untilMs)
          return this.#believe(site, watch, watch.told.word, nowMs);
        return this.#judge(site, watch, nowMs);
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

  #stateOf(site: string): SiteState {
    // Asked for every request; nearly always nothing is guarded.
    return this.#guarded.size === 0 ? WATCHED : (this.#watches.get(site)?.state ?? WATCHED);
  }

  #waitMs(state: SiteState & { kind: 'down' }, nowMs: number): number {
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

  #heardGood(site: string, state: SiteState, kind: 'up' | 'resumed'): GuardChange {
    const watch = this.#watches.get(site);
    if (watch === undefined) return NONE;
    watch.told = null;
    if (state.kind === 'down' && kind === 'up') return this.#reset(site, watch, { kind: 'site_up' });
    if (state.kind !== 'suspended' || kind !== 'resumed') return NONE;
    return this.#reset(site, watch, { kind: 'rule_resumed', rule: state.rule });
  }

  #believe(site: string, watch: Watch, word: BadSiteWord, nowMs: number): GuardChange {
    const exits = watch.failed.size;
    const { windowMs, canaryMs } = this.rules;
    watch.told = null;
    this.#guarded.add(site);
    const saidMs = nowMs - word.ageMs;
    const sinceMs = saidMs - windowMs;
    if (word.kind === 'down') {
      watch.state = { kind: 'down', sinceMs: saidMs, exits, nextCanaryMs: nowMs + canaryMs };
      return { kind: 'site_down', sinceMs, exits };
    }
    watch.state = { kind: 'suspended', sinceMs: saidMs, exits, rule: word.rule };
    return { kind: 'rule_suspended', rule: word.rule, sinceMs, exits };
  }

  #easeSuspension(
    site: string,
    watch: Watch,
    state: SiteState & { kind: 'suspended' },
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

  #watchOf(site: string): Watch {
    const known = this.#watches.get(site);
    if (known !== undefined) return known;
    if (this.#watches.size >= MOST_SITES) this.#forgetOldest();
    const watch = newWatch();
    this.#watches.set(site, watch);
    return watch;
  }

  #forgetOldest(): void {
    const site = dropEldest(this.#watches);
    if (site !== undefined) this.#guarded.delete(site);
  }
}
