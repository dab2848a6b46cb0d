/** One line of the launch check: what was looked at, how it stands, and what to do. It knows no setting and no Redis. */

/** How it stands: fit to launch, worth a thought, or not fit. */
export type Level = 'ok' | 'warn' | 'fail';

/** One line. */
export interface CheckLine {
  /** What was looked at, such as `eviction`. */
  readonly check: string;
  readonly level: Level;
  /** What was found. */
  readonly says: string;
  /** What to do; empty where all is well. */
  readonly todo: string;
}

/** Makes the lines of one check. */
export interface Check {
  ok(says: string): CheckLine;
  warn(says: string, todo: string): CheckLine;
  fail(says: string, todo: string): CheckLine;
}

/** @param check its name */
export function checkOf(check: string): Check {
  return {
    ok: (says) => ({ check, level: 'ok', says, todo: '' }),
    warn: (says, todo) => ({ check, level: 'warn', says, todo }),
    fail: (says, todo) => ({ check, level: 'fail', says, todo }),
  };
}

/** The worst of all levels. */
export function worstOf(lines: readonly CheckLine[]): Level {
  const levels = new Set(lines.map(({ level }) => level));
  if (levels.has('fail')) return 'fail';
  return levels.has('warn') ? 'warn' : 'ok';
}

/** `one gateway`, `3 gateways`. */
export function counted(count: number, noun: string): string {
  return count === 1 ? `one ${noun}` : `${count} ${noun}s`;
}
