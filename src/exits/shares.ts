/**
 * Which exits of each pool this gateway may use now: all, its own by number or by ring, those that it has leased, only
 * those of a site's group; and, while the shared state is away, what the pool says of that. An overlay over the pools: it
 * holds no exits and asks nobody while a request waits for an answer.
 */
import type { Clock, Timer } from '../core/clock.js';
import type { Random } from '../core/random.js';
import type { HeldLease } from '../state/fallback/held-lease.js';
import type { HeldLeases } from '../state/fallback/held-leases.js';
import type { Pool } from '../upstreams/pool.js';
import { groupOf, type Sharing, type ShareView } from '../upstreams/sharing.js';
import { AwayPart, type FleetPlace } from './away-part.js';
import { BrokerShare } from './broker-share.js';
import { OwnShard } from './own-shard.js';
import { groupRule, narrowed, nothingOf, RuledView } from './share-views.js';

/** What shares are made of. */
export interface SharesParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly gatewayId: string;
  readonly leases: HeldLeases;
  /** Null: not configured. */
  readonly place: FleetPlace | null;
  /** Whether an exit may be used at all, by its number in the ledger. */
  isSound(slot: number): boolean;
  /** Told when this gateway begins and ends to go on alone. */
  changed(phase: SharesPhase): void;
}

/** `starting`: nothing heard of the shared state yet. `away`: gone. `returning`: back, and others may not have noticed. */
export type SharesPhase = 'starting' | 'shared' | 'away' | 'returning';

/** What others, who use their parts without a lease, need at most to notice that the store is back: two probes and calls. */
const NOTICED_MS = 2000;
/** Then gateways come back one after the other. */
const RETURN_MS = 1000;
const TEND_MS = 1000;
/** A gateway that heard nothing for so long while Redis is there was asleep: others took it for gone. */
const STALE_MS = 4500;

const NOT_OURS = 'all exits that could be used are those of other gateways';
const STALE = 'this gateway has to hear which exits are its own';
const AWAY = 'the shared state is away, and the pool is not used without it';
const OTHER_GROUP = 'no exit of the pool is for sites of this group';

/** The shares of one gateway. */
export class Shares {
  phase: SharesPhase = 'starting';
  readonly #parts: SharesParts;
  readonly #shard: OwnShard;
  readonly #brokers = new Map<Pool, BrokerShare>();
  #views = new WeakMap<Pool, Map<string, RuledView>>();
  readonly #away: AwayPart;
  #heardMs = -Infinity;
  #awayMs = -Infinity;
  #timers: { tend: Timer | null; back: Timer | null } = { tend: null, back: null };

  /** @param isShared whether there is a shared state at all; else this gateway is a fleet of one */
  constructor(parts: SharesParts, isShared: boolean) {
    this.#parts = parts;
    this.#shard = new OwnShard(parts.gatewayId);
    this.#away = new AwayPart(parts.gatewayId, parts.place, () => this.#shard.members);
    if (isShared) return;
    this.phase = 'shared';
    this.heard([parts.gatewayId]);
    this.#heardMs = Infinity;
  }

  /** Who is in the fleet, as told just now. */
  heard(members: readonly string[]): void {
    const nowMs = this.#parts.clock.nowMs();
    this.#heardMs = Math.max(this.#heardMs, nowMs);
    const { version } = this.#shard;
    this.#shard.follow(members, nowMs);
    if (!this.isAlone && version !== this.#shard.version) this.#away.forget();
  }

  /** The shared state is there, or away. Back is this gateway a moment later, not all at once. */
  linked(isUp: boolean): void {
    this.#timers.back?.cancel();
    if (!isUp) {
      if (this.phase !== 'away') this.#leave();
      this.#enter('away');
    } else if (this.phase === 'starting') this.#enter('shared');
    else {
      this.#enter('returning');
      const { clock, random, leases } = this.#parts;
      void leases.back();
      this.#timers.back = clock.after(NOTICED_MS + random.float() * RETURN_MS, () => void this.#return());
    }
  }

  #leave(): void {
    const { clock, leases } = this.#parts;
    this.#away.forget();
    this.#awayMs = clock.nowMs();
    leases.away((exit) => this.isInPart(exit));
  }

