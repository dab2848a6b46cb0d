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
