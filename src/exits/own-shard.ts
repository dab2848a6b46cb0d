/**
 * Which exits are this gateway's by who is in the fleet. One that comes to it from another is used only after a while,
 * when the other must have heard of the change; one that goes is given up at once. It doesn't know how members are found.
 */
import { ring, type OwnerOf } from '../upstreams/shards.js';

/**
 * How long after a change an exit that came is left alone: two heartbeats and a call that hung. Whoever had it has heard
 * of the change by then, or hears nothing from Redis at all.
 */
export const HANDOVER_MS = 4000;

const nobody: OwnerOf = () => null;

/** The exits of one gateway. */
export class OwnShard {
  /** Changes whenever what is ours may have changed. */
  version = 0;
  #members: readonly string[] = [];
  #now: OwnerOf = nobody;
  /** Who owned what before, as long as that matters. */
  #before: { readonly ownerOf: OwnerOf; readonly untilMs: number }[] = [];

  constructor(private readonly self: string) {}

  /** All gateways, as last heard. */
  get members(): readonly string[] {
    return this.#members;
  }

  /** Takes over who is there. One that was always alone waits for nobody. */
  follow(members: readonly string[], nowMs: number): void {
    if (members.join(' ') === this.#members.join(' ')) return;
    const isFirstAlone = this.#members.length === 0 && members.length === 1;
    if (!isFirstAlone) this.#before.push({ ownerOf: this.#now, untilMs: nowMs + HANDOVER_MS });
    this.#members = [...members];
    this.#now = ring(members);
    this.version++;
  }

  /** Forgets owners that matter no more. */
  settle(nowMs: number): void {
    const [eldest] = this.#before;
    if (eldest === undefined || nowMs < eldest.untilMs) return;
    this.#before = this.#before.filter(({ untilMs }) => nowMs < untilMs);
    this.version++;
  }

  /** Whose it is, or will be when the one before has heard of it. */
  ownerOf(exit: { readonly id: string; readonly index: number }): string | null {
    return this.#now(exit);
  }

  /** Whether the exit is ours, and no other's still. */
  owns(exit: { readonly id: string; readonly index: number }): boolean {
    return this.#now(exit) === this.self && this.#before.every(({ ownerOf }) => ownerOf(exit) === this.self);
  }
}
