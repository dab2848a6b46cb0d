/** Waits for a thing, never for a time. */

const LOOK_MS = 5;

/** Looks until `look` gives something (not undefined, null or false). Fails after `guardMs`, saying what it waited for. */
export async function waitFor<T>(
  what: string,
  look: () => T | undefined | null | false,
  guardMs = 10_000,
): Promise<T> {
  const endMs = performance.now() + guardMs;
  for (;;) {
    const found = look();
    if (found !== undefined && found !== null && found !== false) return found;
    if (performance.now() > endMs) throw new Error(`waited ${guardMs} ms for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** The same for a look that takes time itself. */
export async function eventually(
  what: string,
  look: () => Promise<boolean>,
  guardMs = 15_000,
): Promise<void> {
  const endMs = performance.now() + guardMs;
  while (!(await look())) {
    if (performance.now() > endMs) throw new Error(`waited ${guardMs} ms for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10 * LOOK_MS));
  }
}
