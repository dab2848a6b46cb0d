/**
 * What this process knows of its exits now: in flight, first-byte times, transport health, bans per site, cursors.
 * Mutable, survives a reload; pools refer to it by slot numbers. It reads no clock and tells nobody: times come in,
 * and what was decided goes out as an {@link Effect}.
 */
import type { Random } from '../core/random.js';
import {
  CLEAR,
  admitted,
  banMs,
  isAdmitting,
  isAside,
  noBan,
  opensAtMs,
  phaseOf,
  siteTimes,
  struck,
  succeeded,
  transportTimes,
  trialReleased,
} from '../facts/ban.js';
import type { BanRules, BanState, TransportFault } from '../facts/ban.js';
import type { LedgerView, Pool } from '../upstreams/pool.js';
import { Cursors } from '../upstreams/strategies.js';
import type { Upstream } from '../upstreams/upstream.js';
import type { BanAsk, Effect, ExitSnapshot, HeldBan } from './effect.js';
import { EjectionQuota } from './ejection-quota.js';
import { Orders } from './orders.js';
import { SiteBans, noRecord, withSuspect, type SiteRecord } from './site-bans.js';
import { Slots } from './slots.js';
import { bansIn, snapshotAll, snapshotOf, type LedgerParts } from './snapshots.js';
import { isTooMany, sound, withFault, type Health } from './transport-health.js';

const NONE: Effect = { kind: 'none' };
const MAX_SITE_RECORDS = 200_000;

