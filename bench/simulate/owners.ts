/**
 * Who owns which exit on the ring, before and after each change: how many move, how long those that move are used by
 * nobody, and whether one has two owners. Ring, heartbeats and handover are the gateway's own.
 */
import type { Random } from '../../src/core/random.js';
import { HANDOVER_MS } from '../../src/exits/own-shard.js';
import { ring } from '../../src/upstreams/shards.js';
import { heardAtMs, type Change } from './fleet.js';

/** What came of one change, or of all. */
export interface Moves {
  changes: number;
  moved: number;
  /** Most of one change, as a multiple of the least possible: the exits over the gateways. */
  worst: number;
  /** Exits that two gateways used for a moment. */
  doubled: number;
  /** Seconds that exits were used by nobody, all together. */
  idleSeconds: number;
  /** Fewest and most exits of a gateway, over the mean. */
  spread: { least: number; most: number };
}

/** Follows owners through the changes. */
export class Owners {
  readonly moves: Moves = {
    ...{ changes: 0, moved: 0, worst: 0, doubled: 0, idleSeconds: 0 },
    spread: { least: Infinity, most: 0 },
  };
  #owners: (string | null)[];

  constructor(
    private readonly exits: readonly string[],
    start: readonly string[],
    private readonly random: Random,
  ) {
    this.#owners = this.#deal(start);
  }

  follow(change: Change): void {
    const before = this.#owners;
    this.#owners = this.#deal(change.members);
    const heard = new Map<string, number>();
    const hears = (id: string): number => {
      const known = heard.get(id) ?? (id === change.id ? change.atMs : heardAtMs(change, this.random));
      heard.set(id, known);
      return known;
    };
    let moved = 0;
    this.#owners.forEach((now, index) => {
      const from = before[index] ?? null;
      if (now === from || now === null || from === null) return;
      moved++;
      // Whoever loses it stops when it hears (or is dead); whoever gets it waits besides.
      const [stopsMs, startsMs] = [hears(from), hears(now) + HANDOVER_MS];
      if (startsMs < stopsMs) this.moves.doubled++;
      else this.moves.idleSeconds += (startsMs - stopsMs) / 1000;
    });
    this.moves.changes++;
    this.moves.moved += moved;
    const least = this.exits.length / Math.max(change.members.length, 1);
    this.moves.worst = Math.max(this.moves.worst, moved / least);
  }

  #deal(members: readonly string[]): (string | null)[] {
    const ownerOf = ring(members);
    const counts = new Map<string, number>();
    const owners = this.exits.map((id, index) => {
      const owner = ownerOf({ id, index });
      if (owner !== null) counts.set(owner, (counts.get(owner) ?? 0) + 1);
      return owner;
    });
    const mean = this.exits.length / members.length;
    for (const count of counts.values()) {
      this.moves.spread.least = Math.min(this.moves.spread.least, count / mean);
      this.moves.spread.most = Math.max(this.moves.spread.most, count / mean);
    }
    return owners;
  }
}
