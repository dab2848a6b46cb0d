/** Why the gateway could not start, in one line and without a stack. */
import { scrub } from '../core/scrub.js';

const meanings: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another program; choose another with --listen or --admin',
  EADDRNOTAVAIL: 'is no address of this machine',
  EACCES: 'may not be opened by this user',
  EPERM: 'may not be opened by this user',
  ENOTFOUND: 'does not resolve',
  ENOENT: 'does not exist',
  EISDIR: 'is a folder',
  EMFILE: 'can not be opened: too many open files (ulimit -n)',
};

interface SystemError extends Error {
  readonly code?: unknown;
  readonly address?: unknown;
  readonly hostname?: unknown;
  readonly port?: unknown;
  readonly path?: unknown;
}

/** One line for people. */
export function startTrouble(error: unknown): string {
  if (!(error instanceof Error)) return 'can not start';
  const { code, address, hostname, port, path }: SystemError = error;
  const meaning = typeof code === 'string' ? meanings[code] : undefined;
  const host = typeof address === 'string' ? address : hostname;
  const place = typeof path === 'string' ? path : typeof host === 'string' ? host : null;
  if (meaning === undefined || place === null) return scrub(error.message);
  const shown = typeof port === 'number' ? `${place.includes(':') ? `[${place}]` : place}:${port}` : place;
  return `${shown} ${meaning}`;
}
