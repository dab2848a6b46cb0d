/**
 * The token that is made when none is configured: kept in the data folder, readable by its owner only, and the same
 * again after a restart. Whoever may read that file may do everything here.
 */
import { createHash } from 'node:crypto';
import { chmodSync, linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../core/random.js';
import { Secret } from '../core/secret.js';

/** What came of it. */
export type FileToken =
  | {
      readonly kind: 'token';
      readonly token: Secret;
      readonly path: string;
      readonly isNew: boolean;
      /** Whether others could read the file until now. */
      readonly wasOpen: boolean;
    }
  /** `code` is the system's, or `content` where the file holds no token. */
  | { readonly kind: 'trouble'; readonly path: string; readonly code: string };

/** Name of the file in the data folder. */
export const tokenFileName = 'admin-token';

const leastLength = 16;
const mostLength = 4096;

/** A token that scanners for leaked secrets can tell: a prefix, 256 bits of chance, and a check sum. */
function newToken(random: Random): string {
  const body = `turnpike_admin_${random.hex(32)}`;
  return `${body}_${createHash('sha256').update(body).digest('hex').slice(0, 6)}`;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}

/** Reads the token of this folder, or makes one. Of several processes that begin at once, one makes it. */
export function tokenInFolder(folder: string, random: Random): FileToken {
  const path = join(folder, tokenFileName);
  const known = readToken(path);
  if (known.kind === 'token' || known.code !== 'ENOENT') return known;
  const draft = `${path}.${random.hex(8)}`;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(draft, `${newToken(random)}\n`, { mode: 0o600, flag: 'wx' });
    // Whole or not at all, and never over the one that another process has just made.
    linkSync(draft, path);
    const made = readToken(path);
    return made.kind === 'token' ? { ...made, isNew: true } : made;
  } catch (error) {
    return codeOf(error) === 'EEXIST' ? readToken(path) : { kind: 'trouble', path, code: codeOf(error) };
  } finally {
    rmSync(draft, { force: true });
  }
}

function readToken(path: string): FileToken {
  try {
    const { mode, size } = statSync(path);
    if (size > mostLength) return { kind: 'trouble', path, code: 'content' };
    const text = readFileSync(path, 'utf8').trim();
    if (text.length < leastLength) return { kind: 'trouble', path, code: 'content' };
    const wasOpen = (mode & 0o077) !== 0;
    if (wasOpen) chmodSync(path, 0o600);
    return { kind: 'token', token: new Secret(text), path, isNew: false, wasOpen };
  } catch (error) {
    return { kind: 'trouble', path, code: codeOf(error) };
  }
}
