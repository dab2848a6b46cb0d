/** From the sources that a configuration names to what they hold: files are read, list URLs fetched. */
import type { Secret } from '../core/secret.js';
import { parseAllowEntry } from '../protocol/target.js';
import type { PoolRules } from '../upstreams/pool.js';
import type { UpstreamOptions } from '../upstreams/upstream.js';
import type { FetchedList, FetchList, ListStamp } from './list-fetch.js';
import { readListFile } from './sources.js';
import type { SourceLogins } from './source-logins.js';
import type { WorkerSource } from './worker-messages.js';

/** What all sources have. */
interface AnySource {
  readonly options: UpstreamOptions;
  /** Key of the login of all its upstreams in the vault; not there where they have their own, or none. */
  readonly credential?: string;
}

/** Where upstreams of a pool come from. URLs and templates may hold logins, so they are secrets. */
export type PoolSource =
  | (AnySource & { readonly kind: 'file'; readonly file: string })
  | (AnySource & { readonly kind: 'url'; readonly url: Secret })
  | ListSource
  | TemplateSource;

/** A list that a server has. */
export interface ListSource extends AnySource {
  readonly kind: 'list';
  readonly url: Secret;
  /** How often it is asked for. */
  readonly refreshMs: number;
  /** Special addresses that it may come from, as `targets.allow` writes them. */
  readonly allow: readonly string[];
}

/** One endpoint, many exits. */
export interface TemplateSource extends AnySource {
  readonly kind: 'template';
  readonly template: Secret;
  readonly exits: number;
}

/** A pool as configured. */
export interface PoolSources extends PoolRules {
  readonly sources: readonly PoolSource[];
}

/** A list as it came last. */
export interface FetchedBytes {
  readonly bytes: Uint8Array;
  readonly stamp: ListStamp;
}

/** What of a pool's sources is remembered from one reading to the next, by their number. */
export interface SourceMemory {
  readonly lists: Map<number, FetchedBytes>;
  /** By the exit's number in its template: how often it has taken a new session. */
  readonly epochs: Map<number, Map<number, number>>;
}

/**
 * What the sources of a pool hold now. Lists by URL are those that are remembered; one that never came is empty, and so is
 * a source whose login is not to be had: without it, or with another, nobody may be asked.
 * @throws Error when a file can't be read
 */
export async function readPoolSources(
  spec: PoolSources,
  memory: SourceMemory,
  logins: Pick<SourceLogins, 'optionsOf'>,
): Promise<WorkerSource[]> {
  const contents: WorkerSource[] = [];
  for (const [place, source] of spec.sources.entries()) {
    const options = logins.optionsOf(source, place);
    contents.push(
      options === null
        ? emptyOf(source)
        : await contentOf(spec.name, { ...source, options }, { place, memory }),
    );
  }
  return contents;
}

function emptyOf({ kind: name, options }: PoolSource): WorkerSource {
  return { kind: 'list', name, from: 'file', bytes: new Uint8Array(0), options };
}

/** What a template source is made of, for its exits. */
export function templateContent(
  source: TemplateSource,
  epochs: ReadonlyMap<number, number> | undefined,
): Extract<WorkerSource, { kind: 'template' }> {
  return {
    ...{ kind: 'template', name: 'template', text: source.template.reveal(), exits: source.exits },
    ...{ epochs: epochs ?? new Map<number, number>(), options: source.options },
  };
}

async function contentOf(
  pool: string,
  source: PoolSource,
  at: { readonly place: number; readonly memory: SourceMemory },
): Promise<WorkerSource> {
  const { options } = source;
  switch (source.kind) {
    case 'file': {
      const read = await readListFile(source.file);
      if (read.kind === 'unread') throw new Error(`pool ${pool}: ${read.reason}`);
      return { kind: 'list', name: source.file, from: 'file', bytes: read.bytes, options };
    }
    case 'list': {
      // A copy, since the bytes go to another thread.
      const bytes = at.memory.lists.get(at.place)?.bytes.slice() ?? new Uint8Array(0);
      return { kind: 'list', name: 'list', from: 'server', bytes, options };
    }
    case 'url':
      return { kind: 'url', name: 'url', url: source.url.reveal(), options };
    case 'template':
      return templateContent(source, at.memory.epochs.get(at.place));
  }
}

/** Asks for a list again. */
export function fetchSource(
  source: ListSource,
  last: FetchedBytes | undefined,
  fetch: FetchList,
): Promise<FetchedList> {
  const allow = source.allow.map(parseAllowEntry).filter((entry) => entry !== null);
  return fetch({ url: source.url.reveal(), policy: { allow }, last: last?.stamp ?? null });
}
