/**
 * The pace that a site tolerates from one exit: learnt from how long exits had rested before good and refused answers.
 * It reads no clock and knows no exit; which answers speak of the pace at all, and who rests until when, is decided by
 * whoever asks.
 *
 * A refusal after a rest of `g` says that `g` was too short: the *brink*. Spacing goes well above the brink, comes down
 * quickly to just above it, and then very slowly on, to find out whether the site has become more patient. Each time the
 * brink is found where it was expected, the next look takes twice as long.
 * A site that refuses by chance, whatever the rest, must not slow a crawl down: where much longer rests brought no better
 * answers, spacing goes back to where it was, and refusals are taken for chance for a while.
 */

/** An answer, and how long its exit had rested before the request. */
export interface PacedAnswer {
  /** Since the answer before, through this exit; 0 when another request was under way. */
  readonly restMs: number;
  /** The same, smoothed over the exit's answers before: a site that counts over a time refuses for what was then. */
  readonly meanRestMs: number;
  /** How much more than others this exit has to rest; 1 for nearly all. */
  readonly factor: number;
  readonly nowMs: number;
}

/** Where learning begins: few sites mind it, and a pool of some size isn't slowed down by it. */
export const FIRST_SPACING_MS = 1000;
/** No exit is made to rest longer between two pages. */
export const MAX_SPACING_MS = 300_000;
/** A rest below this is none. */
export const LEAST_SPACING_MS = 10;

/** How much spacing comes down while an exit rests once and good answers come, before a brink is known. */
const NARROW = 0.03;
/** After that, what is left of the way to the floor: quickly as long as it is far, then with care. */
const FAR = 1.3;
const NARROW_FAR = 0.5;
const NARROW_NEAR = 0.3;
/** So far above the brink it is quiet. */
const MARGIN = 1.05;
const WIDEN = 1.2;
/** When a good part of the last answers were refusals. */
const WIDEN_FAST = 1.6;
const OFTEN = 0.5;
/** Where the search begins again after no spacing was needed. */
const AGAIN_MS = 100;
/** The same for the floor, before the brink was confirmed. */
const LOOK = 0.005;
const MOST_CONFIRMED = 5;
/** A brink within this share of the last one is the same. */
const SAME_BRINK = 0.15;
/** With time alone, so that what was learnt on a bad day is forgotten. */
const FLOOR_HALVES_MS = 1_800_000;
/** Up to so much more rest than asked, an answer speaks of the spacing. */
const TIGHT = 1.2;
/** Answers after a bit less rest than asked still do; any less, and they were under way when it was widened. */
const NEARLY = 0.9;
/** An answer counts for its rest when the rests before it were about as long. */
const STEADY = 1.4;
/** With so much refused nothing is known but that the site is angry, and more rest is right. */
const ANGRY = 0.85;
const ANGER_WEIGHT = 0.25;
/** How long refusals are taken for chance; doubles each time. */
const CHANCE_MS = 600_000;
const MOST_DOUBLINGS = 5;
/** Widening goes on to so many times its beginning before it has to show that it helps. */
const SPAN = 4;

/** What is known of the pace of one site, through the exits of one pool. */
export class SitePace {
  #spacingMs = FIRST_SPACING_MS;
  #floorMs = 0;
  #brinkMs = 0;
  #confirmed = 0;
  #atMs: number;
  /** Where the present series of widenings began; 0: there is none. */
  #seriesMs = 0;
  #chanceUntilMs = -Infinity;
  #useless = 0;
  /** Share of refusals among the last few answers after a rest as asked. */
  #anger = 0;
  readonly #tallies = new RestTallies();

  constructor(nowMs: number) {
    this.#atMs = nowMs;
  }

  /** Rest between two uses of one exit; 0: none is needed. */
  get spacingMs(): number {
    return this.#spacingMs;
  }

  /** The longest rest that was too short, when last seen; 0: none was. */
  get brinkMs(): number {
    return this.#brinkMs;
  }

  /** Whether refusals are taken for chance now. */
  isChance(nowMs: number): boolean {
    return nowMs < this.#chanceUntilMs;
  }

