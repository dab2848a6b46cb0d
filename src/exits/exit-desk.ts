/**
 * What an operator does with exits while the gateway runs: look, add, freeze, thaw, drain, remove. Orders hold at once;
 * a change of a pool is a new snapshot, built for all changes of a few milliseconds together.
 */
import type { Clock, Timer } from '../core/clock.js';
import type { Emit } from '../core/events.js';
import type { Pins } from '../state/ports.js';
import { buildPool, type Pool } from '../upstreams/pool.js';
import type { Upstream } from '../upstreams/upstream.js';
import { exitStateOf, type ExitState } from './count-exits.js';
import type { ExitSnapshot } from './effect.js';
import type { Ledger } from './ledger.js';
import type { Order } from './orders.js';
import type { Roster } from './roster.js';
import type { LoginRead } from './upstream-logins.js';

/** Changes that come within this time make one new snapshot. */
const GATHER_MS = 5;
/** Exits looked at for one page. */
const LOOK_AT = 50_000;
/** How often draining exits are looked at. */
const LOOK_MS = 1000;

/** What the desk works with. */
export interface DeskParts {
  readonly ledger: Ledger;
  readonly roster: Roster;
  readonly pins: Pick<Pins, 'countOn'>;
  readonly clock: Clock;
  readonly emit: Emit;
  pools(): ReadonlyMap<string, Pool>;
  /** Puts new snapshots in force. */
  setPools(pools: ReadonlyMap<string, Pool>): void;
  /** Told after exits left: their tunnels and idle connections are to be closed. */
  onRemoved(exits: ReadonlySet<string>): void;
}

/** An exit as a pool's member. */
export interface ExitRow {
  readonly pool: string;
  readonly state: ExitState;
  readonly exit: ExitSnapshot;
}

/** Where an exit stands in its pool's snapshot. */
export interface ExitPlace {
  readonly pool: string;
  readonly index: number;
  readonly id: string;
}

/** Which exits are wanted; null for all. */
export interface ExitQuery {
  readonly pool: string | null;
  readonly state: ExitState | null;
  /** The last place of the page before. */
  readonly after: ExitPlace | null;
  readonly limit: number;
}

/** Some of them; `next` goes on, null at the end. A page may be short, since only so many exits are looked at. */
export interface ExitPage {
  readonly rows: readonly ExitRow[];
  readonly next: ExitPlace | null;
}

/** The desk. */
export class ExitDesk {
  readonly #parts: DeskParts;
  readonly #dirty = new Set<string>();
  #building: Promise<void> | null = null;
  #watch: Timer | null = null;

  constructor(parts: DeskParts) {
    this.#parts = parts;
  }

  /** Members of the pools, pool by pool in the order of their snapshots, from behind `query.after`. */
  page(query: ExitQuery): ExitPage {
    const pools = this.#parts.pools();
    const rows: ExitRow[] = [];
    let looked = 0;
    let last: ExitPlace | null = query.after;
    for (const [name, index, id] of placesFrom(pools, query)) {
      if (rows.length >= query.limit || ++looked > LOOK_AT) return { rows, next: last };
      last = { pool: name, index, id };
      const row = this.#rowAt(name, pools.get(name)?.slots[index] ?? 0);
      if (row !== null && (query.state === null || row.state === query.state)) rows.push(row);
    }
    return { rows, next: null };
  }

  /** One exit in the first pool that has it, or null. */
  row(id: string): ExitRow | null {
    for (const [name, pool] of this.#parts.pools()) {
      const index = pool.indexById.get(id);
      if (index !== undefined) return this.#rowAt(name, pool.slots[index] ?? 0);
    }
    return null;
  }

