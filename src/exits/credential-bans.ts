/**
 * What is held against credentials at single sites: all exits that go out under one login are set aside there together.
 * The same book, times and trial as for exits; a number here is that of a credential. Nearly always nothing is held, and
 * then nothing is counted either. Of a pool with very many logins a part is looked at, so that a ban never stops anybody.
 */
import type { BanEvidence } from '../core/events.js';
import type { Random } from '../core/random.js';
import {
  admitted,
  isAdmitting,
  isAside,
  opensAtMs,
  phaseOf,
  succeeded,
  trialReleased,
} from '../facts/ban.js';
import type { BanRules, BanState } from '../facts/ban.js';
import { credentialId, credentialOf } from '../upstreams/credential-of.js';
import type { Pool } from '../upstreams/pool.js';
import type { Upstream } from '../upstreams/upstream.js';
import { BanBook } from './ban-book.js';
import type { BanAsk, Effect } from './effect.js';
import type { CountedPool } from './ejection-quota.js';
import { setAside, throttling, type BanTerms } from './set-aside.js';

/** Exits of a pool whose logins are looked at. */
const LOOKED_AT = 10_000;

/** A credential with its number. */
interface Known {
  readonly number: number;
  readonly id: string;
}

/** A ban of a credential that is on. */
export interface HeldCredential {
  readonly credential: string;
  readonly site: string;
  readonly ban: BanState;
}

/** The bans of credentials in one ledger. */
export class CredentialBans {
  readonly #book: BanBook;
  readonly #known = new Map<string, Known>();
  /** By the number of the credential, the exit whose request is the trial. */
  readonly #trials = new Map<number, number>();
  /** Numbers that nobody has any more. */
  readonly #free: number[] = [];
  #pools: readonly Pool[] = [];
  #isCounted = false;

  constructor(
    private readonly rules: () => BanRules,
    private readonly random: Random,
  ) {
    this.#book = new BanBook({ marks: new Uint8Array(0) }, () => this.rules().siteCapMs);
  }

  /** Whether nothing is held against any credential; asked before everything else. */
  get isEmpty(): boolean {
    return this.#book.sites.size === 0;
  }

