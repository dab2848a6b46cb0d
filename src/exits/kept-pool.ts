/**
 * One pool that is kept up to date: its files are watched, its lists asked for, its logins taken from the vault, the exits
 * of its templates renewed after a ban. A new snapshot replaces the old one whole; what can't be read, or has nothing in it all of a sudden, changes nothing.
 */
import type { Deadline } from '../core/timer-wheel.js';
import { buildPool, type Pool } from '../upstreams/pool.js';
import { exitsOf } from '../upstreams/pool-source.js';
import type { SourceProblem } from '../upstreams/pool-source.js';
import type { Upstream } from '../upstreams/upstream.js';
import { buildPoolFrom, type BuiltPool } from './build-pool.js';
import { fetchSource, readPoolSources, templateContent } from './load-pools.js';
import type { FetchedBytes, ListSource, PoolSources, SourceMemory } from './load-pools.js';
import type { KeeperParts } from './pool-keeper.js';
import { SourceLogins } from './source-logins.js';
import { FileWatch } from './watch-files.js';

/** Bans come in showers; exits are renewed together. */
const RENEW_AFTER_MS = 1000;
/** After a failure a list is asked for again at least this often. */
const RETRY_MS = 60_000;

/** Larger pools are read anew, in a thread, to renew exits. */
const RENEWED_AT_ONCE = 20_000;
const RENEWED = 'exits of a template took new sessions';

/** What the next keeper of the same sources goes on with. */
export interface Remembered {
  readonly memory: SourceMemory;
  /** Exits that each source had. */
  readonly counts: readonly number[];
}

/** A pool with its sources. */
export class KeptPool {
  pool: Pool | null = null;
  private counts: readonly number[] = [];
  private problems: readonly SourceProblem[] = [];
  readonly logins: SourceLogins;
  private told = '';
  private readonly memory: SourceMemory;
  private watch: FileWatch | null = null;
  private readonly refreshing: Deadline[] = [];
  private renewing: Deadline | null = null;
  private isClosed = false;
  /** One reading after the other. */
  private turn: Promise<unknown> = Promise.resolve();
  private isReadingAsked = false;

  constructor(
    readonly spec: PoolSources,
    private readonly parts: KeeperParts,
    before?: Remembered,
  ) {
    this.memory = before?.memory ?? { lists: new Map(), epochs: new Map() };
    this.counts = before?.counts ?? [];
    this.logins = new SourceLogins(spec, parts);
  }

  /** Reads everything for the first time. @throws Error when a file can't be read or the pool can't be built */
  open(): Promise<Pool> {
    const opened = this.readFirst();
    this.turn = opened.catch(() => undefined);
    return opened;
  }

  private async readFirst(): Promise<Pool> {
    const { sources } = this.spec;
    const files = sources.flatMap((source) => (source.kind === 'file' ? [source.file] : []));
    this.watch = new FileWatch(files, (file) => this.askReading(`${file} changed`), this.parts.wheel);
    await this.watch.settle();
    this.logins.watch(() => this.askReading('a login of the vault is another'));
    const lists = new Map(this.memory.lists);
    await Promise.all(
      sources.map((source, place) =>
        source.kind === 'list' ? this.fetch(source, place) : Promise.resolve(null),
      ),
    );
    const built = await this.buildOn(lists);
    this.take(built);
    return built.pool;
  }

  /** Builds; a list that had exits and came without any is that of before. @throws Error when a file has none any more */
  private async buildOn(lists: SourceMemory['lists']): Promise<BuiltPool> {
    const built = await this.build();
    const back = this.emptied(built).filter((place) => this.spec.sources[place]?.kind === 'list');
    for (const place of back) restore(this.memory.lists, place, lists.get(place));
    const again = back.length === 0 ? built : await this.build();
    this.checkLeft(again);
    return again;
  }

  /** Begins to ask for lists again. */
  start(): void {
    this.spec.sources.forEach((source, place) => {
      if (source.kind === 'list') this.refreshLater(source, place, this.memory.lists.has(place));
    });
  }

  close(): void {
    this.isClosed = true;
    this.watch?.close();
    this.logins.close();
    this.renewing?.cancel();
    for (const deadline of this.refreshing) deadline.cancel();
  }

  /** What the next keeper of the same sources may go on with. */
  get remembered(): Remembered {
    const { counts, memory } = this;
    // Lists are its own from here on: it may be given up, and this one go on. Exits' sessions go on with either.
    return { counts, memory: { lists: new Map(memory.lists), epochs: memory.epochs } };
  }

  /** An exit of a template that is banned for a site takes a new session, a second later. */
  exitBanned(id: string): void {
    const index = this.pool?.indexById.get(id);
    const seat = index === undefined ? undefined : this.pool?.upstreams[index]?.template;
    if (index === undefined || seat === undefined) return;
    const place = this.sourceOf(index);
    const epochs = this.memory.epochs.get(place) ?? new Map<number, number>();
    this.memory.epochs.set(place, epochs.set(seat.index, seat.epoch + 1));
    this.renewing ??= this.parts.wheel.arm(RENEW_AFTER_MS, () => {
      this.renewing = null;
      this.inTurn(() => this.renew());
    });
  }

  private sourceOf(index: number): number {
    let end = 0;
    return this.counts.findIndex((count) => index < (end += count));
  }

