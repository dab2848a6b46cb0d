/**
 * What this process knows of its exits now: in flight, first-byte times, transport health, bans per site, cursors.
 * Mutable, survives a reload; pools refer to it by slot numbers. It reads no clock and tells nobody: times come in,
 * and what was decided goes out as an {@link Effect}.
 */
import type { BanEvidence } from '../core/events.js';
import type { Random } from '../core/random.js';
import {
  admitted,
  isAdmitting,
  isAside,
  mostAfterReturn,
  opensAtMs,
  phaseOf,
  succeeded,
  trialReleased,
  triedElsewhere,
} from '../facts/ban.js';
import type { BanRules, BanState, TransportFault } from '../facts/ban.js';
import type { LedgerView, Pool } from '../upstreams/pool.js';
import { Cursors } from '../upstreams/strategies.js';
import type { Upstream } from '../upstreams/upstream.js';
import { BanBook } from './ban-book.js';
import { CredentialBans } from './credential-bans.js';
import type { BanAsk, Effect, ExitSnapshot, HeldBan } from './effect.js';
import { Orders } from './orders.js';
import { setAside, throttling, type BanTerms } from './set-aside.js';
import { noRecord, withSuspect } from './site-bans.js';
import { Slots } from './slots.js';
import { bansIn, snapshotAll, snapshotOf, type LedgerParts } from './snapshots.js';
import { isTooMany, siteBehind, sound, withFault } from './transport-health.js';

const NONE: Effect = { kind: 'none' };
const NOTHING: readonly null[] = [];

/** The ledger of one process. */
export class Ledger implements LedgerView {
  readonly cursors = new Cursors();
  readonly orders = new Orders();
  /** What is held against the logins of exits. */
  readonly credentials: CredentialBans;
  readonly #slots: Slots = new Slots((slot) => this.#book.has(slot) || !this.orders.isOpenToNew(slot));
  readonly #book: BanBook = new BanBook(this.#slots, () => this.#rules.siteCapMs);
  #rules: BanRules;

