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

/** Owners of before, and until when they may not have heard that they are no more. */
interface Change {
  readonly ownerOf: OwnerOf;
  readonly untilMs: number;
}

/** A change of owners is remembered for so long, and so many of them, for exits that rest between two uses. */
const REMEMBERED_MS = 3_600_000;
const MOST_CHANGES = 16;

/** The exits of one gateway. */
export class OwnShard {
  /** Changes whenever what is ours may have changed. */
  version = 0;
  #members: readonly string[] = [];
  #now: OwnerOf = nobody;
  /** Who owned what before, as long as that matters. */
  #before: Change[] = [];
  /** The same, the latest last, for as long as exits may have to rest. */
  #past: Change[] = [];

  constructor(private readonly self: string) {}

  /** All gateways, as last heard. */
  get members(): readonly string[] {
    return this.#members;
  }

  /** Takes over who is there. One that was always alone waits for nobody. */
  follow(members: readonly string[], nowMs: number): void {
    if (members.join(' ') === this.#members.join(' ')) return;
    const isFirstAlone = this.#members.length === 0 && members.length === 1;
    if (!isFirstAlone) {
      const change = { ownerOf: this.#now, untilMs: nowMs + HANDOVER_MS };
      this.#before.push(change);
      this.#past = [...this.#past, change]
        .filter(({ untilMs }) => nowMs < untilMs + REMEMBERED_MS)
        .slice(-MOST_CHANGES);
    }
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

  /** Until when another gateway may have used an exit that is ours, if that was after `sinceMs`; −Infinity if not. */
  othersUntilMs(exit: { readonly id: string; readonly index: number }, sinceMs: number): number {
    for (let n = this.#past.length - 1; n >= 0; n--) {
      const change = this.#past[n];
      if (change === undefined || change.untilMs <= sinceMs) break;
      if (change.ownerOf(exit) !== this.self) return change.untilMs;
    }
    return -Infinity;
  }

  /** Whether the exit is ours, and no other's still. */
  owns(exit: { readonly id: string; readonly index: number }): boolean {
    return this.#now(exit) === this.self && this.#before.every(({ ownerOf }) => ownerOf(exit) === this.self);
  }
}
