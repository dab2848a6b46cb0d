/** From what the sources of a pool hold, to its upstreams: lists, single URLs, templates. The same in any thread. */
import { readList, type ListEntry, type ListProblem } from './list.js';
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

/** Reads the sources of one pool at once. */
export function readSources(pool: string, sources: readonly SourceContent[]): PoolContent {
  const upstreams: Upstream[] = [];
  const counts: number[] = [];
  const problems: SourceProblem[] = [];
  const reader = new SourceReader(pool, sources.length);
  for (const source of sources) {
    const before = upstreams.length;
    for (const entry of reader.read(source)) {
      if (entry.kind === 'upstream') upstreams.push(entry.upstream);
      else problems.push(reader.problemOf(source, entry));
    }
    counts.push(upstreams.length - before);
  }
  return { upstreams, counts, problems };
}

/** Reads the sources of one pool, one after the other; an exit that an earlier one had is passed over. */
export class SourceReader {
  /** Ids of all sources; null where there is only one, which has each id once anyway. */
  readonly #seen: Set<string> | null;

  constructor(
    private readonly pool: string,
    sources: number,
  ) {
    this.#seen = sources > 1 ? new Set() : null;
  }

  /** What the next source gives. */
  *read(source: SourceContent): Generator<ListEntry> {
    for (const entry of readOne(this.pool, source)) {
      if (entry.kind === 'upstream' && this.#seen !== null) {
        if (this.#seen.has(entry.upstream.id)) continue;
        this.#seen.add(entry.upstream.id);
      }
      yield entry;
    }
  }

  /** A fault of a source, for people. */
  problemOf({ name: source }: SourceContent, { line, reason }: ListProblem): SourceProblem {
    return { pool: this.pool, source, line, reason };
  }
}

/** The exits of a template source; nothing where the template is none. */
export function exitsOf(
  pool: string,
  source: SourceContent & { readonly kind: 'template' },
): readonly Upstream[] {
  const parsed = parseTemplate(source.text, source.options);
  return parsed.kind === 'bad' ? [] : templateExits(parsed.template, { pool, ...source });
}

function* readOne(pool: string, source: SourceContent): Generator<ListEntry> {
  if (source.kind === 'list') {
    yield* readList(source.text, source.options, source.from);
    return;
  }
  if (source.kind === 'url') {
    const parsed = parseUpstreamUrl(source.url, source.options);
    yield parsed.kind === 'upstream' ? parsed : { kind: 'problem', line: 0, reason: parsed.reason };
    return;
  }
  const parsed = parseTemplate(source.text, source.options);
  if (parsed.kind === 'bad') yield { kind: 'problem', line: 0, reason: parsed.reason };
  for (const upstream of exitsOf(pool, source)) yield { kind: 'upstream', upstream };
}
