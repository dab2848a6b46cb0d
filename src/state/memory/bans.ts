/** Words about bans in this process: what one gateway knows, and what tests share between several. */
import type { Clock } from '../../core/clock.js';
import { supersedes } from '../../facts/ban-order.js';
import { banKey } from '../ban-key.js';
import type { BanChanges, Bans, SharedBan } from '../ports.js';

interface Entry {
  ban: SharedBan;
  untilMs: number;
  /** Place in the order of changes. */
  seq: number;
}

/** Bans in a map; each change moves its entry to the young end, so that what is new is found from there. */
export class MemoryBans implements Bans {
  readonly #entries = new Map<string, Entry>();
  readonly #hearers = new Set<(ban: SharedBan) => void>();
  #seq = 0;

  /** @param keepMs how long a word is remembered after its ban has ended */
  constructor(
    private readonly clock: Clock,
    private readonly keepMs: number,
  ) {}

  async put(ban: SharedBan): Promise<SharedBan> {
    const nowMs = this.clock.nowMs();
    const key = banKey(ban);
    const held = this.#live(key, nowMs);
    const untilMs = nowMs + ban.leftMs;
    if (held !== null && !supersedes({ ...ban, untilMs }, { ...held.ban, untilMs: held.untilMs }))
      return asOf(held, nowMs);
    this.#forget(nowMs);
    const entry = { ban, untilMs, seq: ++this.#seq };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    for (const hear of this.#hearers) hear(ban);
    return ban;
  }

  async changes(since: string | null): Promise<BanChanges> {
    const nowMs = this.clock.nowMs();
    const from = since === null ? 0 : Number(since);
    const bans: SharedBan[] = [];
    for (const key of [...this.#entries.keys()]) {
      const entry = this.#live(key, nowMs);
      if (entry !== null && entry.seq > from) bans.push(asOf(entry, nowMs));
    }
    return { bans, cursor: String(this.#seq), isWhole: since === null };
  }

  listen(hear: (ban: SharedBan) => void): () => void {
    this.#hearers.add(hear);
    return () => void this.#hearers.delete(hear);
  }

  #live(key: string, nowMs: number): Entry | null {
    const entry = this.#entries.get(key);
    if (entry === undefined) return null;
    if (nowMs < entry.untilMs + this.keepMs) return entry;
    this.#entries.delete(key);
    return null;
  }

  /** Drops the eldest while their time is over. */
  #forget(nowMs: number): void {
    for (const key of this.#entries.keys()) {
      if (this.#live(key, nowMs) !== null) return;
    }
  }
}

function asOf({ ban, untilMs }: Entry, nowMs: number): SharedBan {
  return { ...ban, leftMs: Math.max(0, untilMs - nowMs) };
}
