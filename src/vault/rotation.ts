/**
 * Changes the key of keys while everything runs: a new key is made, all gateways take it up, it seals, records go over to it. The
 * steps follow from the tables (`keyring.ts`), so a gateway that is killed leaves nothing behind that another would have to know;
 * one leads at a time.
 */
import type { Clock, Timer } from '../core/clock.js';
import type { Emit } from '../core/events.js';
import { type Database, StorageAway } from '../storage/ports.js';
import type { Chance } from './envelope.js';
import { keyId, makeKey } from './first-keys.js';
import type { HeldKeys } from './held-keys.js';
import { type KeyMoves, keyStates, movesOf, mustReencrypt, nextStep, nextTerm } from './keyring.js';
import type { KeyFacts, RotationStep } from './keyring.js';
import { RecordMover } from './move-records.js';
import { RootKeyTrouble } from './root-key.js';

/** How far a rotation is. */
export interface RotationProgress {
  /** `waiting`: for gateways that don't know the new key yet; `rewrapping`: records go to the new key. */
  readonly phase: 'idle' | 'waiting' | 'rewrapping';
  /** Of the key that records go to. */
  readonly term: number;
  /** Gateways that are waited for. */
  readonly waitsFor: readonly string[];
  /** Records that are still under an older key, as last counted. */
  readonly left: number;
  /** How many there were when this gateway began to count. */
  readonly total: number;
  /** Records that don't open, and so stay where they are. */
  readonly broken: number;
}

export type RotationStarted =
  | { readonly kind: 'started' | 'under_way'; readonly term: number }
  /** The root key can't be had, is another than the one that wrapped the keys, or is being changed just now. */
  | { readonly kind: 'no_root_key'; readonly why: string };

export type KeyDestroyed =
  | { readonly kind: 'destroyed' }
  /** `in_use`: records are under it; `too_soon`: it was retired less than a minute ago. */
  | { readonly kind: 'refused'; readonly why: 'unknown' | 'not_retired' | 'in_use' | 'too_soon' };

export interface Rotation {
  /**
   * Makes a new key; gateways take it up and records go over by themselves.
   * @param how `reencrypt`: records get new keys of their own, too, since the old key may be known to others
   * @throws {VaultSealed} @throws {StorageAway}
   */
  start(how: { readonly reencrypt: boolean }): Promise<RotationStarted>;
  /** As last known here; asks nobody. */
  progress(): RotationProgress;
  /** Destroys a retired key for good. @throws {VaultSealed} @throws {StorageAway} */
  destroy(term: number): Promise<KeyDestroyed>;
}

/** How fast records go over: so many at a time, and a rest between. */
export interface RotationPace {
  readonly batch: number;
  readonly pauseMs: number;
}

/** What a rotation needs of the vault that it belongs to. */
export interface RotationParts {
  readonly db: Pick<Database, 'keys' | 'credentials' | 'instances'>;
  readonly held: HeldKeys;
  /** Throws while the vault is sealed. */
  readonly demandOpen: () => void;
  /** Reads the keys anew. */
  readonly refresh: () => Promise<void>;
  /** Lends the root key, once it is known to be this vault's. @throws {RootKeyTrouble} */
  readonly withRoot: <T>(work: (root: Buffer) => Promise<T>) => Promise<T>;
  readonly countWraps: (id: string, count: number) => void;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly emit: Emit;
  /** Names this process among those that may lead. */
  readonly holder: string;
  readonly pace: RotationPace;
}

/** Held by whoever makes a key or changes the root key. */
export const ROOT_CLAIM = 'root key';

/** How long a leader leads without saying so again. Two that lead at once do no harm: they only do the same work. */
const LEAD_MS = 5000;
/** How long a key that was retired can't be destroyed: twice as long as a gateway seals without having read the keys. */
const SETTLE_MS = 60_000;
const COUNT_MS = 15_000;

