/**
 * Who the other gateways are, by heartbeats; while the store is away, who they were. After it came back nobody is missed
 * before everybody had time to tell: a store that was emptied would otherwise make each gateway believe to be alone.
 */
import type { Clock, Timer } from '../../core/clock.js';
import type { Random } from '../../core/random.js';
import { fleetOf, heartbeatMs, MEMBER_TTL_MS, type Member } from '../../facts/member.js';
import { StoreAway } from '../ports.js';
import type { Members } from '../ports.js';

/** What a fleet is made of. */
export interface FleetParts {
  readonly members: Members;
  readonly clock: Clock;
  readonly random: Random;
  /** What this gateway says of itself now. */
  self(): Member;
  /** Told who is there, each time that is heard. */
  heard?(ids: readonly string[]): void;
  /** Told when a gateway joined or left. */
  changed(ids: readonly string[]): void;
}

/** The fleet as this gateway knows it. */
export class Fleet {
  #known: readonly Member[] = [];
  #patientUntilMs: number;
  #timer: Timer | null = null;
  #isStopped = false;

  constructor(private readonly parts: FleetParts) {
    this.#patientUntilMs = parts.clock.nowMs() + MEMBER_TTL_MS;
  }

  /** All gateways, this one among them, in the order that all see. */
  get ids(): readonly string[] {
    return fleetOf(this.#known, this.parts.self().id);
  }

  get members(): readonly Member[] {
    return this.#known;
  }

  /** The store is back: others will tell of themselves again. */
  back(): void {
    this.#patientUntilMs = this.parts.clock.nowMs() + MEMBER_TTL_MS;
    void this.beat();
  }

  /** Begins to tell of this gateway, at once and then again and again. */
  start(): void {
    const { clock, random } = this.parts;
    this.#timer = clock.after(heartbeatMs(random.float()), () => this.start());
    void this.beat();
  }

  /** Tells once, and takes over who is there. Never rejects for a store that is away. */
  async beat(): Promise<void> {
    if (this.#isStopped) return;
    try {
      this.#follow(await this.parts.members.announce(this.parts.self(), MEMBER_TTL_MS));
    } catch (error) {
      if (!(error instanceof StoreAway)) throw error;
    }
  }

  /** Leaves, so that nobody waits for this gateway. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    try {
      await this.parts.members.leave(this.parts.self().id);
    } catch (error) {
      if (!(error instanceof StoreAway)) throw error;
    }
  }

  #follow(told: readonly Member[]): void {
    const before = this.ids.join(' ');
    const isPatient = this.parts.clock.nowMs() < this.#patientUntilMs;
    const heard = new Set(told.map(({ id }) => id));
    const missed = isPatient ? this.#known.filter(({ id }) => !heard.has(id)) : [];
    this.#known = [...told, ...missed];
    this.parts.heard?.(this.ids);
    if (this.ids.join(' ') !== before) this.parts.changed(this.ids);
  }
}
