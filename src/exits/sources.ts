/** Where upstreams come from: list files. What goes wrong with a file is a value that says what to do about it. */
import { readFile, stat } from 'node:fs/promises';
import { parseList } from '../upstreams/list.js';
import type { ListProblem } from '../upstreams/list.js';
import type { SourceContent } from '../upstreams/pool-source.js';
import type { Upstream, UpstreamOptions } from '../upstreams/upstream.js';
import type { WorkerSource } from './worker-messages.js';

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

/** The bytes of a list file, or what to do about it. */
export type ReadFile =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'unread'; readonly reason: string };

/** Reads the bytes of a list file. @param maxBytes files above this are not read */
export async function readListFile(path: string, maxBytes: number = MAX_LIST_BYTES): Promise<ReadFile> {
  const cannot = (reason: string): ReadFile => ({ kind: 'unread', reason });
  try {
    const found = await stat(path);
    if (found.isDirectory())
      return cannot(`${path} is a directory; name the file with the list of upstreams`);
    if (!found.isFile()) return cannot(`${path} is not a plain file`);
    if (found.size > maxBytes) {
      return cannot(
        `${path} has ${found.size} bytes, more than the ${maxBytes} allowed; split it over several pools`,
      );
    }
    return { kind: 'bytes', bytes: await readFile(path) };
  } catch (error) {
    return cannot(reasonOf(path, error));
  }
}

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
  const read = await readListFile(path, maxBytes);
  if (read.kind === 'unread') return unread(read.reason);
  const { entries, problems } = parseList(textOf(read.bytes), options);
  return { upstreams: entries, problems, isRead: true };
}

/** A source as it is read: the bytes of a list as text. */
export function contentOf(source: WorkerSource): SourceContent {
  if (source.kind !== 'list') return source;
  const { bytes, ...rest } = source;
  return { ...rest, text: textOf(bytes) };
}

/** The text of a list; bytes that are no UTF-8 become U+FFFD. */
export function textOf(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
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
