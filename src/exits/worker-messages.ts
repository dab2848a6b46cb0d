/**
 * What is said between the thread that serves and the one that reads a big list. Types only.
 *
 *   → job
 *   → next        ← rows | parsed | index   one for each `next`: the exits in portions as they are read, what the sources
 *                                           gave in counts, the index; more than one `next` may be on its way
 */
import type { PackedUpstreams } from '../upstreams/packed-upstreams.js';
import type { PoolIndex } from '../upstreams/pool-index.js';
import type { SourceContent, SourceProblem } from '../upstreams/pool-source.js';

/** A source on its way; lists as bytes, so that the worker decodes them. */
export type WorkerSource =
  | Exclude<SourceContent, { kind: 'list' }>
  | (Omit<SourceContent & { kind: 'list' }, 'text'> & { readonly bytes: Uint8Array });

/** To the worker. */
export type ToWorker =
  | { readonly kind: 'job'; readonly pool: string; readonly sources: readonly WorkerSource[] }
  | { readonly kind: 'next' };

/** From the worker. */
export type FromWorker =
  | {
      readonly kind: 'parsed';
      readonly counts: readonly number[];
      readonly problems: readonly SourceProblem[];
    }
  /** Some exits of source number `source`. */
  | { readonly kind: 'rows'; readonly source: number; readonly rows: PackedUpstreams }
  | { readonly kind: 'index'; readonly index: PoolIndex };