  /** A good answer: where the exit had rested no longer than asked, a little less may do. */
  good(answer: PacedAnswer): void {
    const { restMs, factor, nowMs } = answer;
    this.#count(answer, 0);
    if (this.#spacingMs === 0 || restMs > this.#spacingMs * factor * TIGHT) return;
    const sinceMs = Math.max(0, nowMs - this.#atMs);
    const spacingMs = this.#brinkMs === 0 ? this.#narrowed(sinceMs) : this.#nearerToFloor(sinceMs);
    this.#atMs = nowMs;
    this.#spacingMs = spacingMs < LEAST_SPACING_MS ? 0 : spacingMs;
    if (spacingMs < this.#seriesMs) this.#seriesMs = 0;
  }

  /** The site refused: if the exit had rested as asked, that was not enough. */
  refused(answer: PacedAnswer): void {
    const { restMs, factor, nowMs } = answer;
    this.#count(answer, 1);
    const isEvidence = restMs >= this.#spacingMs * factor * NEARLY && restMs <= MAX_SPACING_MS;
    if (!isEvidence || this.isChance(nowMs)) return;
    const brinkMs = Math.max(Math.min(restMs, answer.meanRestMs) / factor, LEAST_SPACING_MS);
    const by = this.#anger >= OFTEN ? WIDEN_FAST : WIDEN;
    const againMs = this.#spacingMs === 0 ? AGAIN_MS : 0;
    const spacingMs = Math.min(MAX_SPACING_MS, Math.max((restMs / factor) * by, againMs));
    if (this.#seriesMs === 0) this.#seriesMs = Math.max(brinkMs, againMs);
    if (spacingMs > this.#seriesMs * SPAN) {
      const help = this.#anger >= ANGRY ? 'helps' : this.#tallies.judge(this.#seriesMs);
      if (help === 'unknown') return;
      if (help === 'useless') {
        this.#takeForChance(nowMs);
        return;
      }
      this.#seriesMs = brinkMs;
    }
    this.#widen(spacingMs, brinkMs, nowMs);
  }

  #count(answer: PacedAnswer, refused: 0 | 1): void {
    const { restMs, factor } = answer;
    if (restMs >= this.#spacingMs * factor * NEARLY) this.#anger += ANGER_WEIGHT * (refused - this.#anger);
    // An exit that was just made to rest longer is judged by how it was used before.
    if (restMs <= answer.meanRestMs * STEADY) this.#tallies.add(restMs / factor, refused);
  }

  #widen(spacingMs: number, brinkMs: number, nowMs: number): void {
    const isSame = this.#brinkMs > 0 && Math.abs(brinkMs / this.#brinkMs - 1) <= SAME_BRINK;
    this.#confirmed = isSame ? Math.min(MOST_CONFIRMED, this.#confirmed + 1) : 0;
    this.#spacingMs = spacingMs;
    this.#brinkMs = brinkMs;
    this.#floorMs = Math.min(spacingMs, brinkMs * MARGIN);
    this.#atMs = nowMs;
  }

  #takeForChance(nowMs: number): void {
    this.#chanceUntilMs = nowMs + CHANCE_MS * 2 ** Math.min(MOST_DOUBLINGS, this.#useless);
    this.#useless++;
    this.#spacingMs = this.#seriesMs;
    this.#seriesMs = 0;
    this.#floorMs = 0;
    this.#brinkMs = 0;
    this.#confirmed = 0;
    this.#tallies.clear();
  }

  #narrowed(sinceMs: number): number {
    return this.#spacingMs * (1 - NARROW * Math.min(1, sinceMs / this.#spacingMs));
  }

  #nearerToFloor(sinceMs: number): number {
    const rounds = Math.min(1, sinceMs / this.#floorMs);
    const isThere = this.#spacingMs <= this.#floorMs * 1.01;
    const byLooking = isThere ? 1 - (LOOK * rounds) / 2 ** this.#confirmed : 1;
    this.#floorMs *= byLooking * 0.5 ** (sinceMs / FLOOR_HALVES_MS);
    const by = this.#spacingMs > this.#floorMs * FAR ? NARROW_FAR : NARROW_NEAR;
    return this.#floorMs + (this.#spacingMs - this.#floorMs) * (1 - by * rounds);
  }
}

/** Rests from {@link LEAST_SPACING_MS} on, four classes to the octave. */
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
  if (restMs <= LEAST_SPACING_MS) return 0;
  return Math.min(CLASSES - 1, 1 + Math.floor(4 * Math.log2(restMs / LEAST_SPACING_MS)));
}
