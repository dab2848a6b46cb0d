/** What an error of the client or of Redis means, by its code. */
import { ReplyError } from 'ioredis';

/** By Redis' protocol an error begins with its code; in an error of a script the code of the command follows later. */
const CODE = /(?:^|-| )([A-Z]{3,})(?= |$)/;

/** Redis says that it can't serve now: no primary, not loaded yet, full, can't save, wants another login. */
const awayCodes: ReadonlySet<string> = new Set([
  ...['READONLY', 'LOADING', 'OOM', 'NOAUTH', 'WRONGPASS', 'NOPERM', 'MISCONF', 'MASTERDOWN', 'CLUSTERDOWN'],
  ...['NOREPLICAS', 'BUSY', 'UNBLOCKED', 'TRYAGAIN', 'MOVED', 'ASK'],
]);

/** The code of an error; `connection` for one that Redis didn't send. */
export function faultOf(error: unknown): string {
  if (!(error instanceof ReplyError) && !isReplyError(error)) return 'connection';
  const text = error instanceof Error ? error.message : '';
  const codes = [...text.matchAll(new RegExp(CODE, 'g'))].map((match) => match[1] ?? '');
  return codes.find((code) => awayCodes.has(code) || code === 'NOSCRIPT') ?? codes[0] ?? 'ERR';
}

/** Whether the store counts as away for this code; all others are about one call or one value. */
export function isAwayCode(code: string): boolean {
  return code === 'connection' || awayCodes.has(code);
}

/** More than one copy of the class may be about. */
function isReplyError(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}