  /** The pool with new exits in the place of those that were banned; nothing is read for it. */
  private async renew(): Promise<void> {
    const { pool } = this;
    if (pool === null || this.isClosed) return;
    if (pool.upstreams.length > RENEWED_AT_ONCE) {
      await this.reread(RENEWED);
      return;
    }
    const upstreams: Upstream[] = [];
    let at = 0;
    this.spec.sources.forEach((source, place) => {
      const end = at + (this.counts[place] ?? 0);
      const options = this.logins.optionsOf(source, place);
      if (source.kind === 'template' && options !== null) {
        const content = templateContent({ ...source, options }, this.memory.epochs.get(place));
        for (const exit of exitsOf(pool.name, content)) upstreams.push(exit);
      } else {
        for (let index = at; index < end; index++) {
          const upstream = pool.upstreams[index];
          if (upstream !== undefined) upstreams.push(upstream);
        }
      }
      at = end;
    });
    this.pool = buildPool({ ...this.spec, upstreams }, this.parts.intern);
    this.swapped(RENEWED);
  }

  private askReading(reason: string): void {
    if (this.isReadingAsked || this.isClosed) return;
    this.isReadingAsked = true;
    this.inTurn(async () => {
      this.isReadingAsked = false;
      await this.reread(reason);
    });
  }

  private inTurn(work: () => Promise<void>): void {
    this.turn = this.turn.then(work, work);
  }

  /** Reads everything anew; true when it is in use. */
  private async reread(reason: string): Promise<boolean> {
    if (this.isClosed) return false;
    const release = this.parts.hold();
    try {
      const built = await this.build();
      if (this.isClosed) return false;
      this.checkLeft(built);
      this.take(built);
      this.swapped(reason);
      this.tellProblems();
      return true;
    } catch (error) {
      this.tell('kept', error instanceof Error ? error.message : 'the sources can not be read');
      return false;
    } finally {
      release();
    }
  }

  private async build(): Promise<BuiltPool> {
    await this.logins.refresh();
    const sources = await readPoolSources(this.spec, this.memory, this.logins);
    return buildPoolFrom(this.spec, sources, this.parts);
  }

  /** @throws Error when a list that had exits has none: half-written, or the page of a vendor that is down */
  private checkLeft(built: BuiltPool): void {
    const [place] = this.emptied(built);
    if (place === undefined) return;
    throw new Error(`source ${place + 1} of pool ${this.spec.name} has no upstream any more`);
  }

  /** The lists that had exits and have none. */
  private emptied({ counts }: BuiltPool): number[] {
    return [...counts.keys()].filter((place) => {
      const kind = this.spec.sources[place]?.kind;
      const isList = kind === 'file' || kind === 'list';
      // Without its login a list has no exits, whatever it holds.
      if (this.logins.isMissing(place)) return false;
      return isList && counts[place] === 0 && (this.counts[place] ?? 0) > 0;
    });
  }

  private take({ pool, counts, problems }: BuiltPool): void {
    this.pool = pool;
    this.counts = counts;
    this.problems = problems;
  }

  /** Tells what is wrong with the sources of the pool in force; the same complaints are made once. */
  tellProblems(): void {
    this.logins.tell();
    const all = JSON.stringify(this.problems);
    if (all === this.told) return;
    this.told = all;
    for (const problem of this.problems) {
      this.parts.emit({ type: 'note', level: 'warn', what: 'bad_upstream', detail: { ...problem } });
    }
  }

  private swapped(reason: string): void {
    if (this.pool !== null) this.parts.onSwap(this.pool);
    this.tell('swapped', reason);
  }

  private tell(outcome: 'swapped' | 'kept', reason: string): void {
    const exits = this.pool?.upstreams.length ?? 0;
    this.parts.emit({ type: 'pool_loaded', pool: this.spec.name, outcome, exits, reason });
  }

  private refreshLater(source: ListSource, place: number, isGood: boolean): void {
    if (this.isClosed) return;
    const waitMs = isGood ? source.refreshMs : Math.min(source.refreshMs, RETRY_MS);
    this.refreshing[place] = this.parts.wheel.arm(waitMs, () => {
      this.inTurn(async () => this.refreshLater(source, place, await this.refresh(source, place)));
    });
  }

  /** Asks for a list and takes it into use; the one before stays where it is no better. */
  private async refresh(source: ListSource, place: number): Promise<boolean> {
    const before = this.memory.lists.get(place);
    const outcome = this.isClosed ? null : await this.fetch(source, place);
    if (outcome !== 'fresh') return outcome === 'unchanged';
    if (await this.reread('a list came anew')) return true;
    restore(this.memory.lists, place, before);
    return false;
  }

  private async fetch(source: ListSource, place: number): Promise<'fresh' | 'unchanged' | 'failed'> {
    const fetched = await fetchSource(source, this.memory.lists.get(place), this.parts.fetchList);
    if (fetched.kind === 'fresh') this.memory.lists.set(place, fetched);
    const reason = fetched.kind === 'failed' ? fetched.reason : '';
    this.parts.emit({ type: 'list_fetched', pool: this.spec.name, outcome: fetched.kind, reason });
    return fetched.kind;
  }
}

function restore(lists: SourceMemory['lists'], place: number, before: FetchedBytes | undefined): void {
  if (before === undefined) lists.delete(place);
  else lists.set(place, before);
}
