/**
 * Good and refused answers by the rest before them: whether more rest helps. It reads no clock and knows no exit.
 */

/** A rest below this is none. */
export const LEAST_REST_MS = 10;

/** Rests from {@link LEAST_REST_MS} on, four classes to the octave. */
const CLASSES = 64;
/** Clearly longer than where the series began. */
const LONG = 1.6;
/** So many refusals must have been expected before their absence, or presence, means something. */
const REFUSALS_TO_JUDGE = 2;
/** With so much refused, no rest has yet been long enough to tell. */
const MOSTLY = 0.7;
/** Then everything counts half. */
const TALLY_MAX = 400;

/** Good and refused answers by the rest before them, the newer ones counting more. */
export class RestTallies {
  readonly #tries = new Float64Array(CLASSES);
  readonly #refused = new Float64Array(CLASSES);
  #sum = 0;

  add(restMs: number, refused: 0 | 1): void {
    const at = classOf(restMs);
    this.#tries[at] = (this.#tries[at] ?? 0) + 1;
    this.#refused[at] = (this.#refused[at] ?? 0) + refused;
    this.#sum++;
    if (this.#sum < TALLY_MAX) return;
    this.#sum /= 2;
    for (let each = 0; each < CLASSES; each++) {
      this.#tries[each] = (this.#tries[each] ?? 0) / 2;
      this.#refused[each] = (this.#refused[each] ?? 0) / 2;
    }
  }

  clear(): void {
    this.#tries.fill(0);
    this.#refused.fill(0);
    this.#sum = 0;
  }

  /**
   * Whether rests clearly longer than `fromMs` bring fewer refusals. Useless: about as many. Far more refusals than
   * before mean that the site has changed: then more rest is right.
   */
  judge(fromMs: number): 'helps' | 'useless' | 'unknown' {
    const from = classOf(fromMs * LONG);
    const short = this.#count(0, from);
    const long = this.#count(from, CLASSES);
    const expected = (long.tries * short.refused) / Math.max(1, short.tries);
    if (long.refused > 2 * expected + 2) return 'helps';
    if (expected < REFUSALS_TO_JUDGE || long.refused > MOSTLY * long.tries) return 'unknown';
    return long.refused > 0.5 * expected ? 'useless' : 'helps';
  }

  #count(from: number, to: number): { tries: number; refused: number } {
    const counts = { tries: 0, refused: 0 };
    for (let at = from; at < to; at++) {
      counts.tries += this.#tries[at] ?? 0;
      counts.refused += this.#refused[at] ?? 0;
    }
    return counts;
  }
}

function classOf(restMs: number): number {
  if (restMs <= LEAST_REST_MS) return 0;
  return Math.min(CLASSES - 1, 1 + Math.floor(4 * Math.log2(restMs / LEAST_REST_MS)));
}
