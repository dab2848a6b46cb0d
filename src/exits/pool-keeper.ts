/** Keeps the pools of a configuration up to date with their sources. */
import type { Emit } from '../core/events.js';
import type { TimerWheel } from '../core/timer-wheel.js';
import type { Pool } from '../upstreams/pool.js';
import type { Intern } from './build-pool.js';
import { KeptPool, type Remembered } from './kept-pool.js';
import type { FetchList } from './list-fetch.js';
import type { PoolSources } from './load-pools.js';
import type { MissingLogin } from './source-logins.js';
import type { UpstreamLogins } from './upstream-logins.js';

/** What keeping needs. */
export interface KeeperParts {
  readonly intern: Intern;
  /** Numbers that `intern` gives stay given until the function that it returns is called. */
  readonly hold: () => () => void;
  readonly wheel: TimerWheel;
  readonly emit: Emit;
  readonly fetchList: FetchList;
  readonly logins: UpstreamLogins;
  /** The compiled `list-worker`. */
  readonly workerFile: URL;
  /** Told of a snapshot that takes the place of the one with its name. */
  readonly onSwap: (pool: Pool) => void;
}

/** The pools of one configuration. Opened, then started, then closed. */
export class PoolKeeper {
  readonly #kept = new Map<string, KeptPool>();
  readonly #release: () => void;

  constructor(private readonly parts: KeeperParts) {
    this.#release = parts.hold();
  }

  /**
   * Reads all sources. Bad lines are left out and told of.
   * @param before the keeper of the configuration before: its last good lists and renewed exits are taken over
   * @throws Error when a list file can't be read at all: a gateway without its exits should not start.
   */
  async open(
    specs: readonly PoolSources[],
    before: PoolKeeper | null = null,
  ): Promise<ReadonlyMap<string, Pool>> {
    try {
      for (const spec of specs) {
        const kept = new KeptPool(spec, this.parts, before?.rememberedFor(spec));
        this.#kept.set(spec.name, kept);
        await kept.open();
      }
    } catch (error) {
      this.close();
      throw error;
    }
    return this.pools();
  }

  /** The snapshots as they are now. */
  pools(): ReadonlyMap<string, Pool> {
    const pools = new Map<string, Pool>();
    for (const [name, { pool }] of this.#kept) if (pool !== null) pools.set(name, pool);
    return pools;
  }

  /** Sources without exits because their login is not to be had. */
  missingLogins(): readonly MissingLogin[] {
    return [...this.#kept.values()].flatMap(({ logins }) => logins.missing());
  }

  /** The pools are in force: what was wrong with their sources is told. */
  settle(): void {
    this.#release();
    for (const kept of this.#kept.values()) kept.tellProblems();
  }

  /** Begins to ask for lists again; files are watched since they were read. */
  start(): void {
    for (const kept of this.#kept.values()) kept.start();
  }

  /** An exit was banned for a site. */
  exitBanned(id: string): void {
    for (const kept of this.#kept.values()) kept.exitBanned(id);
  }

  close(): void {
    this.#release();
    for (const kept of this.#kept.values()) kept.close();
  }

  /** What is remembered of the same sources. */
  private rememberedFor(spec: PoolSources): Remembered | undefined {
    const kept = this.#kept.get(spec.name);
    return kept !== undefined && sameSources(kept.spec, spec) ? kept.remembered : undefined;
  }
}

function sameSources(a: PoolSources, b: PoolSources): boolean {
  return (
    a.sources.length === b.sources.length &&
    a.sources.every((source, place) => nameOf(source) === nameOf(b.sources[place]))
  );
}

function nameOf(source: PoolSources['sources'][number] | undefined): string {
  switch (source?.kind) {
    case undefined:
      return '';
    case 'file':
      return `file ${source.file}`;
    case 'template':
      return `template ${source.template.reveal()}`;
    case 'url':
    case 'list':
      return `${source.kind} ${source.url.reveal()}`;
  }
}
