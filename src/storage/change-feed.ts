/**
 * Follows the sequence of changes, so that what is kept in memory of the store stays true on every gateway: everything is
 * read once, then the things that changed, at most half a second later. While the store is away what is known stays, and
 * nothing that changed meanwhile is missed. Does not know what the listeners keep.
 */
import type { Clock, Timer } from '../core/clock.js';
import type { Change, Database } from './ports.js';

/** Who keeps something in memory. What rejects is asked again soon, so that being told twice must do no harm. */
export interface ChangeListener {
  readonly kind: Change['kind'];
  /** Reads all of it. */
  readAll(): Promise<void>;
  /** Reads these anew; what is gone is named, too. */
  changed(refs: ReadonlySet<string>): Promise<void>;
}

/** What it works with. */
export interface ChangeFeedParts {
  readonly database: Pick<Database, 'changes' | 'lastChange'>;
  readonly clock: Pick<Clock, 'after'>;
  /** Told when the store can't be followed any more (with a reason), and when it can again (null). */
  onFollowing?(trouble: string | null): void;
}

/** Two looks and their answers fit into half a second. */
const LOOK_MS = 200;
const AWAY_MS = 1000;
const MOST = 1000;

/** The feed. One for a process. */
export class ChangeFeed {
  readonly #listeners: ChangeListener[] = [];
  readonly #fresh = new Set<ChangeListener>();
  #since: number | null = null;
  #trouble: string | null = null;
  #timer: Timer | null = null;
  #turn: Promise<boolean> = Promise.resolve(true);
  #isClosed = false;

  constructor(private readonly parts: ChangeFeedParts) {}

  /** Why the store can't be followed now, for people; null while it can. */
  get trouble(): string | null {
    return this.#trouble;
  }

  /** Has somebody told, from its first `readAll` on, which comes with the next look. */
  listen(listener: ChangeListener): void {
    this.#listeners.push(listener);
    this.#fresh.add(listener);
  }

  /** Begins to follow; resolves after the first look, with whether that worked. Never rejects. */
  async start(): Promise<boolean> {
    const isGood = await this.look();
    this.#lookLater();
    return isGood;
  }

  /** Looks now, after a change of our own. Never rejects; false: it could not be done, and is tried again. */
  look(): Promise<boolean> {
    this.#turn = this.#turn.then(() => this.#attempt());
    return this.#turn;
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  #lookLater(): void {
    if (this.#isClosed) return;
    const waitMs = this.#trouble === null ? LOOK_MS : AWAY_MS;
    this.#timer = this.parts.clock.after(waitMs, () => {
      void this.look().then(() => this.#lookLater());
    });
  }

  async #attempt(): Promise<boolean> {
    if (this.#isClosed) return false;
    try {
      await this.#follow();
      this.#tell(null);
      return true;
    } catch (error) {
      this.#tell(error instanceof Error ? error.message : 'the store can not be read');
      return false;
    }
  }

  async #follow(): Promise<void> {
    const { database } = this.parts;
    this.#since ??= await database.lastChange();
    // Whoever reads everything now knows all that came before this, and may be told of some of it again.
    for (const listener of [...this.#fresh]) {
      await listener.readAll();
      this.#fresh.delete(listener);
    }
    for (;;) {
      const changes = await database.changes(this.#since, MOST);
      for (const listener of this.#listeners) {
        const refs = changes.filter(({ kind }) => kind === listener.kind).map(({ ref }) => ref);
        if (refs.length > 0) await listener.changed(new Set(refs));
      }
      this.#since = changes.at(-1)?.seq ?? this.#since;
      if (changes.length < MOST) return;
    }
  }

  #tell(trouble: string | null): void {
    if (this.#trouble === trouble) return;
    this.#trouble = trouble;
    this.parts.onFollowing?.(trouble);
  }
}