const phases = { nothing: 'idle', wait: 'waiting', promote: 'waiting', rewrap: 'rewrapping' } as const;
const compromisedName = (id: string): string => `compromised before ${id}`;
const settleName = (id: string): string => `settle ${id}`;

/** The rotation of one process. */
export class KeyRotation implements Rotation {
  #progress: RotationProgress = { phase: 'idle', term: 0, waitsFor: [], left: 0, total: 0, broken: 0 };
  #countedMs = -Infinity;
  #going: Promise<void> | null = null;
  #isOver = false;
  #rest: { readonly timer: Timer; readonly end: () => void } | null = null;
  readonly #mover: RecordMover;

  constructor(private readonly parts: RotationParts) {
    this.#mover = new RecordMover(parts.db.credentials, parts.chance, parts.emit);
  }

  progress(): RotationProgress {
    return this.#progress;
  }

  async start({ reencrypt }: { readonly reencrypt: boolean }): Promise<RotationStarted> {
    const { db, held, chance, holder, refresh, withRoot } = this.parts;
    this.parts.demandOpen();
    await refresh();
    const pending = held.rows.find(({ state }) => state === 'pending');
    const term = pending?.term ?? nextTerm(held.rows);
    const id = pending?.id ?? (await keyId(db.keys, term, chance));
    if (reencrypt) await db.keys.setValue(compromisedName(id), Buffer.of(1));
    if (pending !== undefined) return { kind: 'under_way', term };
    if (!(await db.keys.claim(ROOT_CLAIM, holder, LEAD_MS))) return this.#othersKey(term);
    try {
      const outcome = await withRoot((root) =>
        makeKey(db.keys, root, { id, term, state: 'pending' }, chance),
      );
      await refresh();
      this.#progress = { ...this.#progress, phase: 'waiting', term };
      return { kind: outcome === 'inserted' ? 'started' : 'under_way', term };
    } catch (error) {
      if (error instanceof RootKeyTrouble) return { kind: 'no_root_key', why: error.message };
      throw error;
    }
  }

