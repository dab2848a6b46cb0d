/**
 * From what the sources of a pool hold to its snapshot: at once where there is little to read, else in a thread of its
 * own while this one goes on serving.
 */
import { Worker } from 'node:worker_threads';
import { KETAMA_MAX } from '../upstreams/ketama.js';
import { IdMap } from '../upstreams/id-map.js';
import { unpackUpstreams } from '../upstreams/packed-upstreams.js';
import { assemblePool, buildPool, type Pool, type PoolRules } from '../upstreams/pool.js';
import { exitsOf, readSources } from '../upstreams/pool-source.js';
import type { SourceContent, SourceProblem } from '../upstreams/pool-source.js';
import type { Upstream } from '../upstreams/upstream.js';
import { contentOf } from './sources.js';
import type { FromWorker, ToWorker, WorkerSource } from './worker-messages.js';

/** Lists longer than this, together, go to a thread: about 5,000 lines, ten milliseconds. */
export const INLINE_BYTES = 256 * 1024;

/** Portions asked for ahead, so that both threads are at work. */
const AHEAD = 3;

/** Room for the young objects of the thread: what it makes lives for a portion, and would else be copied over and over. */
const YOUNG_MIB = 96;

/** Gives an upstream its slot in the ledger. */
export type Intern = (upstream: Upstream) => number;

/** A pool, and what was wrong with its sources. */
export interface BuiltPool {
  readonly pool: Pool;
  /** Exits of each source. */
  readonly counts: readonly number[];
  readonly problems: readonly SourceProblem[];
}

/** What building needs. */
export interface BuildParts {
  readonly intern: Intern;
  /** The compiled `list-worker`. */
  readonly workerFile: URL;
}

/**
 * Builds a pool. The bytes of lists are given away.
 * @throws Error when there are too many exits for the rules, or the thread fails
 */
export async function buildPoolFrom(
  rules: PoolRules,
  sources: readonly WorkerSource[],
  parts: BuildParts,
): Promise<BuiltPool> {
  const bytes = sources.reduce((sum, source) => sum + (source.kind === 'list' ? source.bytes.length : 0), 0);
  if (bytes > INLINE_BYTES) return buildInThread(rules, sources, parts);
  const { upstreams, counts, problems } = readSources(rules.name, sources.map(contentOf));
  checkSize(rules, upstreams.length);
  return { pool: buildPool({ ...rules, upstreams }, parts.intern), counts, problems };
}

/** @throws Error where a ring of ketama would get too slow */
export function checkSize(rules: PoolRules, exits: number): void {
  if (rules.algorithm !== 'ketama' || exits <= KETAMA_MAX) return;
  throw new Error(
    `pool ${rules.name}: algorithm ketama is for at most ${KETAMA_MAX} upstreams, not ${exits}`,
  );
}

function buildInThread(
  rules: PoolRules,
  sources: readonly WorkerSource[],
  parts: BuildParts,
): Promise<BuiltPool> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(parts.workerFile, { resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MIB } });
    const say = (message: ToWorker, transfer: ArrayBuffer[] = []): void =>
      worker.postMessage(message, transfer);
    const assembly = new Assembly(rules, sources, parts.intern);
    const settle = (conclude: () => void): void => {
      worker.removeAllListeners();
      // Nothing waits for its end: it has nothing left to say.
      worker.on('error', () => undefined);
      void worker.terminate();
      conclude();
    };
    const fail = (error: unknown): void =>
      settle(() => reject(error instanceof Error ? error : new Error('the thread that reads lists failed')));
    worker.on('error', fail);
    worker.on('exit', () => fail(null));
    worker.on('message', (message: FromWorker) => {
      try {
        const built = assembly.take(message);
        if (built === null) say({ kind: 'next' });
        else settle(() => resolve(built));
      } catch (error) {
        fail(error);
      }
    });
    const buffers = sources.flatMap((source) => (source.kind === 'list' ? [ownBuffer(source.bytes)] : []));
    say(
      { kind: 'job', pool: rules.name, sources },
      buffers.filter((buffer) => buffer !== null),
    );
    for (let n = 0; n < AHEAD; n++) say({ kind: 'next' });
  });
}

/** The buffer of these bytes, where nobody else lives in it. */
function ownBuffer(bytes: Uint8Array): ArrayBuffer | null {
  const { buffer } = bytes;
  return buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength ? buffer : null;
}

/** Puts a pool together from what the thread says, a portion at a time. */
class Assembly {
  private readonly upstreams: Upstream[] = [];
  private readonly indexById = new IdMap();
  private slots = new Uint32Array(1024);
  private counts: readonly number[] = [];
  private problems: readonly SourceProblem[] = [];

  constructor(
    private readonly rules: PoolRules,
    private readonly sources: readonly WorkerSource[],
    private readonly intern: Intern,
  ) {}

  /** Takes a message; the pool when it was the last. @throws Error when there are too many exits for the rules */
  take(message: FromWorker): BuiltPool | null {
    if (message.kind === 'rows') {
      const source = this.sources[message.source];
      if (source?.kind === 'template') this.addTemplate(source);
      else for (const upstream of unpackUpstreams(message.rows, source?.options ?? {})) this.add(upstream);
      checkSize(this.rules, this.upstreams.length);
      return null;
    }
    if (message.kind === 'parsed') {
      this.counts = message.counts;
      this.problems = message.problems;
      return null;
    }
    const { upstreams, indexById, counts, problems } = this;
    const slots = this.slots.slice(0, upstreams.length);
    const pool = assemblePool(this.rules, { upstreams, indexById, slots, index: message.index });
    return { pool, counts, problems };
  }

  /** Exits of a template know more than columns can say, and are made here again, with the first of their portions. */
  private addTemplate(source: SourceContent & { readonly kind: 'template' }): void {
    for (const upstream of exitsOf(this.rules.name, source)) {
      if (!this.indexById.has(upstream.id)) this.add(upstream);
    }
  }

  private add(upstream: Upstream): void {
    const index = this.upstreams.length;
    if (index >= this.slots.length) {
      const longer = new Uint32Array(index * 2);
      longer.set(this.slots);
      this.slots = longer;
    }
    this.upstreams.push(upstream);
    this.indexById.set(upstream.id, index);
    this.slots[index] = this.intern(upstream);
  }
}
