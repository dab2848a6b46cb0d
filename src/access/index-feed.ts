/**
 * Keeps the index of credentials as the store has it: all of it at first, what changed from then on (at most half a second
 * late), and what this gateway changed itself at once. While the store is away the index stays as it was.
 */
import type { Clock, Timer } from '../core/clock.js';
import { afterTurn } from '../core/clock.js';
import type { Emit } from '../core/events.js';
import type { CredentialRow } from '../storage/credential-ports.js';
import { StorageAway, type Change, type Database, type PolicyRow } from '../storage/ports.js';
import type { CredentialIndex } from './credential-index.js';
import { readPolicy } from './policy-document.js';
import type { StoreTime } from './store-time.js';
import type { UseCounts } from './use-counts.js';

const POLL_MS = 400;
const PAGE = 1000;
const CHANGES = 500;
/** Credentials that a new policy looks at in one turn of the event loop. */
const FILLED_AT_ONCE = 1000;
/** Uses are exchanged this often. */
const USES_MS = 5000;
/** Gateways' clocks may differ by so much, and none misses a use. */
const USES_BACK_MS = 30_000;
/** Live tokens are counted at most this often, and for no more than a twentieth of the time. */
const COUNT_AGAIN_MS = 250;
const COUNT_SHARE = 20;

/** What the feed works with. */
export interface FeedParts {
  readonly db: Database;
  readonly index: CredentialIndex;
  readonly uses: UseCounts;
  readonly time: StoreTime;
  readonly clock: Clock;
  readonly emit: Emit;
}

/** The feed. */
export class IndexFeed {
  readonly #parts: FeedParts;
  readonly #policies = new Map<string, PolicyRow>();
  #since: number | null = null;
  #timer: Timer | null = null;
  #running: Promise<void> = Promise.resolve();
  #isStopped = false;
  readonly #orphans = new Set<string>();
  #usesAtMs = -Infinity;
  #counting: Promise<void> | null = null;
  #countAgainMs = -Infinity;

  constructor(parts: FeedParts) {
    this.#parts = parts;
  }

  /** Whether everything was read once. */
  get isReady(): boolean {
    return this.#since !== null;
  }

  /** Policies as they are kept, by name. */
  get policies(): ReadonlyMap<string, PolicyRow> {
    return this.#policies;
  }

  start(): void {
    this.#running = this.#round();
  }

  /** Ends after the round that is on. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#running;
    await this.#parts.uses.flush();
  }

  /** Takes in credentials as a write of this gateway left them. */
  put(...rows: readonly CredentialRow[]): void {
    for (const row of rows) this.#parts.index.put(row);
  }

  /** Reads credentials anew; those that are gone leave the index. */
  async readCredentials(keys: readonly string[]): Promise<void> {
    const rows = await this.#parts.db.credentials.rows(keys);
    const found = new Set(rows.map(({ key }) => key));
    for (const key of keys) if (!found.has(key)) this.#parts.index.remove(key);
    this.put(...rows);
  }

  /** Reads a policy anew; resolves once its list is whole. */
  async readPolicy(name: string): Promise<void> {
    await this.putPolicy(name, await this.#parts.db.policies.find(name));
  }

  /** Takes a policy as it is kept; null: it is gone. Resolves once its list is whole. */
  async putPolicy(name: string, row: PolicyRow | null): Promise<void> {
    const read = row === null ? null : readPolicy(row.document);
    if (row === null || read?.kind !== 'policy') {
      this.#policies.delete(name);
      this.#parts.index.removePolicy(name);
      if (row !== null) this.#note('policy_unreadable', { policy: name });
      return;
    }
    this.#policies.set(name, row);
    if (!this.#parts.index.putPolicy(read.policy)) return;
    while (!this.#parts.index.fill(name, FILLED_AT_ONCE)) await turn();
  }

  /** Ends a token that nobody got, as soon as the store can be asked. */
  endLater(hash: string): void {
    this.#orphans.add(hash);
  }

  /** Counts live tokens anew, if that was not done just now. False where it was. */
  async recount(): Promise<boolean> {
    if (this.#counting === null) {
      if (this.#parts.clock.nowMs() < this.#countAgainMs) return false;
      this.#counting = this.#count().finally(() => (this.#counting = null));
    }
    await this.#counting;
    return true;
  }

  async #count(): Promise<void> {
    const { clock, db, index } = this.#parts;
    const beganMs = clock.nowMs();
    index.setLive(await db.tokens.liveCounts());
    const nowMs = clock.nowMs();
    this.#countAgainMs = nowMs + Math.max(COUNT_AGAIN_MS, COUNT_SHARE * (nowMs - beganMs));
  }

  async #round(): Promise<void> {
    try {
      if (this.#since === null) await this.#readAll();
      await this.#readChanges();
      await this.#endOrphans();
      await this.#exchangeUses();
    } catch (error) {
      // Whoever wants something of the store hears that it is away; an error of our own must not end the feed.
      if (!(error instanceof StorageAway)) this.#note('credential_feed_failed', { error: String(error) });
    }
    if (this.#isStopped) return;
    this.#timer = this.#parts.clock.after(POLL_MS, () => this.start());
  }

  async #readAll(): Promise<void> {
    const { db, index } = this.#parts;
    const since = await db.lastChange();
    const gone = new Set(index.keys());
    for (const policy of await db.policies.all()) await this.putPolicy(policy.name, policy);
    for (let after: string | null = null; ;) {
      const rows: readonly CredentialRow[] = await db.credentials.list({ after, limit: PAGE });
      for (const { key } of rows) gone.delete(key);
      this.put(...rows);
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE) break;
      after = last.key;
      if (this.#isStopped) return;
    }
    for (const key of gone) index.remove(key);
    await this.#count();
    this.#since = since;
  }

  async #readChanges(): Promise<void> {
    const { db } = this.#parts;
    for (;;) {
      const changes: readonly Change[] = await db.changes(this.#since ?? 0, CHANGES);
      const refs = (kind: Change['kind']): string[] =>
        changes.filter((change) => change.kind === kind).map(({ ref }) => ref);
      const credentials = refs('credential');
      if (credentials.length > 0) await this.readCredentials(credentials);
      for (const name of refs('policy')) await this.readPolicy(name);
      this.#since = changes.at(-1)?.seq ?? this.#since;
      if (changes.length < CHANGES || this.#isStopped) return;
    }
  }

  async #endOrphans(): Promise<void> {
    for (const hash of this.#orphans) {
      await this.#parts.db.tokens.end(hash, 'revoked', null);
      this.#orphans.delete(hash);
    }
  }

  /** Tells how often this gateway used what, and hears the same of others. */
  async #exchangeUses(): Promise<void> {
    const { clock, db, index, time, uses } = this.#parts;
    if (clock.nowMs() < this.#usesAtMs + USES_MS) return;
    const isFirst = this.#usesAtMs === -Infinity;
    await uses.flush();
    const since = isFirst ? 0 : time.nowMs() - USES_BACK_MS;
    for (const { key, id, uses: count } of await db.credentials.usedSince(since))
      index.setUses(key, count + uses.waiting(id));
    this.#usesAtMs = clock.nowMs();
  }

  #note(what: string, detail: Readonly<Record<string, string>>): void {
    this.#parts.emit({ type: 'note', level: 'error', what, detail });
  }
}

const turn = (): Promise<void> => new Promise((resolve) => afterTurn(resolve));