  /** Takes over the pools; their logins are looked at when a ban first wants it. */
  applyPools(pools: readonly Pool[], nowMs: number): void {
    this.#pools = pools;
    this.#isCounted = false;
    this.#book.sites.sweep(nowMs);
    for (const [name, { number }] of this.#known) {
      if (this.#book.has(number)) continue;
      this.#known.delete(name);
      this.#free.push(number);
    }
    if (!this.isEmpty) this.#count(nowMs);
  }

  /** Whether the credential of this exit may be used at this site now. */
  isUsable(upstream: Upstream, site: string, nowMs: number): boolean {
    const ban = this.#banAt(upstream, site);
    return ban === null || isAdmitting(ban, nowMs);
  }

  /** When it may be used again; −Infinity where nothing is held against it. */
  opensAtMs(upstream: Upstream, site: string): number {
    const ban = this.#banAt(upstream, site);
    return ban === null ? -Infinity : opensAtMs(ban);
  }

  /** An exit begins a request: after the end of a ban, it is the trial of its credential. */
  begin(upstream: Upstream, at: { slot: number; site: string; nowMs: number }): void {
    const number = this.#numberAt(upstream);
    if (number === null || phaseOf(this.#book.banOf(number, at.site), at.nowMs) !== 'half_open') return;
    this.#trials.set(number, at.slot);
    this.#book.turn(number, { ...at, turn: admitted });
  }

  /** The request of this exit is over; a trial that brought no word may be tried again. */
  end(upstream: Upstream, at: { slot: number; site: string; nowMs: number }): void {
    const number = this.#numberAt(upstream);
    if (number === null || this.#trials.get(number) !== at.slot) return;
    this.#trials.delete(number);
    this.#book.turn(number, { ...at, turn: trialReleased });
  }

  /** A good answer: a trial brings the credential back, and strikes fade. */
  succeeded(upstream: Upstream, site: string, nowMs: number): void {
    const number = this.#numberAt(upstream);
    const before = number === null ? undefined : this.#book.sites.get(number, site);
    if (number === null || before === undefined) return;
    const ban = succeeded(before.ban, this.rules().siteMs, nowMs);
    if (ban !== before.ban) this.#book.setBan(number, site, ban, nowMs);
  }

  /** Sets the credential of this exit aside at a site; nothing where it has none. */
  ban(upstream: Upstream, site: string, ask: BanAsk, nowMs: number): Effect {
    const name = credentialOf(upstream);
    return name === null ? { kind: 'none' } : this.#setAside(this.#know(name, nowMs), site, ask, nowMs);
  }

  /** The site asks for less from this credential. */
  throttle(upstream: Upstream, site: string, retryAfterMs: number | null, nowMs: number): Effect {
    const name = credentialOf(upstream);
    if (name === null) return { kind: 'none' };
    const known = this.#know(name, nowMs);
    const place = { slot: known.number, site };
    const ask = throttling(this.#book, place, retryAfterMs, this.#terms(nowMs));
    return this.#setAside(known, site, ask, nowMs);
  }

  /** The same by its id, as people and other gateways name it; null where no exit has such a credential. */
  banById(id: string, site: string, ask: BanAsk, nowMs: number): Effect | null {
    const known = this.#byId(id, nowMs);
    return known === null ? null : this.#setAside(known, site, ask, nowMs);
  }

  /** Ends a ban; strikes stay. False where there is none. */
  lift(id: string, site: string, nowMs: number): boolean {
    if (this.isEmpty) return false;
    const known = this.#byId(id, nowMs);
    if (known === null || !isAside(this.#book.banOf(known.number, site))) return false;
    this.#book.lift(known.number, site, nowMs);
    return true;
  }

  /** Notes what a ban that is on goes by. */
  note(id: string, site: string, evidence: BanEvidence, nowMs: number): void {
    const known = this.#byId(id, nowMs);
    if (known !== null) this.#book.note(known.number, site, evidence, nowMs);
  }

  /** Takes back what was set aside since `sinceMs` because of this site; returns how many bans that were. */
  rollBack(site: string, sinceMs: number, nowMs: number): number {
    return this.#book.rollBack(site, sinceMs, nowMs);
  }

  /** Every ban that is on. */
  held(): HeldCredential[] {
    const ids = new Map([...this.#known.values()].map(({ number, id }) => [number, id]));
    const held: HeldCredential[] = [];
    for (const [number, site, { ban }] of this.#book.sites.all())
      if (isAside(ban)) held.push({ credential: ids.get(number) ?? '', site, ban });
    return held;
  }

  #setAside({ number, id }: Known, site: string, ask: BanAsk, nowMs: number): Effect {
    const effect = setAside(this.#book, { slot: number, site }, ask, this.#terms(nowMs));
    return effect.kind === 'banned' || effect.kind === 'spared' ? { ...effect, credential: id } : effect;
  }

  #terms(nowMs: number): BanTerms {
    return { rules: this.rules(), random: this.random, nowMs };
  }

  #numberAt(upstream: Upstream): number | null {
    const name = credentialOf(upstream);
    return name === null ? null : (this.#known.get(name)?.number ?? null);
  }

  #banAt(upstream: Upstream, site: string): BanState | null {
    const number = this.#numberAt(upstream);
    return number === null ? null : (this.#book.sites.get(number, site)?.ban ?? null);
  }

  #byId(id: string, nowMs: number): Known | null {
    if (!this.#isCounted) this.#count(nowMs);
    for (const known of this.#known.values()) if (known.id === id) return known;
    return null;
  }

  #know(name: string, nowMs: number): Known {
    if (!this.#isCounted) this.#count(nowMs);
    return this.#add(name);
  }

  #add(name: string): Known {
    const before = this.#known.get(name);
    if (before !== undefined) return before;
    const number = this.#free.pop() ?? this.#known.size;
    const known = { number, id: credentialId(name) };
    this.#known.set(name, known);
    return known;
  }

  /** Looks at the logins of the pools, and counts what is held against them. */
  #count(nowMs: number): void {
    this.#isCounted = true;
    const counted: CountedPool[] = this.#pools.map(({ name, upstreams }) => {
      const numbers = new Set<number>();
      const step = Math.max(1, Math.ceil(upstreams.length / LOOKED_AT));
      for (let index = 0; index < upstreams.length; index += step) {
        const upstream = upstreams[index];
        const credential = upstream === undefined ? null : credentialOf(upstream);
        if (credential !== null) numbers.add(this.#add(credential).number);
      }
      return { name, slots: Uint32Array.from(numbers) };
    });
    this.#book.recount(counted, this.rules().maxEjected, nowMs);
  }
}
