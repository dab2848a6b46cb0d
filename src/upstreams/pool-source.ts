/** From what the sources of a pool hold, to its upstreams: lists, single URLs, templates. The same in any thread. */
import { parseList } from './list.js';
import { parseTemplate, templateExits } from './template.js';
import { parseUpstreamUrl } from './upstream.js';
import type { Upstream, UpstreamOptions } from './upstream.js';

/** One source with what was read from it; plain data, so that it can be sent to another thread. */
export type SourceContent =
  | {
      readonly kind: 'list';
      readonly name: string;
      readonly from: 'file' | 'server';
      readonly text: string;
      readonly options: UpstreamOptions;
    }
  | { readonly kind: 'url'; readonly name: string; readonly url: string; readonly options: UpstreamOptions }
  | {
      readonly kind: 'template';
      readonly name: string;
      readonly text: string;
      readonly exits: number;
      /** How often each exit has taken a new session; missing: never. */
      readonly epochs: ReadonlyMap<number, number>;
      readonly options: UpstreamOptions;
    };

/** A line or URL that gave no upstream. Line 0: the whole source. Never holds a password. */
export interface SourceProblem {
  readonly pool: string;
  readonly source: string;
  readonly line: number;
  readonly reason: string;
}

/** What the sources of a pool gave. */
export interface PoolContent {
  /** Each id once, where it stands first. */
  readonly upstreams: readonly Upstream[];
  /** How many of them come from each source, in order. */
  readonly counts: readonly number[];
  readonly problems: readonly SourceProblem[];
}

/** Reads the sources of one pool. */
export function readSources(pool: string, sources: readonly SourceContent[]): PoolContent {
  const upstreams: Upstream[] = [];
  const counts: number[] = [];
  const problems: SourceProblem[] = [];
  const seen = new Set<string>();
  for (const source of sources) {
    const before = upstreams.length;
    const report = (line: number, reason: string): void => {
      problems.push({ pool, source: source.name, line, reason });
    };
    for (const upstream of readOne(pool, source, report)) {
      if (seen.has(upstream.id)) continue;
      seen.add(upstream.id);
      upstreams.push(upstream);
    }
    counts.push(upstreams.length - before);
  }
  return { upstreams, counts, problems };
}

/** The exits of a template source; nothing where the template is none. */
export function exitsOf(
  pool: string,
  source: SourceContent & { readonly kind: 'template' },
): readonly Upstream[] {
  const parsed = parseTemplate(source.text, source.options);
  return parsed.kind === 'bad' ? [] : templateExits(parsed.template, { pool, ...source });
}

function readOne(
  pool: string,
  source: SourceContent,
  report: (line: number, reason: string) => void,
): readonly Upstream[] {
  if (source.kind === 'list') {
    const { entries, problems } = parseList(source.text, source.options, source.from);
    for (const { line, reason } of problems) report(line, reason);
    return entries;
  }
  if (source.kind === 'url') {
    const parsed = parseUpstreamUrl(source.url, source.options);
    if (parsed.kind === 'upstream') return [parsed.upstream];
    report(0, parsed.reason);
    return [];
  }
  const parsed = parseTemplate(source.text, source.options);
  if (parsed.kind === 'bad') report(0, parsed.reason);
  return exitsOf(pool, source);
}