  /** Somebody else makes a key, or changes the root key. */
  async #othersKey(term: number): Promise<RotationStarted> {
    await this.parts.refresh();
    const isMade = this.parts.held.rows.some((row) => row.term === term);
    if (isMade) return { kind: 'under_way', term };
    return { kind: 'no_root_key', why: 'keys are being changed by another process: try again in a minute' };
  }

  async destroy(term: number): Promise<KeyDestroyed> {
    const { db, held, holder, refresh } = this.parts;
    this.parts.demandOpen();
    await refresh();
    const key = held.rows.find((row) => row.term === term && row.state !== 'derive');
    if (key === undefined) return { kind: 'refused', why: 'unknown' };
    if (key.state !== 'retired') return { kind: 'refused', why: 'not_retired' };
    const isSettled = await db.keys.claim(settleName(key.id), `destroyed by ${holder}`, 1);
    if (!isSettled) return { kind: 'refused', why: 'too_soon' };
    if ((await db.credentials.sealedUnder(key.id, 1)).length > 0) return { kind: 'refused', why: 'in_use' };
    const isMoved = await db.keys.move(movesOf([key]));
    await refresh();
    return isMoved ? { kind: 'destroyed' } : { kind: 'refused', why: 'not_retired' };
  }

  /** Takes what steps there are; returns at once where that is under way. Called at every beat of the vault. Never rejects. */
  async go(): Promise<void> {
    if (this.#going !== null || this.#isOver || this.parts.held.newest() === null) return;
    this.#going = this.#goOn();
    await this.#going;
    this.#going = null;
  }

  async #goOn(): Promise<void> {
    try {
      while (!this.#isOver && (await this.#step())) await this.#pause();
    } catch (error) {
      // Where the store is away, the next beat goes on.
      if (!(error instanceof StorageAway)) this.#tellFault(error);
    }
  }

  /** Ends it here, when what is under way is done; another gateway goes on. */
  async stop(): Promise<void> {
    this.#isOver = true;
    this.#rest?.timer.cancel();
    this.#rest?.end();
    await this.#going;
  }

  /** One step; true where there may be another. */
  async #step(): Promise<boolean> {
    const step = await this.#nextStep();
    await this.#note(step);
    if (step.kind === 'nothing' || step.kind === 'wait') return false;
    const { keys } = this.parts.db;
    if (!(await keys.claim('rotation', this.parts.holder, LEAD_MS))) return false;
    if (step.kind === 'rewrap') return this.#moveRecords(step.from, step.to);
    await this.#promote(step.moves);
    return true;
  }

  async #nextStep(): Promise<RotationStep> {
    const { db, held } = this.parts;
    const isPending = held.rows.some(({ state }) => state === 'pending');
    const inUse = new Set<string>();
    for (const { id } of isPending ? [] : this.#retired()) {
      if ((await this.#mover.under(id, 1)).length > 0) inUse.add(id);
    }
    return nextStep({ keys: held.rows, live: isPending ? await db.instances.live() : [], inUse });
  }

  async #promote(moves: KeyMoves): Promise<void> {
    const { keys } = this.parts.db;
    for (const { id, to } of moves) {
      if (to === 'retired') await keys.claim(settleName(id), 'settling', SETTLE_MS);
    }
    await keys.move(moves);
    await this.parts.refresh();
  }

  /** Moves some records; false where this process lacks a key for it. */
  async #moveRecords(from: KeyFacts, to: KeyFacts): Promise<boolean> {
    const { held, pace, countWraps } = this.parts;
    const keks = { from: held.kek(from.id), to: held.kek(to.id) };
    if (keks.from === null || keks.to === null) return false;
    const isAnew = mustReencrypt(from, held.rows, await this.#compromised());
    const moved = await this.#mover.move({ from: keks.from, to: keks.to, isAnew }, pace.batch);
    countWraps(to.id, moved.sealed);
    const left = Math.max(0, this.#progress.left - moved.kept);
    this.#progress = { ...this.#progress, left, broken: this.#mover.broken };
    return true;
  }

  /** Keys that were made because those before may be known to others. */
  async #compromised(): Promise<ReadonlySet<string>> {
    const { db, held } = this.parts;
    const found = new Set<string>();
    for (const { id, state } of held.rows) {
      if (keyStates[state].opens && (await db.keys.value(compromisedName(id))) !== null) found.add(id);
    }
    return found;
  }

  #retired(): readonly KeyFacts[] {
    return this.parts.held.rows.filter(({ state }) => state === 'retired');
  }

  /** Keeps how far it is. Counting reads the whole index of keys, so it is done seldom. */
  async #note(step: RotationStep): Promise<void> {
    const { clock, held, db } = this.parts;
    const was = this.#progress;
    const phase = phases[step.kind];
    const isNew = phase !== was.phase;
    let { left } = was;
    if (isNew || clock.nowMs() - this.#countedMs >= COUNT_MS) {
      left = 0;
      for (const { id } of this.#retired()) left += await db.credentials.countUnder(id);
      this.#countedMs = clock.nowMs();
    }
    const goal = held.rows.find(({ state }) => state === (phase === 'waiting' ? 'pending' : 'primary'));
    this.#progress = {
      ...{ phase, left, term: goal?.term ?? 0, broken: this.#mover.broken },
      waitsFor: step.kind === 'wait' ? step.waitsFor : [],
      total: isNew ? left : Math.max(was.total, left),
    };
  }

  #tellFault(error: unknown): void {
    const detail = { fault: error instanceof Error ? error.name : 'unknown' };
    this.parts.emit({ type: 'note', level: 'error', what: 'rotation_failed', detail });
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.parts.clock.after(this.parts.pace.pauseMs, resolve);
      this.#rest = { timer, end: resolve };
    });
  }
}