  constructor(
    rules: BanRules,
    private readonly random: Random,
  ) {
    this.#rules = rules;
    this.credentials = new CredentialBans(() => this.#rules, random);
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
    this.#book.recount(list, rules.maxEjected, nowMs);
    this.#slots.forgetUnused((slot) => this.#book.quota.isMember(slot));
    this.#book.markAll();
    this.credentials.applyPools(list, nowMs);
    this.cursors.keep(new Set(list.map((pool) => pool.name)));
    this.#slots.rememberUses(list.some((pool) => pool.strategy === 'least_recently_used_per_site'));
  }

  inFlight(slot: number): number {
    return this.#slots.inFlight[slot] ?? 0;
  }

  mostInFlight(slot: number, site: string, nowMs: number): number {
    if (!this.#book.isMarked(slot)) return Infinity;
    const anywhere = mostAfterReturn(this.#book.banOf(slot, null), nowMs);
    return Math.min(anywhere, mostAfterReturn(this.#book.banOf(slot, site), nowMs));
  }

  isOpenToNew(slot: number): boolean {
    return this.orders.isOpenToNew(slot);
  }

  isUsable(slot: number, site: string, nowMs: number): boolean {
    const login = this.#loginOf(slot);
    if (login !== null && !this.credentials.isUsable(login, site, nowMs)) return false;
    if (!this.#book.isMarked(slot)) return true;
    const health = this.#book.health.get(slot);
    if (health !== undefined && !isAdmitting(health.ban, nowMs)) return false;
    const record = this.#book.sites.get(slot, site);
    return record === undefined || isAdmitting(record.ban, nowMs);
  }

  /** While a trial runs, a second after it began. */
  usableAtMs(slot: number, site: string): number {
    const login = this.#loginOf(slot);
    return Math.max(
      opensAtMs(this.#book.banOf(slot, null)),
      opensAtMs(this.#book.banOf(slot, site)),
      login === null ? -Infinity : this.credentials.opensAtMs(login, site),
    );
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
    const login = this.#loginOf(slot);
    if (login !== null) this.credentials.begin(login, { slot, site, nowMs });
    if (this.#book.isMarked(slot)) this.#book.turn(slot, { site, nowMs, turn: admitted });
  }

  /** What a request would be the trial of: the exit at the site, or (null) altogether. */
  trialsDue(slot: number, site: string, nowMs: number): readonly (string | null)[] {
    if (!this.#book.isMarked(slot)) return NOTHING;
    return [null, site].filter((of) => phaseOf(this.#book.banOf(slot, of), nowMs) === 'half_open');
  }

  /** A request will be the trial, once other gateways were asked; others of this gateway wait. */
  beginTrials(slot: number, site: string, nowMs: number): void {
    if (this.#book.isMarked(slot)) this.#book.turn(slot, { site, nowMs, turn: admitted });
  }

  /** Another gateway tries the exit; at `overMs` this one may ask again. */
  leaveTrials(slot: number, site: string, overMs: number): void {
    if (!this.#book.isMarked(slot)) return;
    this.#book.turn(slot, { site, nowMs: overMs, turn: triedElsewhere });
  }

  /** The exchange is over. A trial of which nothing was recorded may then be tried again. */
  end(slot: number, site: string, nowMs: number): void {
    if (this.#slots.ended(slot) > 0) return;
    const login = this.#loginOf(slot);
    if (login !== null) this.credentials.end(login, { slot, site, nowMs });
    if (!this.#book.isMarked(slot)) return;
    this.#book.turn(slot, { site, nowMs, turn: trialReleased });
  }

  /** Time to the first byte of an answer through this exit. */
  firstByte(slot: number, ms: number): void {
    this.#slots.smooth(slot, ms);
  }

  /** A good answer: the way is sound and the site likes the exit. */
  recordSuccess(slot: number, site: string, nowMs: number): Effect {
    const way = this.recordReached(slot, nowMs);
    const login = this.#loginOf(slot);
    if (login !== null) this.credentials.succeeded(login, site, nowMs);
    if (!this.#book.isMarked(slot)) return way;
    const record = this.#book.sites.get(slot, site);
    if (record === undefined) return way;
    const ban = succeeded(record.ban, this.#rules.siteMs, nowMs);
    if (ban === record.ban && record.suspects === 0) return way;
    this.#book.setRecord(slot, site, { ...noRecord, ban }, nowMs);
    if (!hasReturned(record.ban, ban)) return way;
    return way.kind === 'returned'
      ? { kind: 'returned', site, isEverywhere: true }
      : { kind: 'returned', site };
  }

  /** Any answer of a target: the way is sound, whatever the site thinks of the exit. */
  recordReached(slot: number, nowMs: number): Effect {
    this.#slots.succeeded(slot);
    if (!this.#book.isMarked(slot)) return NONE;
    const health = this.#book.health.get(slot);
    if (health === undefined) return NONE;
    const ban = succeeded(health.ban, this.#rules.transportMs, nowMs);
    if (ban === health.ban && health.faults === 0) return NONE;
    this.#book.setHealth(slot, { ...sound, ban });
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
    const health = withFault(this.#book.health.get(slot) ?? sound, context);
    this.#book.setHealth(slot, health);
    const phase = phaseOf(health.ban, nowMs);
    if (phase === 'out' || (phase === 'clear' && !isTooMany(health, context))) return NONE;
    const oneSite = siteBehind(health);
    // B21: a login that was good before, refused with one site only, may be asked for by the site itself.
    if (fault === 'auth' && oneSite !== null && phase === 'clear')
      return this.ban(
        slot,
        oneSite,
        { reason: fault, forMs: this.#rules.transportMs, isDoubtful: true },
        nowMs,
      );
    return this.ban(slot, null, { reason: fault, oneSite }, nowMs);
  }

  /** An answer that looks like a block by its status alone: a ban when there are enough of them within the window. */
  recordSuspect(slot: number, site: string, nowMs: number): Effect {
    this.recordReached(slot, nowMs);
    const { suspectCount, suspectWindowMs } = this.#rules;
    const before = this.#book.sites.get(slot, site) ?? noRecord;
    const record = withSuspect(before, nowMs, suspectWindowMs);
    const phase = phaseOf(record.ban, nowMs);
    this.#book.setRecord(slot, site, record, nowMs);
    if (phase === 'out' || (phase === 'clear' && record.suspects < suspectCount)) return NONE;
    return this.ban(slot, site, { reason: 'suspect', isDoubtful: true }, nowMs);
  }

  /**
   * The site asks for less: the exit rests there for the time it names, longer each time.
   * Without a time, as long as a transport fault lasts.
   */
  recordThrottled(slot: number, site: string, retryAfterMs: number | null, nowMs: number): Effect {
    this.recordReached(slot, nowMs);
    const ask = throttling(this.#book, { slot, site }, retryAfterMs, this.#terms(nowMs));
    return this.ban(slot, site, ask, nowMs);
  }

  /**
   * Sets an exit aside, for a site or (null) altogether. One that is out already gets no second strike, its time is
   * only made longer when `forMs` asks for more.
   */
  ban(slot: number, site: string | null, ask: BanAsk, nowMs: number): Effect {
    return setAside(this.#book, { slot, site }, ask, this.#terms(nowMs));
  }

  /** Notes what a ban that is on goes by. */
  noteEvidence(slot: number, site: string | null, evidence: BanEvidence, nowMs: number): void {
    this.#book.note(slot, site, evidence, nowMs);
  }

  /** Ends a ban by hand, or because a trial of another gateway went well (`isTried`); strikes stay. */
  lift(slot: number, site: string | null, nowMs: number, isTried = false): void {
    this.#book.lift(slot, site, nowMs, isTried);
  }

  /** Takes back what was set aside since `sinceMs` because of this site; returns how many bans that were. */
  rollBack(site: string, sinceMs: number, nowMs: number): number {
    return this.#book.rollBack(site, sinceMs, nowMs) + this.credentials.rollBack(site, sinceMs, nowMs);
  }

  /** Every exit, for admin. */
  snapshot(): ExitSnapshot[] {
    return snapshotAll(this.#parts);
  }

  /** One exit; null where the slot is free. */
  snapshotOf(slot: number): ExitSnapshot | null {
    return snapshotOf(this.#parts, slot);
  }

  /** Every ban of an exit that is on. */
  bans(): HeldBan[] {
    return bansIn(this.#parts);
  }

  /** The exit, where its login has to be asked about: nearly always nothing is held against any. */
  #loginOf(slot: number): Upstream | null {
    return this.credentials.isEmpty ? null : (this.#slots.upstreams[slot] ?? null);
  }

  #terms(nowMs: number): BanTerms {
    return { rules: this.#rules, random: this.random, nowMs };
  }

  get #parts(): LedgerParts {
    const { health, sites } = this.#book;
    return { slots: this.#slots, health, sites, orders: this.orders };
  }
}

function hasReturned(before: BanState, after: BanState): boolean {
  return isAside(before) && !isAside(after);
}