/** The ledger of one process. */
export class Ledger implements LedgerView {
  readonly cursors = new Cursors();
  readonly orders = new Orders();
  readonly #slots = new Slots(
    (slot) => this.#health.has(slot) || this.#sites.has(slot) || !this.orders.isOpenToNew(slot),
  );
  readonly #health = new Map<number, Health>();
  readonly #sites: SiteBans;
  readonly #quota = new EjectionQuota();
  readonly #parts: LedgerParts;
  #rules: BanRules;

  constructor(
    rules: BanRules,
    private readonly random: Random,
  ) {
    this.#rules = rules;
    this.#sites = new SiteBans(
      MAX_SITE_RECORDS,
      () => this.#rules.siteCapMs,
      (slot, site, by) => this.#quota.change(slot, site, by),
    );
    this.#parts = { slots: this.#slots, health: this.#health, sites: this.#sites, orders: this.orders };
  }

  /** The number of this exit, a new one the first time. */
  intern(upstream: Upstream): number {
    return this.#slots.intern(upstream);
  }

  /** From now on numbers are not given to other exits, until the function that it returns is called: a pool is being built. */
  hold(): () => void {
    return this.#slots.hold();
  }

  /** Ids of the exits that have something in flight. */
  busy(): string[] {
    return this.#slots.busy();
  }

  /**
   * Takes over which exits are in which pool, and the rules of a new configuration.
   * Exits that are in no pool for the second time, idle and with nothing against them, are forgotten.
   */
  applyPools(pools: Iterable<Pool>, nowMs: number, rules: BanRules = this.#rules): void {
    this.#rules = rules;
    const list = [...pools];
    this.#sites.sweep(nowMs);
    this.#quota.apply(list, rules.maxEjected);
    for (const { slot, site } of this.bans()) this.#quota.change(slot, site, 1);
    this.#slots.forgetUnused((slot) => this.#quota.isMember(slot));
    this.#slots.marks.fill(0);
    for (const slot of this.#health.keys()) this.#mark(slot);
    for (const [slot] of this.#sites.all()) this.#mark(slot);
    this.cursors.keep(new Set(list.map((pool) => pool.name)));
    this.#slots.rememberUses(list.some((pool) => pool.strategy === 'least_recently_used_per_site'));
  }

  inFlight(slot: number): number {
    return this.#slots.inFlight[slot] ?? 0;
  }

  isOpenToNew(slot: number): boolean {
    return this.orders.isOpenToNew(slot);
  }

  isUsable(slot: number, site: string, nowMs: number): boolean {
    if (this.#slots.marks[slot] === 0) return true;
    const health = this.#health.get(slot);
    if (health !== undefined && !isAdmitting(health.ban, nowMs)) return false;
    const record = this.#sites.get(slot, site);
    return record === undefined || isAdmitting(record.ban, nowMs);
  }

  /** While a trial runs, a second after it began. */
  usableAtMs(slot: number, site: string): number {
    return Math.max(opensAtMs(this.#banOf(slot, null)), opensAtMs(this.#banOf(slot, site)));
  }

  firstByteMs(slot: number): number {
    return this.#slots.speedOf(slot);
  }

  lastUsedMs(slot: number, site: string): number {
    return this.#slots.uses?.lastMs(slot, site) ?? -Infinity;
  }

  /** An exchange begins to use the exit; after the end of a ban, it is the trial. */
  begin(slot: number, site: string, nowMs: number): void {
    this.#slots.began(slot);
    this.#slots.uses?.note(slot, site, nowMs);
    if (this.#slots.marks[slot] !== 0) this.#turnBans(slot, { site, nowMs, turn: admitted });
  }

  /** The exchange is over. A trial of which nothing was recorded may then be tried again. */
  end(slot: number, site: string, nowMs: number): void {
    if (this.#slots.ended(slot) > 0 || this.#slots.marks[slot] === 0) return;
    this.#turnBans(slot, { site, nowMs, turn: trialReleased });
  }

  /** Time to the first byte of an answer through this exit. */
  firstByte(slot: number, ms: number): void {
    this.#slots.smooth(slot, ms);
  }

  /** A good answer: the way is sound and the site likes the exit. */
  recordSuccess(slot: number, site: string, nowMs: number): Effect {
    const way = this.recordReached(slot, nowMs);
    if (this.#slots.marks[slot] === 0) return way;
    const record = this.#sites.get(slot, site);
    if (record === undefined) return way;
    const ban = succeeded(record.ban, this.#rules.siteMs, nowMs);
    if (ban === record.ban && record.suspects === 0) return way;
    this.#setRecord(slot, site, { ...noRecord, ban }, nowMs);
    return hasReturned(record.ban, ban) ? { kind: 'returned', site } : way;
  }

  /** Any answer of a target: the way is sound, whatever the site thinks of the exit. */
  recordReached(slot: number, nowMs: number): Effect {
    this.#slots.succeeded(slot);
    if (this.#slots.marks[slot] === 0) return NONE;
    const health = this.#health.get(slot);
    if (health === undefined) return NONE;
    const ban = succeeded(health.ban, this.#rules.transportMs, nowMs);
    if (ban === health.ban && health.faults === 0) return NONE;
    this.#setHealth(slot, { ...sound, ban });
    return hasReturned(health.ban, ban) ? { kind: 'returned', site: null } : NONE;
  }

  /**
   * A fault on the way. Takes the exit out as `transport-health.ts` says; in a half-open state any fault does.
   * @param site where the request was to go; tells an exit that is silent from a site that is
   */
  recordTransportFailure(
    slot: number,
    fault: TransportFault,
    nowMs: number,
    site: string | null = null,
  ): Effect {
    const context = { fault, site, hasWorked: this.#slots.hasWorked(slot) };
    this.#slots.failed(slot);
    const health = withFault(this.#health.get(slot) ?? sound, context);
    this.#setHealth(slot, health);
    const phase = phaseOf(health.ban, nowMs);
    if (phase === 'out' || (phase === 'clear' && !isTooMany(health, context))) return NONE;
    return this.ban(slot, null, { reason: fault }, nowMs);
  }

  /** An answer that looks like a block by its status alone: a ban when there are enough of them within the window. */
  recordSuspect(slot: number, site: string, nowMs: number): Effect {
    this.recordReached(slot, nowMs);
    const { suspectCount, suspectWindowMs } = this.#rules;
    const before = this.#sites.get(slot, site) ?? noRecord;
    const record = withSuspect(before, nowMs, suspectWindowMs);
    const phase = phaseOf(record.ban, nowMs);
    this.#setRecord(slot, site, record, nowMs);
    if (phase === 'out' || (phase === 'clear' && record.suspects < suspectCount)) return NONE;
    return this.ban(slot, site, { reason: 'suspect' }, nowMs);
  }

  /**
   * The site asks for less: the exit rests there for the time it names, longer each time.
   * Without a time, as long as a transport fault lasts.
   */
  recordThrottled(slot: number, site: string, retryAfterMs: number | null, nowMs: number): Effect {
    this.recordReached(slot, nowMs);
    const before = this.#banOf(slot, site);
    const strikes = phaseOf(before, nowMs) === 'out' ? before.strikes : before.strikes + 1;
    const baseMs = retryAfterMs ?? this.#rules.transportMs;
    const forMs = banMs(strikes, { ...siteTimes(this.#rules), baseMs }, this.random.float());
    return this.ban(slot, site, { reason: 'throttled', forMs, isOrder: retryAfterMs !== null }, nowMs);
  }

  /**
   * Sets an exit aside, for a site or (null) altogether. One that is out already gets no second strike, its time is
   * only made longer when `forMs` asks for more.
   */
  ban(slot: number, site: string | null, ask: BanAsk, nowMs: number): Effect {
    const { reason } = ask;
    const state = this.#banOf(slot, site);
    const times = site === null ? transportTimes(this.#rules) : siteTimes(this.#rules);
    const longestMs = ask.isExact === true ? Infinity : times.capMs * (1 + times.jitter);
    const phase = phaseOf(state, nowMs);
    if (phase === 'out' && ask.isExact !== true) {
      const untilMs = nowMs + Math.min(ask.forMs ?? 0, longestMs);
      if (untilMs > state.untilMs) this.#setBan(slot, site, { ban: { ...state, untilMs }, nowMs });
      return NONE;
    }
    if (phase === 'clear' && ask.isOrder !== true) {
      const pool = this.#quota.fullPool(slot, site);
      if (pool !== null) return { kind: 'spared', site, reason, pool };
    }
    const plainMs = banMs(state.strikes + 1, times, this.random.float());
    const forMs = Math.min(ask.forMs ?? plainMs, longestMs);
    const ban = struck(state, forMs, { reason, nowMs });
    this.#setBan(slot, site, { ban, nowMs });
    return { kind: 'banned', site, reason, strikes: ban.strikes, forMs };
  }

  /** Ends a ban by hand; strikes stay. */
  lift(slot: number, site: string | null, nowMs: number): void {
    const state = this.#banOf(slot, site);
    if (isAside(state)) this.#setBan(slot, site, { ban: { ...state, untilMs: CLEAR }, nowMs });
  }

  /** Every exit, for admin. */
  snapshot(): ExitSnapshot[] {
    return snapshotAll(this.#parts);
  }

  /** One exit; null where the slot is free. */
  snapshotOf(slot: number): ExitSnapshot | null {
    return snapshotOf(this.#parts, slot);
  }

  /** Every ban that is on. */
  bans(): HeldBan[] {
    return bansIn(this.#parts);
  }

  #banOf(slot: number, site: string | null): BanState {
    return (site === null ? this.#health.get(slot)?.ban : this.#sites.get(slot, site)?.ban) ?? noBan;
  }

  /** Turns both bans that a request to this site meets. */
  #turnBans(
    slot: number,
    by: { site: string; nowMs: number; turn: (ban: BanState, nowMs: number) => BanState },
  ): void {
    const health = this.#health.get(slot);
    if (health !== undefined) this.#setHealth(slot, { ...health, ban: by.turn(health.ban, by.nowMs) });
    const record = this.#sites.get(slot, by.site);
    if (record === undefined) return;
    this.#setRecord(slot, by.site, { ...record, ban: by.turn(record.ban, by.nowMs) }, by.nowMs);
  }

  #setBan(slot: number, site: string | null, next: { ban: BanState; nowMs: number }): void {
    if (site === null) this.#setHealth(slot, { ...sound, ban: next.ban });
    else this.#setRecord(slot, site, { ...noRecord, ban: next.ban }, next.nowMs);
  }

  #setHealth(slot: number, health: Health): void {
    const was = isAside(this.#banOf(slot, null));
    const is = isAside(health.ban);
    if (was !== is) this.#quota.change(slot, null, is ? 1 : -1);
    if (!is && health.ban.strikes === 0 && health.faults === 0) this.#health.delete(slot);
    else this.#health.set(slot, health);
    this.#mark(slot);
  }

  #setRecord(slot: number, site: string, record: SiteRecord, nowMs: number): void {
    this.#sites.set(slot, site, record, nowMs);
    this.#mark(slot);
  }

  #mark(slot: number): void {
    this.#slots.marks[slot] = this.#health.has(slot) || this.#sites.has(slot) ? 1 : 0;
  }
}

function hasReturned(before: BanState, after: BanState): boolean {
  return isAside(before) && !isAside(after);
}
