/** Where upstreams come from: list files. What goes wrong with a file is a value that says what to do about it. */
import { readFile, stat } from 'node:fs/promises';
import { parseList } from '../upstreams/list.js';
import type { ListProblem } from '../upstreams/list.js';
import type { Upstream, UpstreamOptions } from '../upstreams/upstream.js';

/** What a file gave. */
export interface LoadedList {
  readonly upstreams: readonly Upstream[];
  /** Lines that were left out; line 0 is the file as a whole. */
  readonly problems: readonly ListProblem[];
  /** False when the file itself could not be read: `problems` has the one reason. */
  readonly isRead: boolean;
}

/** About two million lines of a usual list. */
export const MAX_LIST_BYTES = 128 * 1024 * 1024;

/**
 * Reads a list file.
 * @param options what holds for every upstream in it
 * @param maxBytes files above this are not read
 */
export async function loadFile(
  path: string,
  options: UpstreamOptions = {},
  maxBytes: number = MAX_LIST_BYTES,
): Promise<LoadedList> {
  try {
    const found = await stat(path);
    if (found.isDirectory())
      return unread(`${path} is a directory; name the file with the list of upstreams`);
    if (!found.isFile()) return unread(`${path} is not a plain file`);
    if (found.size > maxBytes) {
      return unread(
        `${path} has ${found.size} bytes, more than the ${maxBytes} allowed; split it over several pools`,
      );
    }
    const { entries, problems } = parseList(await readFile(path, 'utf8'), options);
    return { upstreams: entries, problems, isRead: true };
  } catch (error) {
    return unread(reasonOf(path, error));
  }
}

function unread(reason: string): LoadedList {
  return { upstreams: [], problems: [{ line: 0, reason }], isRead: false };
}

function reasonOf(path: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'an unknown error';
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return `${path} does not exist; paths are relative to the configuration file`;
  }
  if (code === 'EACCES' || code === 'EPERM')
    return `${path} may not be read by this user; change its permissions`;
  return `${path} can not be read (${code})`;
}
