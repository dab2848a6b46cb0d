/** The file of a SQLite database before it is opened: that it can be there, and that nobody but its owner reads it. */
import fs from 'node:fs';
import { dirname } from 'node:path';
import { StorageRefused, type RefusedWhy } from './executor.js';

const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;
/** What every SQLite file begins with. */
const MAGIC = 'SQLite format 3\0';

const whyByCode = new Map<string, readonly [RefusedWhy, string]>([
  ['ENOENT', ['no_such_place', 'there is no such folder']],
  ['EEXIST', ['no_such_place', 'a part of its path is no folder']],
  ['ENOTDIR', ['no_such_place', 'a part of its path is no folder']],
  ['EISDIR', ['not_ours', 'it is a folder']],
  ['EACCES', ['not_writable', 'this user may not write there']],
  ['EPERM', ['not_writable', 'this user may not write there']],
  ['EROFS', ['not_writable', 'the file system is mounted read-only']],
  ['ENOSPC', ['not_writable', 'no space is left on its disk']],
]);

/** By itself and not `recursive`: Node never comes back from that in a place such as /proc, where no folder can be made. */
function makeFolder(folder: string): void {
  if (fs.existsSync(folder)) return;
  makeFolder(dirname(folder));
  fs.mkdirSync(folder, { mode: PRIVATE_FOLDER });
}

/**
 * Makes the file if it isn't there, for its owner alone, and its folder; SQLite gives the files beside it the same rights.
 * @throws {StorageRefused}
 */
export function prepareFile(path: string): void {
  try {
    const folder = dirname(path);
    makeFolder(folder);
    fs.accessSync(folder, fs.constants.W_OK);
    const file = fs.openSync(path, fs.constants.O_RDWR | fs.constants.O_CREAT, PRIVATE_FILE);
    try {
      checkStart(file, path);
      if ((fs.fstatSync(file).mode & 0o077) !== 0) fs.fchmodSync(file, PRIVATE_FILE);
    } finally {
      fs.closeSync(file);
    }
  } catch (error) {
    throw refusalOf(error, path);
  }
}

/** Makes an empty file for a copy. @throws {StorageRefused} where there is one already */
export function prepareCopy(path: string): void {
  try {
    fs.closeSync(fs.openSync(path, 'wx', PRIVATE_FILE));
  } catch (error) {
    if (codeOf(error) === 'EEXIST')
      throw new StorageRefused('not_writable', `${path} is there already; name a new file`, { cause: error });
    throw refusalOf(error, path);
  }
}

function checkStart(file: number, path: string): void {
  const start = Buffer.alloc(MAGIC.length);
  const length = fs.readSync(file, start, 0, start.length, 0);
  if (length > 0 && start.toString('latin1') !== MAGIC)
    throw new StorageRefused('not_ours', `${path} is no SQLite database; name another file`);
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown';

function refusalOf(error: unknown, path: string): unknown {
  if (error instanceof StorageRefused) return error;
  const [why, text] = whyByCode.get(codeOf(error)) ?? ['not_writable', codeOf(error)];
  return new StorageRefused(why, `the database ${path} can't be opened: ${text}`, { cause: error });
}