  #rowAt(pool: string, slot: number): ExitRow | null {
    const { ledger, clock } = this.#parts;
    const exit = ledger.snapshotOf(slot);
    return exit === null ? null : { pool, state: exitStateOf(ledger, slot, clock.nowMs()), exit };
  }

  /** The ledger's number of an exit that is in a pool, or null. */
  slotOf(id: string): number | null {
    for (const pool of this.#parts.pools().values()) {
      const index = pool.indexById.get(id);
      if (index !== undefined) return pool.slots[index] ?? null;
    }
    return null;
  }

  /** Adds an exit to a pool. False when the pool has it already. Resolves when it may be chosen. */
  async add(pool: string, upstream: Upstream, by: string): Promise<boolean> {
    const isNew = this.#parts.pools().get(pool)?.indexById.has(upstream.id) === false;
    if (!isNew) return false;
    this.#parts.roster.add(pool, upstream);
    await this.#changed(pool);
    this.#tell('exit_added', upstream, { pool, by });
    return true;
  }

  /**
   * Exits that were added with a credential have its login as it is now; they are removed where there is none any more. A
   * login that was refused, and is another now, may be right.
   */
  async relogin(credential: string, read: LoginRead): Promise<void> {
    const { roster, ledger, clock } = this.#parts;
    if (read.kind === 'none') {
      for (const id of roster.credentials().get(credential) ?? [])
        await this.remove(id, `vault:${credential}`);
      return;
    }
    const { username, password } = read;
    const changed = roster.relogin(credential, { username, password });
    await Promise.all([...changed.keys()].map((pool) => this.#changed(pool)));
    for (const { id } of [...changed.values()].flat()) {
      const slot = this.slotOf(id);
      if (slot !== null) ledger.lift(slot, null, clock.nowMs());
    }
  }

  /** Freezes an exit, or takes back what was ordered (null). False where no pool has it. */
  order(id: string, order: 'frozen' | null, by: string): boolean {
    const slot = this.slotOf(id);
    if (slot === null) return false;
    this.#give(slot, order, by);
    return true;
  }

  /** Drains an exit: it leaves when nobody uses it. Resolves with whether it has left already; null: no pool has it. */
  async drain(id: string, by: string): Promise<boolean | null> {
    const slot = this.slotOf(id);
    if (slot === null) return null;
    this.#give(slot, 'draining', by);
    await this.removeDrained();
    this.#watchDraining();
    return this.slotOf(id) === null;
  }

  /** Removes an exit from all pools, at once. False where none has it. */
  async remove(id: string, by: string): Promise<boolean> {
    const slot = this.slotOf(id);
    if (slot === null) return false;
    await this.#removeAll([slot], by);
    return true;
  }

  /** Removes the draining exits that have no session left and nothing in flight. */
  async removeDrained(): Promise<void> {
    const { ledger, pins } = this.#parts;
    const idle = ledger.orders.withOrder('draining').filter((slot) => ledger.inFlight(slot) === 0);
    if (idle.length === 0) return;
    const idOf = (slot: number): string => ledger.snapshotOf(slot)?.upstream.id ?? '';
    const counts = await pins.countOn(new Set(idle.map(idOf)));
    const over = idle.filter((slot) => !counts.has(idOf(slot)) && ledger.inFlight(slot) === 0);
    if (over.length > 0) await this.#removeAll(over, 'drain');
  }

  /** No more looking. */
  close(): void {
    this.#watch?.cancel();
    this.#watch = null;
  }

  #give(slot: number, order: Order | null, by: string): void {
    const { ledger } = this.#parts;
    const upstream = ledger.snapshotOf(slot)?.upstream;
    if (upstream === undefined || ledger.orders.of(slot) === order) return;
    if (order === null) ledger.orders.lift(slot);
    else ledger.orders.give(slot, order);
    const what = order === null ? 'exit_thawed' : order === 'frozen' ? 'exit_frozen' : 'exit_draining';
    this.#tell(what, upstream, { by });
  }

  async #removeAll(slots: readonly number[], by: string): Promise<void> {
    const { ledger, roster } = this.#parts;
    const leaving = slots.flatMap((slot) => ledger.snapshotOf(slot)?.upstream ?? []);
    const changes: Promise<void>[] = [];
    for (const upstream of leaving) {
      for (const [name, pool] of this.#parts.pools()) {
        if (!pool.indexById.has(upstream.id)) continue;
        roster.remove(name, upstream.id);
        changes.push(this.#changed(name));
      }
    }
    await Promise.all(changes);
    for (const slot of slots) ledger.orders.lift(slot);
    for (const upstream of leaving) this.#tell('exit_removed', upstream, { by });
    this.#parts.onRemoved(new Set(leaving.map(({ id }) => id)));
  }

  /** Looks every second as long as anything drains. */
  #watchDraining(): void {
    const { ledger, clock } = this.#parts;
    if (this.#watch !== null || ledger.orders.withOrder('draining').length === 0) return;
    const look = async (): Promise<void> => {
      try {
        await this.removeDrained();
      } catch (error) {
        const reason = error instanceof Error ? error.name : 'unknown';
        this.#parts.emit({ type: 'note', level: 'warn', what: 'drain_not_checked', detail: { reason } });
      }
      if (this.#watch === null) return;
      this.#watch = null;
      this.#watchDraining();
    };
    this.#watch = clock.after(LOOK_MS, () => void look());
  }

  #changed(pool: string): Promise<void> {
    this.#dirty.add(pool);
    this.#building ??= new Promise<void>((resolve, reject) => {
      this.#parts.clock.after(GATHER_MS, () => {
        this.#building = null;
        try {
          this.#rebuild();
          resolve();
        } catch (error) {
          reject(error instanceof Error ? error : new Error('a pool could not be built'));
        }
      });
    });
    return this.#building;
  }

  #rebuild(): void {
    const { ledger, roster, clock } = this.#parts;
    const pools = new Map(this.#parts.pools());
    for (const name of this.#dirty) {
      const pool = pools.get(name);
      if (pool === undefined) continue;
      const spec = { ...pool, upstreams: roster.current(pool) };
      pools.set(
        name,
        buildPool(spec, (upstream) => ledger.intern(upstream)),
      );
    }
    this.#dirty.clear();
    ledger.applyPools(pools.values(), clock.nowMs());
    this.#parts.setPools(pools);
  }

  #tell(what: string, upstream: Upstream, detail: Record<string, string>): void {
    const { id, label } = upstream;
    this.#parts.emit({ type: 'note', level: 'info', what, detail: { exit: id, label, ...detail } });
  }
}

/** Places of all members that a query is about, from behind the place it names. */
function* placesFrom(
  pools: ReadonlyMap<string, Pool>,
  { pool: wanted, after }: ExitQuery,
): Generator<[pool: string, index: number, id: string]> {
  let isBehind = after === null || !pools.has(after.pool);
  for (const [name, pool] of pools) {
    const isHere = !isBehind && name === after?.pool;
    if (isHere) isBehind = true;
    if (!isBehind || (wanted !== null && wanted !== name)) continue;
    // The snapshot may be another than that of the page before: the exit itself says where to go on.
    const first = isHere ? (pool.indexById.get(after?.id ?? '') ?? (after?.index ?? 0) - 1) + 1 : 0;
    for (let index = first; index < pool.upstreams.length; index++) {
      yield [name, index, pool.upstreams[index]?.id ?? ''];
    }
  }
}
