/**
 * The vault over a store: makes the first keys, keeps up with what other gateways do to them, tells them which it knows, and
 * tries again where the store was away. A wrong root key seals it, and nothing is written under that.
 */
import type { Clock, Timer } from '../core/clock.js';
import type { Emit } from '../core/events.js';
import { type Database, type KeyRow, StorageAway } from '../storage/ports.js';
import { type Chance, kekIdOf, open, seal, type SecretPlace } from './envelope.js';
import { fitsVault, makeFirstKeys, type RootFits } from './first-keys.js';
import { HeldKeys } from './held-keys.js';
import { RootKeyTrouble } from './root-key.js';
import { KeyRotation, type RotationPace } from './rotation.js';
import { subKeyFrom } from './sub-keys.js';
import { type KeyView, SealBroken, type Vault, VaultSealed, type VaultState } from './vault.js';
import { WrapCounts } from './wrap-counts.js';

type Sealed = Extract<VaultState, { kind: 'sealed' }>;

/** What a vault is made of. */
export interface VaultParts {
  readonly db: Pick<Database, 'keys' | 'credentials' | 'instances'>;
  /** Asked for each time the root key is needed; wiped after. @throws {RootKeyTrouble} */
  readonly rootKey: () => Promise<Buffer>;
  /** This process among those that use the store; no two have the same. */
  readonly instance: string;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly emit: Emit;
  readonly pace?: RotationPace;
}

const BEAT_MS = 2000;
const LIVE_MS = 10_000;
/** Nothing is sealed with keys that were read longer ago: they may be retired by now, or destroyed. */
const STALE_MS = 30_000;
/** A key that the root key doesn't open is tried again so often. */
const ASK_AGAIN_MS = 30_000;
const standardPace: RotationPace = { batch: 200, pauseMs: 100 };

const whyNot: Readonly<Record<Exclude<RootFits, 'fits'>, string>> = {
  wrong: 'the root key is not the one that this vault was made with',
  check_lost: 'the store is in use and has lost the value that the root key is checked by: it is damaged',
};
const storeAway: Sealed = { kind: 'sealed', why: 'the store can not be asked', isStore: true };

/** Opens a vault, or gives it sealed; it is up to date from then on. Never rejects. */
export async function openVault(parts: VaultParts): Promise<Vault> {
  const vault = new KeyVault(parts);
  await vault.begin();
  return vault;
}

class KeyVault implements Vault {
  state: VaultState = storeAway;
  readonly rotation: KeyRotation;
  readonly #held = new HeldKeys();
  readonly #wraps: WrapCounts;
  #readMs = -Infinity;
  /** Until when a key that the root key didn't open is not tried again. */
  #shutUntilMs = -Infinity;
  #work: Promise<void> = Promise.resolve();
  #nextRead: Promise<void> | null = null;
  #timer: Timer | null = null;
  #isTold = false;
  #isClosed = false;

  constructor(private readonly parts: VaultParts) {
    const { db, clock, chance, emit, instance } = parts;
    this.#wraps = new WrapCounts(db.keys, emit);
    this.rotation = new KeyRotation({
      ...{ db, clock, chance, emit, held: this.#held, holder: instance },
      demandOpen: () => this.#demandOpen(),
      refresh: () => this.#inTurn(() => this.#read()),
      withRoot: (work) => this.#withRoot(work),
      countWraps: (id, count) => this.#wraps.add(id, count),
      pace: parts.pace ?? standardPace,
    });
  }

  async begin(): Promise<void> {
    await this.unseal();
    this.#beatLater();
  }

  seal(place: SecretPlace, plaintext: Buffer): { kekId: string; sealed: Buffer } {
    this.#demandOpen();
    if (this.parts.clock.nowMs() - this.#readMs > STALE_MS)
      throw new StorageAway('the keys were not read for too long');
    const kek = this.#held.sealing();
    if (kek === null) throw new VaultSealed('the newest key does not open with the root key of this gateway');
    this.#wraps.add(kek.id, 1);
    return { kekId: kek.id, sealed: seal(place, plaintext, kek, this.parts.chance) };
  }

  reveal(place: SecretPlace, sealed: Buffer): Buffer {
    this.#demandOpen();
    const named = kekIdOf(sealed);
    if ('why' in named) throw new SealBroken(named.why);
    const kek = this.#held.kek(named.id);
    if (kek === null) {
      void this.refresh();
      throw new SealBroken('unknown_key');
    }
    const opened = open(place, sealed, kek);
    if (opened.kind === 'broken') throw new SealBroken(opened.why);
    return opened.plaintext;
  }

  subKey(label: string): Buffer {
    this.#demandOpen();
    const key = this.#held.derive();
    if (key === null) throw new VaultSealed('the key that others come from is gone');
    return subKeyFrom(key, label);
  }

  keys(): readonly KeyView[] {
    const rows = this.#held.rows.filter(({ state }) => state !== 'derive');
    return rows
      .map(({ id, term, state, wraps, createdMs }) => ({
        ...{ id, term, state, createdMs },
        wraps: wraps + this.#wraps.of(id),
      }))
      .sort((a, b) => a.term - b.term);
  }

  async refresh(): Promise<void> {
    // Whoever asks while one waits for its turn is served by that one.
    this.#nextRead ??= this.#inTurn(() => {
      this.#nextRead = null;
      return this.#read();
    });
    await this.#nextRead;
    void this.rotation.go();
  }

