/**
 * Clients that are kept in the database, as this gateway knows them: all of them in memory with their hashes, so that
 * logins go on while the database is away. A right password is hashed once; from then on an HMAC of it under a key of this
 * process is compared. Hashes are few at once, and failures are limited by address and by account before there is one.
 *
 * A client that changes is another entry without a proof, so nothing that was proved before outlives a change.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Rate } from '../facts/limit.js';
import type { Client } from './clients.js';
import { FailureLimit, placeOf } from './failure-limit.js';
import { isWithin, placesOf, type Places } from './known-client.js';
import { isPassword, nobodysHash, type PasswordHash } from './password-hash.js';
import { WorkQueue } from './work-queue.js';

/** A client as it is stored. Its `password` only marks that it has one: the stored form, with which nobody can log in. */
export interface StoredClient {
  readonly client: Client;
  /** Null: its address is enough. */
  readonly hash: PasswordHash | null;
  /** Another text where anything about it is another. */
  readonly version: string;
}

/** One of them, as it is known here. */
export interface StoredKnown extends Places {
  readonly stored: StoredClient;
}

/** What came of a check: who it is, `limited` after too many failures, `busy` where too many wait for a hash. */
export type Checked = StoredKnown | 'wrong' | 'limited' | 'busy';

/** A login that is to be checked. */
export interface LoginCheck {
  /** Null where nobody has this name: then it costs the same. */
  readonly known: StoredKnown | null;
  readonly name: string;
  readonly password: string;
  readonly remoteAddress: string;
}

/** What it works with. */
export interface StoredParts {
  /** Failures by address, the same that the configured clients count in. */
  readonly failures: FailureLimit;
  nowMs(): number;
  /** Compares; by scrypt where not given. */
  readonly isPassword?: typeof isPassword;
}

interface Known extends StoredKnown {
  /** HMAC of the login that was right; null before the first. */
  proof: Buffer | null;
}

/** Of one account, from wherever: thirty at once, then one in twenty seconds. */
const byAccount: Rate = { count: 30, perMs: 600_000 };
/** Two hashes leave half of the thread pool to names and files. 256 that wait take ten seconds: later is too late. */
const hashes = { atOnce: 2, most: 256, waitMs: 10_000 };
/** Nobody fills the line from one place. */
const MOST_OF_ONE_PLACE = 64;

/** The stored clients. */
export class StoredClients {
  #known: ReadonlyMap<string, Known> | null = null;
  #withoutPassword: readonly Known[] = [];
  readonly #accounts = new FailureLimit(byAccount);
  readonly #queue: WorkQueue;
  readonly #key = randomBytes(32);
  /** By HMAC: whoever comes with the same login meanwhile waits for the same hash. */
  readonly #checks = new Map<string, Promise<Checked>>();

  readonly #waitingFrom = new Map<string, number>();
  readonly #outcomes = { right: 0, wrong: 0, limited: 0, busy: 0 };

  constructor(private readonly parts: StoredParts) {
    this.#queue = new WorkQueue(hashes, () => parts.nowMs());
  }

  /** Whether it is known who is stored; false until they were read once. */
  get isRead(): boolean {
    return this.#known !== null;
  }

  /** Whether it is known that nobody is stored. */
  get isEmpty(): boolean {
    return this.#known?.size === 0;
  }

  /** Those whose address is enough. */
  get withoutPassword(): readonly StoredKnown[] {
    return this.#withoutPassword;
  }

  /** How many checks came to what, for the metrics. */
  outcomes(): ReadonlyMap<string, number> {
    return new Map(Object.entries(this.#outcomes));
  }

  all(): Iterable<StoredKnown> {
    return this.#known?.values() ?? [];
  }

  get(name: string): StoredKnown | undefined {
    return this.#known?.get(name);
  }

  /** Takes them over as they are now; returns the names that are gone. Who is the same as before stays proved. */
  use(clients: readonly StoredClient[]): ReadonlySet<string> {
    const before = this.#known ?? new Map<string, Known>();
    const now = new Map<string, Known>();
    for (const stored of clients) {
      const known = before.get(stored.client.name);
      const isSame = known?.stored.version === stored.version;
      now.set(stored.client.name, isSame ? known : { ...placesOf(stored.client), stored, proof: null });
    }
    this.#known = now;
    this.#withoutPassword = [...now.values()].filter(({ stored }) => stored.hash === null);
    return new Set([...before.keys()].filter((name) => !now.has(name)));
  }

  /** Who this is, if that was proved before or needs no proof. */
  recall(name: string, password: string): StoredKnown | null {
    const known = this.#known?.get(name);
    if (known === undefined) return null;
    if (known.stored.hash === null) return known;
    const isProved = known.proof !== null && timingSafeEqual(known.proof, this.#proofOf(name, password));
    return isProved ? known : null;
  }

  /** Compares with the hash, if failures were few enough and when its turn comes. */
  check(ask: LoginCheck): Promise<Checked> {
    if (this.#isLimited(ask)) return Promise.resolve(this.#told('limited'));
    const proof = this.#proofOf(ask.name, ask.password);
    const key = proof.toString('hex');
    const running = this.#checks.get(key);
    if (running !== undefined) return running;
    const place = placeOf(ask.remoteAddress);
    const waiting = this.#waitingFrom.get(place) ?? 0;
    if (waiting >= MOST_OF_ONE_PLACE) return Promise.resolve(this.#told('busy'));
    this.#waitingFrom.set(place, waiting + 1);
    const check = this.#queue
      .run(() => this.#compare(ask, proof))
      .then((checked) => this.#told(checked ?? 'busy'))
      .finally(() => this.#isOver(key, place));
    this.#checks.set(key, check);
    return check;
  }

  #isOver(key: string, place: string): void {
    this.#checks.delete(key);
    const left = (this.#waitingFrom.get(place) ?? 1) - 1;
    if (left === 0) this.#waitingFrom.delete(place);
    else this.#waitingFrom.set(place, left);
  }

  async #compare(ask: LoginCheck, proof: Buffer): Promise<Checked> {
    // Others may have failed while this one waited.
    if (this.#isLimited(ask)) return 'limited';
    const known = ask.known as Known | null;
    const compare = this.parts.isPassword ?? isPassword;
    const isRight = await compare(known?.stored.hash ?? nobodysHash, ask.password);
    if (isRight && known !== null && this.#known?.get(ask.name) === known) {
      known.proof = proof;
      if (isWithin(known.ranges, ask.remoteAddress)) return known;
    }
    this.#count(ask, known);
    return 'wrong';
  }

  /** Who may not come from there anyway can't lock the account for those who may. */
  #count({ name, remoteAddress }: LoginCheck, known: Known | null): void {
    const nowMs = this.parts.nowMs();
    this.parts.failures.count(remoteAddress, nowMs);
    if (known === null || isWithin(known.ranges, remoteAddress)) this.#accounts.count(name, nowMs);
  }

  #isLimited({ name, remoteAddress }: LoginCheck): boolean {
    const nowMs = this.parts.nowMs();
    return this.parts.failures.isLimited(remoteAddress, nowMs) || this.#accounts.isLimited(name, nowMs);
  }

  #told(checked: Checked): Checked {
    this.#outcomes[typeof checked === 'string' ? checked : 'right'] += 1;
    return checked;
  }

  #proofOf(name: string, password: string): Buffer {
    return createHmac('sha256', this.#key).update(`${name}\n${password}`, 'utf8').digest();
  }
}
