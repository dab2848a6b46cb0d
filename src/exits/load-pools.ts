/** From the sources that a configuration names to pools, with everything that was wrong in them. */
import type { Secret } from '../core/secret.js';
import { buildPool, type Pool, type PoolRules } from '../upstreams/pool.js';
import { KETAMA_MAX } from '../upstreams/ketama.js';
import { parseUpstreamUrl, type Upstream, type UpstreamOptions } from '../upstreams/upstream.js';
import { loadFile } from './sources.js';

/** Where upstreams of a pool come from. */
export type PoolSource =
  | { readonly kind: 'file'; readonly file: string; readonly options: UpstreamOptions }
  | { readonly kind: 'url'; readonly url: Secret; readonly options: UpstreamOptions };

/** A pool as configured. */
export interface PoolSources extends PoolRules {
  readonly sources: readonly PoolSource[];
}

/** A line or URL that gave no upstream. Line 0: the whole source. Never holds a password. */
export interface SourceProblem {
  readonly pool: string;
  readonly source: string;
  readonly line: number;
  readonly reason: string;
}

/** What the sources gave. */
export interface LoadedPools {
  readonly pools: ReadonlyMap<string, Pool>;
  readonly problems: readonly SourceProblem[];
}

/**
 * Reads all sources. Bad lines are left out and told of.
 * @throws Error when a list file can't be read at all: a gateway without its exits should not start.
 */
export async function loadPools(
  specs: readonly PoolSources[],
  intern: (upstream: Upstream) => number,
): Promise<LoadedPools> {
  const pools = new Map<string, Pool>();
  const problems: SourceProblem[] = [];
  for (const spec of specs) {
    const upstreams: Upstream[] = [];
    for (const source of spec.sources) {
      // One by one: a spread of a million arguments overflows the stack.
      for (const upstream of await read(spec.name, source, problems)) upstreams.push(upstream);
    }
    if (spec.algorithm === 'ketama' && upstreams.length > KETAMA_MAX) {
      throw new Error(`pool ${spec.name}: algorithm ketama is for at most ${KETAMA_MAX} upstreams`);
    }
    pools.set(spec.name, buildPool({ ...spec, upstreams }, intern));
  }
  return { pools, problems };
}

async function read(
  pool: string,
  source: PoolSource,
  problems: SourceProblem[],
): Promise<readonly Upstream[]> {
  if (source.kind === 'url') {
    const parsed = parseUpstreamUrl(source.url.reveal(), source.options);
    if (parsed.kind === 'upstream') return [parsed.upstream];
    problems.push({ pool, source: 'url', line: 0, reason: parsed.reason });
    return [];
  }
  const list = await loadFile(source.file, source.options);
  if (!list.isRead)
    throw new Error(`pool ${pool}: ${list.problems[0]?.reason ?? `${source.file} can not be read`}`);
  for (const problem of list.problems) problems.push({ pool, source: source.file, ...problem });
  return list.upstreams;
}
