/**
 * Puts records under another key of keys, some at a time. A record that was changed meanwhile is left to the next time; one that
 * doesn't open is named once and then passed over, so that it doesn't hold up the others.
 */
import { afterTurn } from '../core/clock.js';
import type { Emit } from '../core/events.js';
import type { CredentialRecords, SealedSecret } from '../storage/credential-ports.js';
import { type Chance, type Kek, placeOfSecret, reencrypt, rewrap } from './envelope.js';

/** Opening and sealing so many takes a few milliseconds. */
const AT_ONCE = 50;

const nameOf = ({ id, version }: SealedSecret): string => `${id}/${version}`;

/** From which key to which, and whether records get new keys of their own. */
export interface Move {
  readonly from: Kek;
  readonly to: Kek;
  readonly isAnew: boolean;
}

/** Moves records; knows which don't open. */
export class RecordMover {
  /** Records that don't open, by the key that they are kept under. */
  readonly #broken = new Map<string, Set<string>>();

  constructor(
    private readonly credentials: Pick<CredentialRecords, 'sealedUnder' | 'reseal'>,
    private readonly chance: Chance,
    private readonly emit: Emit,
  ) {}

  /** How many don't open. */
  get broken(): number {
    return [...this.#broken.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Records under a key, but those that are known not to open. */
  async under(id: string, limit: number): Promise<readonly SealedSecret[]> {
    const broken = this.#broken.get(id);
    const records = await this.credentials.sealedUnder(id, limit + (broken?.size ?? 0));
    return broken === undefined ? records : records.filter((record) => !broken.has(nameOf(record)));
  }

  /** Moves at most so many. `sealed`: how many were; `kept`: how many of them nobody had changed meanwhile. */
  async move(move: Move, limit: number): Promise<{ readonly sealed: number; readonly kept: number }> {
    const seals: (SealedSecret & { readonly from: string })[] = [];
    for (const [at, record] of (await this.under(move.from.id, limit)).entries()) {
      if (at % AT_ONCE === AT_ONCE - 1) await new Promise<void>(afterTurn);
      const sealed = this.#moved(record, move);
      if (sealed !== null) seals.push(sealed);
    }
    return { sealed: seals.length, kept: seals.length === 0 ? 0 : await this.credentials.reseal(seals) };
  }

  #moved(
    record: SealedSecret,
    { from, to, isAnew }: Move,
  ): (SealedSecret & { readonly from: string }) | null {
    const { id, version } = record;
    const change = isAnew ? reencrypt : rewrap;
    const result = change(placeOfSecret(id, version), record.sealed, { from, to }, this.chance);
    if (result.kind === 'rewrapped')
      return { id, version, from: from.id, kekId: to.id, sealed: result.sealed };
    const broken = this.#broken.get(from.id) ?? new Set();
    this.#broken.set(from.id, broken.add(nameOf(record)));
    const detail = { id, version, why: result.why };
    this.emit({ type: 'note', level: 'error', what: 'sealed_secret_broken', detail });
    return null;
  }
}
