/** What the lists of upstreams hold that a configuration names: for `check-config`, before anything starts. */
import { readFileSync } from 'node:fs';
import { parseList } from '../upstreams/list.js';
import type { Config } from './config.js';
import { fileTrouble } from './secrets.js';

/** How many upstreams there are (lists on servers are not asked for), and which lines of lists were left out. */
export interface ListReport {
  readonly upstreams: number;
  /** `proxies.txt:12: reason`; a reason never repeats the line. */
  readonly problems: readonly string[];
}

/** Reads every list once. */
export function inspectLists(config: Config): ListReport {
  let upstreams = 0;
  const problems: string[] = [];
  for (const source of config.pools.flatMap((pool) => pool.sources)) {
    if (source.kind === 'list') continue;
    if (source.kind !== 'file') {
      upstreams += source.kind === 'template' ? source.exits : 1;
      continue;
    }
    try {
      const list = parseList(readFileSync(source.file, 'utf8'), source.options);
      upstreams += list.entries.length;
      for (const { line, reason } of list.problems) problems.push(`${source.file}:${line}: ${reason}`);
      if (list.entries.length === 0) problems.push(`${source.file}: holds no upstream`);
    } catch (error) {
      problems.push(`${source.file} ${fileTrouble(error)}`);
    }
  }
  return { upstreams, problems };
}
