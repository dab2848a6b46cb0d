/**
 * Keeps one gateway's bans and those of the fleet the same: says what was decided here, hears what was decided elsewhere,
 * and asks every two seconds for what was not heard. It orders words by their version and knows nothing of what a ban does.
 * What can't be said while the store is away is kept, the newest of each, and said when it is back.
 */
import { dropEldest } from '../../core/eldest.js';
import type { Clock, Timer } from '../../core/clock.js';
import type { Random } from '../../core/random.js';
import { nextVersion, supersedes } from '../../facts/ban-order.js';
import { banKey } from '../ban-key.js';
import { StoreAway } from '../ports.js';
import type { Bans, SharedBan } from '../ports.js';

const POLL_MS = 2000;
const POLL_JITTER = 0.1;
/** Every so many polls all is read again, for what a store may have lost without anybody's notice. */
const POLLS_PER_READING = 30;
const DEFAULT_MAX_JOURNAL = 10_000;
const DEFAULT_MAX_WORDS = 300_000;
const AT_ONCE = 32;
const SWEEP_STEPS = 2;
/** A word is forgotten here before the store forgets it: a new first word would otherwise look old. */
const FORGET_EARLY = 0.9;

/** A decision of this gateway. `leftMs` 0: the exit is in use again. */
export type OwnBan = Pick<SharedBan, 'exit' | 'site' | 'leftMs' | 'strikes' | 'reason'>;

/** What news are made of. */
export interface BanNewsParts {
  readonly bans: Bans;
  readonly clock: Clock;
  readonly random: Random;
  /** Names this process. */
  readonly by: string;
  /** How long the store remembers a word after its ban has ended. */
  readonly keepMs: number;
  readonly maxJournal?: number;
  /** Takes over what another gateway decided. */
  apply(ban: SharedBan): void;
}

interface Word {
  readonly ban: SharedBan;
  /** By this process's clock. */
  readonly untilMs: number;
}

/** Counts, for metrics. */
export interface BanNewsCounts {
  /** Words of others that were taken over. */
  applied: number;
  said: number;
  /** Words that were lost because too many had to wait. */
  dropped: number;
}

/** The news. */
export class BanNews {
  readonly counts: BanNewsCounts = { applied: 0, said: 0, dropped: 0 };
  readonly #parts: BanNewsParts;
  readonly #words = new Map<string, Word>();
  readonly #journal = new Map<string, Word>();
  #sweep = this.#words.entries();
  #cursor: string | null = null;
  #polls = 0;
  #polling: Promise<void> | null = null;
  #pollAgain = false;
  #flushing: Promise<void> | null = null;
  #timer: Timer | null = null;
  #unlisten: () => void = () => undefined;

  constructor(parts: BanNewsParts) {
    this.#parts = parts;
  }

  /** Words that wait to be said. */
  get waiting(): number {
    return this.#journal.size;
  }

  /** Begins to listen and to ask. */
  start(): void {
    this.#unlisten = this.#parts.bans.listen((ban) => this.#merge(ban));
    this.#schedule();
    void this.poll();
  }

  stop(): void {
    this.#unlisten();
    this.#timer?.cancel();
    this.#timer = null;
  }

