/** What the lists of upstreams hold that a configuration names: for `check-config`, before anything starts. */
import { readFileSync } from 'node:fs';
import { loneLines, parseList } from '../upstreams/list.js';
import { KETAMA_MAX } from '../upstreams/ketama.js';
import { conflictText, passwordConflicts, type NamedUpstreams } from '../upstreams/password-conflicts.js';
import { parseUpstreamUrl, type Upstream } from '../upstreams/upstream.js';
import type { Config, PoolConfig } from './config.js';
import { fileTrouble } from './secrets.js';
import { loginToCome } from './vault-login.js';

/** How many upstreams there are (lists on servers are not asked for), and which lines of lists were left out. */
export interface ListReport {
  readonly upstreams: number;
  /** `proxies.txt:12: reason`; a reason never repeats the line. */
  readonly problems: readonly string[];
}

/** More exits with two passwords are not told of, one by one. */
const MOST_CONFLICTS = 5;

/** The lines of a list file, each as it may be handed on alone; text says why there are none. */
export function readLoneLines(file: string): { readonly line: number; readonly text: string }[] | string {
  try {
    return [...loneLines(readFileSync(file, 'utf8'))];
  } catch (error) {
    return `${file} ${fileTrouble(error)}`;
  }
}

/** Reads every list once. */
export function inspectLists(config: Config): ListReport {
  let upstreams = 0;
  const problems: string[] = [];
  const pools: NamedUpstreams[] = [];
  for (const pool of config.pools) {
    const found = inspectPool(pool);
    upstreams += found.upstreams;
    problems.push(...found.problems);
    const indexById = new Map(found.known.map(({ id }, index) => [id, index]));
    pools.push({ name: pool.name, upstreams: found.known, indexById });
  }
  problems.unshift(...passwordConflicts(pools, MOST_CONFLICTS).map(conflictText));
  return { upstreams, problems };
}

/** How many exits a pool's configuration names; null where a server has a list of them. */
export function countExits(pool: PoolConfig): number | null {
  return pool.sources.some(({ kind }) => kind === 'list') ? null : inspectPool(pool).upstreams;
}

/** `known`: upstreams that stand in files and in the configuration itself. */
function inspectPool({
  name,
  algorithm,
  sources,
}: PoolConfig): ListReport & { readonly known: readonly Upstream[] } {
  let upstreams = 0;
  const problems: string[] = [];
  const known: Upstream[] = [];
  for (const [place, source] of sources.entries()) {
    const { credential } = source;
    const login = credential === undefined ? {} : { login: loginToCome(credential) };
    const options = { ...source.options, ...login };
    if (credential !== undefined)
      problems.push(
        `pools.${name}.upstreams[${place}].credential: vault:${credential} is looked up by a gateway that runs, ` +
          'whose /readyz names it where it is missing; here the vault is not opened',
      );
    if (source.kind === 'list') continue;
    if (source.kind !== 'file') {
      upstreams += source.kind === 'template' ? source.exits : 1;
      const parsed = source.kind === 'url' ? parseUpstreamUrl(source.url.reveal(), options) : null;
      if (parsed?.kind === 'upstream') known.push(parsed.upstream);
      continue;
    }
    try {
      const list = parseList(readFileSync(source.file, 'utf8'), options);
      upstreams += list.entries.length;
      for (const entry of list.entries) known.push(entry);
      for (const { line, reason } of list.problems) problems.push(`${source.file}:${line}: ${reason}`);
      if (list.entries.length === 0) problems.push(`${source.file}: holds no upstream`);
    } catch (error) {
      problems.push(`${source.file} ${fileTrouble(error)}`);
    }
  }
  if (algorithm === 'ketama' && upstreams > KETAMA_MAX)
    problems.push(`pool ${name}: algorithm ketama is for at most ${KETAMA_MAX} upstreams, not ${upstreams}`);
  return { upstreams, problems, known };
}