  /** What is used without a lease gets one, or is given up. */
  async #return(): Promise<void> {
    await this.#parts.leases.back();
    if (this.phase !== 'returning') return;
    this.#parts.leases.dropUnleased();
    this.#enter('shared');
  }

  /** Whether this gateway goes on without the others. */
  get isAlone(): boolean {
    return this.phase === 'away' || this.phase === 'returning';
  }

  /** Whether none of these pools is used now, since none is without the shared state. */
  refusesAll(pools: Iterable<Pool>): boolean {
    return this.isAlone && [...pools].every(({ sharing }) => sharing?.onLoss.kind === 'fail');
  }

  /** The pool that serves instead of this one now, by name; null: the pool itself. */
  insteadOf({ sharing }: Pool): string | null {
    return this.isAlone && sharing?.onLoss.kind === 'reserve' ? sharing.onLoss.pool : null;
  }

  /** What of a pool may be used for a site; null: all. */
  view(pool: Pool, site: string, nowMs: number): ShareView | null {
    const { sharing } = pool;
    if (sharing === null) return null;
    if (this.isAlone && sharing.onLoss.kind === 'fail') return nothingOf(pool, AWAY);
    const group = groupOf(sharing, site);
    switch (sharing.kind) {
      case 'none':
      case 'modulo':
        return this.#ruled(pool, sharing, group);
      case 'ring':
        return this.#isStale(nowMs) ? nothingOf(pool, STALE) : this.#ruled(pool, sharing, group);
      case 'broker': {
        if (this.#isRefused(sharing)) return nothingOf(pool, AWAY);
        if (this.#isPartFree(sharing, nowMs)) return this.#ruled(pool, sharing, group);
        const { held } = this.#broker(pool, sharing).at(nowMs);
        return group === null ? held : this.#within(held, pool, { sharing, group });
      }
    }
  }

  /** What may be asked for where nothing may be used; null where asking is of no use. */
  askable(pool: Pool, site: string, nowMs: number): ShareView | null {
    const { sharing } = pool;
    const isOpen = this.phase === 'shared' || this.phase === 'returning';
    if (sharing?.kind !== 'broker' || !isOpen || this.#isRefused(sharing)) return null;
    const group = groupOf(sharing, site);
    const { askable } = this.#broker(pool, sharing).at(nowMs);
    const inGroup = group === null ? askable : this.#within(askable, pool, { sharing, group });
    if (this.phase === 'shared') return inGroup;
    return narrowed(inGroup, (index) => this.isInPart(pool.upstreams[index]?.id ?? ''));
  }

  /** Asks for an exit of a pool. @param isWanted no other will do: whoever has it gives it back when it can */
  async ask(pool: Pool, index: number, isWanted: boolean): Promise<void> {
    const { sharing } = pool;
    if (sharing?.kind !== 'broker') return;
    await this.#broker(pool, sharing).at(this.#parts.clock.nowMs()).ask(index, isWanted);
  }

  /**
   * A request begins to use an exit that it chose a while ago; what it gives to {@link end}. Null: the pool needs no
   * leases. `lost`: the exit isn't ours any more.
   */
  begin(pool: Pool, exit: string): HeldLease | null | 'lost' {
    const { sharing } = pool;
    if (sharing?.kind !== 'broker') return null;
    if (this.#isRefused(sharing)) return 'lost';
    const isOurs = this.#isPartFree(sharing, this.#parts.clock.nowMs()) && this.isInPart(exit);
    return this.#broker(pool, sharing).begin(exit, isOurs) ?? 'lost';
  }

  end(held: HeldLease | null): void {
    if (held !== null) this.#parts.leases.done(held);
  }

  /** Whether an exit is of this gateway's part while it goes on alone. */
  isInPart(exit: string): boolean {
    return this.#away.owns(exit);
  }

  /** The gateway whose exit it is; null where nobody knows. */
  ownerOf({ sharing }: Pool, exit: { readonly id: string; readonly index: number }): string | null {
    return sharing?.kind === 'ring' ? this.#shard.ownerOf(exit) : null;
  }

  /** Begins to keep leases ahead. */
  start(): void {
    this.#timers.tend = this.#parts.clock.after(TEND_MS, () => {
      this.start();
      this.#tend();
    });
  }

  stop(): void {
    this.#timers.tend?.cancel();
    this.#timers.back?.cancel();
  }

  /** New snapshots of pools are in force. */
  follow(pools: ReadonlySet<Pool>): void {
    for (const pool of this.#brokers.keys()) if (!pools.has(pool)) this.#brokers.delete(pool);
  }

  #enter(phase: SharesPhase): void {
    if (phase === this.phase) return;
    this.phase = phase;
    if (phase === 'shared') this.#away.forget();
    this.#parts.changed(phase);
  }

  #tend(): void {
    const nowMs = this.#parts.clock.nowMs();
    if (this.phase !== 'shared') return;
    for (const broker of this.#brokers.values()) void broker.tend(nowMs);
  }

  /** Whether a leased pool is not used now. */
  #isRefused({ onLoss }: Sharing): boolean {
    return this.isAlone && onLoss.kind !== 'shard';
  }

  /** Whether what others had leased has run out, if they are cut off, too. */
  #isPartFree({ lease }: Sharing, nowMs: number): boolean {
    return this.phase === 'away' && nowMs >= this.#awayMs + lease.ttlMs;
  }

  #isStale(nowMs: number): boolean {
    return this.phase === 'starting' || (this.phase === 'shared' && nowMs - this.#heardMs > STALE_MS);
  }

  #ruled(pool: Pool, sharing: Sharing, group: string | null): RuledView {
    const version = this.#versionFor(sharing);
    let views = this.#views.get(pool);
    if (views === undefined) this.#views.set(pool, (views = new Map<string, RuledView>()));
    const name = `${sharing.kind} ${this.#isByPart(sharing) ? 'part' : ''} ${group ?? ''}`;
    const known = views.get(name);
    if (known?.version === version) return known.fill();
    const inGroup = groupRule(pool, sharing, group);
    const owns = this.#ownRule(pool, sharing);
    const view = new RuledView(pool, (index) => inGroup(index) && owns(index), {
      ...{ version, name, whyNone: sharing.kind === 'none' ? OTHER_GROUP : NOT_OURS },
      mayFollow: inGroup,
      ...(sharing.kind === 'ring' && { othersUntilMs: this.#ringUse(pool) }),
    });
    views.set(name, view);
    return view.fill();
  }

  #versionFor(sharing: Sharing): number {
    if (this.#isByPart(sharing)) return this.#away.version;
    if (sharing.kind !== 'ring') return 0;
    this.#shard.settle(this.#parts.clock.nowMs());
    return this.#shard.version;
  }

  /** Whether exits are dealt out by who was there last: leased ones, and those of a ring that nobody has heard of. */
  #isByPart({ kind }: Sharing): boolean {
    return this.isAlone && (kind === 'broker' || (kind === 'ring' && this.#shard.members.length === 0));
  }

  #ownRule(pool: Pool, sharing: Sharing): (index: number) => boolean {
    const { place } = this.#parts;
    const idAt = (index: number): string => pool.upstreams[index]?.id ?? '';
    if (this.#isByPart(sharing)) return (index) => this.isInPart(idAt(index));
    if (sharing.kind === 'ring') return (index) => this.#shard.owns({ id: idAt(index), index });
    if (sharing.kind === 'modulo' && place !== null) return (index) => index % place.count === place.index;
    return () => true;
  }

  #ringUse(pool: Pool): (index: number, sinceMs: number) => number {
    return (index, sinceMs) =>
      this.#shard.othersUntilMs({ id: pool.upstreams[index]?.id ?? '', index }, sinceMs);
  }

  #broker(pool: Pool, sharing: Sharing): BrokerShare {
    let broker = this.#brokers.get(pool);
    if (broker === undefined) {
      const gateways = (): number => Math.max(1, this.#shard.members.length);
      const { leases, random } = this.#parts;
      const isSound = (slot: number): boolean => this.#parts.isSound(slot);
      const isInPart = (exit: string): boolean => this.isInPart(exit);
      broker = new BrokerShare(pool, sharing.lease, { leases, random, gateways, isSound, isInPart });
      this.#brokers.set(pool, broker);
    }
    return broker;
  }

  /** A view narrowed to a group of sites. */
  #within(view: ShareView, pool: Pool, of: { readonly sharing: Sharing; readonly group: string }): ShareView {
    const group = this.#ruled(pool, { ...of.sharing, kind: 'none' }, of.group);
    return narrowed(view, (index) => group.isOurs(index, false));
  }
}