  /** Says what was decided here, as soon as it can be said. */
  say(own: OwnBan): void {
    const key = banKey(own);
    const nowMs = this.#parts.clock.nowMs();
    const version = nextVersion(this.#words.get(key)?.ban.version ?? null);
    const { exit, site, leftMs, strikes, reason } = own;
    const word = {
      ban: { exit, site, leftMs, strikes, reason, version, by: this.#parts.by },
      untilMs: nowMs + leftMs,
    };
    this.#remember(key, word, nowMs);
    this.#keepToSay(key, word);
    void this.flush();
  }

  /** Takes back what this gateway said and no longer means: bans that it said, that last, and that are not held. */
  takeBack(isHeld: (ban: SharedBan) => boolean): void {
    const nowMs = this.#parts.clock.nowMs();
    const mine = [...this.#words.values()].filter(
      ({ ban, untilMs }) => ban.by === this.#parts.by && untilMs > nowMs && !isHeld(ban),
    );
    for (const { ban } of mine) this.say({ ...ban, leftMs: 0, reason: 'taken back' });
  }

  /** Asks for news now; messages may have been missed. */
  poll(): Promise<void> {
    if (this.#polling !== null) {
      this.#pollAgain = true;
      return this.#polling;
    }
    this.#polling = this.#pollOnce().finally(() => {
      this.#polling = null;
      if (!this.#pollAgain) return;
      this.#pollAgain = false;
      void this.poll();
    });
    return this.#polling;
  }

  /** The store is back, or another took its place: what it knows is read from the start, and it is told what it lacks. */
  readAll(): Promise<void> {
    this.#polls = 0;
    return this.poll();
  }

  /** Says what waits, until the store is away. */
  flush(): Promise<void> {
    this.#flushing ??= this.#sayAll().finally(() => {
      this.#flushing = null;
    });
    return this.#flushing;
  }

  #schedule(): void {
    const { clock, random } = this.#parts;
    const ms = POLL_MS * (1 - POLL_JITTER * random.float());
    this.#timer = clock.after(ms, () => {
      this.#schedule();
      void this.poll();
    });
  }

  async #pollOnce(): Promise<void> {
    try {
      if (this.#polls++ % POLLS_PER_READING === 0) this.#cursor = null;
      const { bans, cursor, isWhole } = await this.#parts.bans.changes(this.#cursor);
      this.#cursor = cursor;
      for (const ban of bans) this.#merge(ban);
      if (isWhole) this.#sayWhatIsMissing(bans);
    } catch (error) {
      if (!(error instanceof StoreAway)) throw error;
      this.#polls = 0;
      return;
    }
    await this.flush();
  }

  /** The store has forgotten, or knows less than we do. */
  #sayWhatIsMissing(known: readonly SharedBan[]): void {
    const nowMs = this.#parts.clock.nowMs();
    const versions = new Map(known.map((ban) => [banKey(ban), ban.version]));
    for (const [key, word] of this.#words) {
      const isOver = word.untilMs <= nowMs && !versions.has(key);
      if (!isOver && word.ban.version > (versions.get(key) ?? 0)) this.#keepToSay(key, word);
    }
  }

  #merge(ban: SharedBan): void {
    const nowMs = this.#parts.clock.nowMs();
    const key = banKey(ban);
    const word = { ban, untilMs: nowMs + ban.leftMs };
    const held = this.#words.get(key);
    if (held !== undefined && !supersedes(orderOf(word), orderOf(held))) return;
    this.#remember(key, word, nowMs);
    this.counts.applied++;
    this.#parts.apply(ban);
  }

  #remember(key: string, word: Word, nowMs: number): void {
    this.#words.delete(key);
    this.#words.set(key, word);
    for (let step = 0; step < SWEEP_STEPS; step++) {
      const next = this.#sweep.next();
      if (next.done === true) {
        this.#sweep = this.#words.entries();
        break;
      }
      const [old, { untilMs }] = next.value;
      if (untilMs + this.#parts.keepMs * FORGET_EARLY <= nowMs) this.#words.delete(old);
    }
    if (this.#words.size > DEFAULT_MAX_WORDS) dropEldest(this.#words);
  }

  #keepToSay(key: string, word: Word): void {
    this.#journal.delete(key);
    this.#journal.set(key, word);
    if (this.#journal.size <= (this.#parts.maxJournal ?? DEFAULT_MAX_JOURNAL)) return;
    dropEldest(this.#journal);
    this.counts.dropped++;
  }

  async #sayAll(): Promise<void> {
    while (this.#journal.size > 0) {
      const some = [...this.#journal].slice(0, AT_ONCE);
      const said = await Promise.all(some.map(([key, word]) => this.#sayOne(key, word)));
      if (said.includes(false)) return;
    }
  }

  async #sayOne(key: string, word: Word): Promise<boolean> {
    const { bans, clock } = this.#parts;
    try {
      const leftMs = Math.max(0, word.untilMs - clock.nowMs());
      const holds = await bans.put({ ...word.ban, leftMs });
      this.counts.said++;
      if (this.#journal.get(key) === word) this.#journal.delete(key);
      this.#merge(holds);
      return true;
    } catch (error) {
      if (!(error instanceof StoreAway)) throw error;
      return false;
    }
  }
}

function orderOf({ ban, untilMs }: Word): { version: number; untilMs: number; by: string } {
  return { version: ban.version, by: ban.by, untilMs };
}
