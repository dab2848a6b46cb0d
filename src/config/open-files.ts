/** How many files this process may have open. */
import { readFileSync } from 'node:fs';

/** The soft limit of open files, or null where the system does not tell. */
export function openFileLimit(): number | null {
  try {
    const match = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
    return match === null ? null : Number(match[1]);
  } catch {
    return null;
  }
}