  async unseal(): Promise<VaultState> {
    this.#shutUntilMs = -Infinity;
    await this.#inTurn(() => (this.state.kind === 'open' ? this.#read() : this.#open()));
    void this.rotation.go();
    return this.state;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    // Its keys are wiped below.
    await this.rotation.stop();
    await this.#inTurn(async () => {
      await this.#wraps.flush();
      await this.parts.db.instances.leave(this.parts.instance);
    });
    this.#held.wipe();
    this.state = { kind: 'sealed', why: 'it is closed', isStore: false };
  }

  #demandOpen(): void {
    if (this.state.kind === 'sealed') throw new VaultSealed(this.state.why);
  }

  /** One thing at a time is done to the keys; what the store or the root key spoil is kept as the state. Never rejects. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(work).catch((error: unknown) => {
      if (error instanceof StorageAway) return this.#sealedBy(storeAway);
      if (error instanceof RootKeyTrouble)
        return this.#sealedBy({ kind: 'sealed', why: error.message, isStore: false });
      const fault = error instanceof Error ? error.name : 'unknown';
      this.parts.emit({ type: 'note', level: 'error', what: 'vault_failed', detail: { fault } });
      this.#sealedBy({ kind: 'sealed', why: `a fault of the program (${fault})`, isStore: false });
    });
    return this.#work;
  }

  /** An open vault stays open: it has its keys. */
  #sealedBy(state: Sealed): void {
    const was = this.state;
    if (was.kind === 'open' || this.#isClosed) return;
    this.state = state;
    if (!this.#isTold || was.why !== state.why) this.#tell('sealed', state.why);
  }

  #tell(state: VaultState['kind'], why: string | null): void {
    this.#isTold = true;
    this.parts.emit({ type: 'vault_changed', state, why });
  }

  async #withRoot<T>(work: (root: Buffer) => Promise<T>): Promise<T> {
    const root = await this.parts.rootKey();
    try {
      const fits = await fitsVault(this.parts.db, root, this.parts.chance);
      if (fits !== 'fits') throw new RootKeyTrouble(whyNot[fits]);
      return await work(root);
    } finally {
      root.fill(0);
    }
  }

  /** The others are told which key this one knows, and then the keys are read again: who promotes one in between waits for us. */
  async #open(): Promise<void> {
    const { keys } = this.parts.db;
    await this.#withRoot(async (root) => {
      await makeFirstKeys(keys, root, this.parts.chance);
      for (let round = 0; round < 2; round += 1) {
        this.#held.take(await keys.all(), root);
        if (this.#held.derive() === null || this.#held.sealing() === null)
          throw new RootKeyTrouble('a key in the store does not open: it is damaged');
        await this.#announce();
      }
    });
    this.#readMs = this.parts.clock.nowMs();
    this.state = { kind: 'open' };
    this.#tell('open', null);
  }

  async #read(): Promise<void> {
    if (this.state.kind !== 'open' || this.#isClosed) return;
    const before = new Map(this.#held.rows.map(({ id, state }) => [id, state]));
    const rows = await this.parts.db.keys.all();
    if (this.#held.lacks(rows)) await this.#unwrap(rows);
    this.#held.take(rows, null);
    this.#readMs = this.parts.clock.nowMs();
    this.#wraps.check(rows);
    for (const { id, term, state } of rows) {
      if (before.get(id) !== state) this.parts.emit({ type: 'key_changed', term, state });
    }
    await this.#announce();
  }

  /** Takes up new keys; where the root key is another by now, says so and goes on with those that are here. */
  async #unwrap(rows: readonly KeyRow[]): Promise<void> {
    const nowMs = this.parts.clock.nowMs();
    if (nowMs < this.#shutUntilMs) return;
    let why = 'it is damaged';
    try {
      await this.#withRoot(async (root) => this.#held.take(rows, root));
    } catch (error) {
      if (!(error instanceof RootKeyTrouble)) throw error;
      why = error.message;
    }
    if (!this.#held.lacks(rows)) return;
    this.#shutUntilMs = nowMs + ASK_AGAIN_MS;
    this.parts.emit({ type: 'note', level: 'error', what: 'vault_key_unusable', detail: { why } });
  }

  #announce(): Promise<void> {
    const instance = { id: this.parts.instance, newestKek: this.#held.newest() };
    return this.parts.db.instances.announce(instance, LIVE_MS);
  }

  #beatLater(): void {
    if (this.#isClosed) return;
    this.#timer = this.parts.clock.after(BEAT_MS, () => {
      void this.#beat().then(() => this.#beatLater());
    });
  }

  async #beat(): Promise<void> {
    await this.#inTurn(async () => {
      if (this.state.kind === 'sealed') return this.state.isStore ? this.#open() : undefined;
      await this.#wraps.flush();
      await this.#read();
    });
    void this.rotation.go();
  }
}
