/**
 * The pace that a site tolerates from one exit: learnt from how long exits had rested before good and refused answers.
 * It reads no clock and knows no exit; which answers speak of the pace at all, and who rests until when, is decided by
 * whoever asks.
 *
 * A refusal after a rest of `g` says that `g` was too short: the *brink*. Spacing goes well above the brink, comes down
 * quickly to just above it, and then very slowly on, to find out whether the site has become more patient. Each time the
 * brink is found where it was expected, the next look takes twice as long.
 * A pool of some size has *scouts*: a few exits that are used sooner than the others and so find the brink first. Others
 * stay behind, and aren't refused all at once; they come down only as far as the scouts went before them.
 * A site that refuses by chance, whatever the rest, must not slow a crawl down: where much longer rests brought no better
 * answers, spacing goes back to where it was, and refusals are taken for chance for a while.
 */
import { smoothed } from '../core/smoothed.js';
import { LEAST_REST_MS, RestTallies } from './rest-tallies.js';

/** An answer, and how long its exit had rested before the request. */
export interface PacedAnswer {
  /** Since the answer before, through this exit; 0 when another request was under way. */
  readonly restMs: number;
  /** The same, smoothed over the exit's answers before: a site that counts over a time refuses for what was then. */
  readonly meanRestMs: number;
  /** How much more than others this exit has to rest; 1 for nearly all. */
  readonly factor: number;
  /** How much sooner than others a scout was used again; 1 for all others. */
  readonly haste: number;
  /** Whether scouts go ahead of this exit, so that it is theirs to find out how little rest will do. */
  readonly isLed: boolean;
  readonly nowMs: number;
}

/** Where learning begins: few sites mind it, and a pool of some size isn't slowed down by it. */
export const FIRST_SPACING_MS = 1000;
/** No exit is made to rest longer between two pages. */
export const MAX_SPACING_MS = 300_000;
/** A rest below this is none. */
export const LEAST_SPACING_MS = LEAST_REST_MS;

/** How much spacing comes down while an exit rests once and good answers come, before a brink is known. */
const NARROW = 0.03;
/** After that, what is left of the way to the floor: quickly as long as it is far, then with care. */
const FAR = 1.3;
const NARROW_FAR = 0.5;
const NARROW_NEAR = 0.3;
/** So far above the brink it is quiet. */
const MARGIN = 1.05;
const MARGIN_LEAD = 1.02;
const WIDEN = 1.2;
/** When a good part of the last answers were refusals. */
const WIDEN_FAST = 1.6;
const OFTEN = 0.5;
/** Where the search begins again after no spacing was needed. */
const AGAIN_MS = 100;
/** The same for the floor, before the brink was confirmed. */
const LOOK = 0.005;
const MOST_CONFIRMED = 5;
/** A floor so far below the brink: it isn't there any more, and the look goes on faster. */
const GONE = 0.96;
const LOOK_ON = 0.015;
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
const STEADY_LED = 1.25;
/** With so much refused nothing is known but that the site is angry, and more rest is right. */
const ANGRY = 0.85;
const ANGER_WEIGHT = 0.25;
/** How long refusals are taken for chance; doubles each time. */
const CHANCE_MS = 600_000;
const MOST_DOUBLINGS = 5;
/** How much sooner than others scouts are used again before a brink is known. */
const HASTE = 3;
/** How far others stay behind scouts that come down to a brink. */
const BEHIND_FAR = 1.5;
/** And near it, where it was confirmed so often. */
const BEHIND = [1.15, 1.08, 1.04];
const BEHIND_LEAST = 1.015;
/** The first brink may be far from the true one: a site that counts over a time lets the first pages pass at any pace. */
const FIRST_BRINK = 2.2;
/** A site that counts over a time refuses for the rests before, too: their mean is the brink, up to so many times the last. */
const COUNTED = 1.4;
const USUAL_WEIGHT = 0.05;
/** How much a scout's rest comes down, each time it rests, as long as the brink is far. */
const NARROW_LEAD = 0.1;
/** Widening goes on to so many times its beginning before it has to show that it helps. */
const SPAN = 4;

/** What is known of the pace of one site, through the exits of one pool. */
export class SitePace {
  #spacingMs = FIRST_SPACING_MS;
  #floorMs = 0;
  #brinkMs = 0;
  #brinkAtMs = -Infinity;
  #confirmed = 0;
  #atMs: number;
  /** What scouts rest, once a brink is known. */
  #leadMs = 0;
  /** What those behind scouts rest, smoothed; 0: not known. */
  #usualMs = 0;
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

  /** How much sooner than others scouts are to be used again; 1 where nothing is to be found out. */
  get haste(): number {
    if (this.#spacingMs === 0) return 1;
    return this.#brinkMs === 0 ? HASTE : Math.max(1, this.#spacingMs / this.#leadMs);
  }

  /** Whether refusals are taken for chance now. */
  isChance(nowMs: number): boolean {
    return nowMs < this.#chanceUntilMs;
  }

  /** A good answer: where the exit had rested no longer than asked, a little less may do. */
  good(answer: PacedAnswer): void {
    const { restMs, factor, haste, nowMs } = answer;
    this.#count(answer, 0);
    if (answer.isLed) this.#usualMs = smoothed(this.#usualMs, restMs / factor, USUAL_WEIGHT);
    if (answer.isLed || this.#spacingMs === 0) return;
    if (restMs > (this.#spacingMs * factor * TIGHT) / haste) return;
    const sinceMs = Math.max(0, nowMs - this.#atMs);
    const spacingMs = this.#less(sinceMs, haste);
    this.#atMs = nowMs;
    this.#spacingMs = spacingMs < LEAST_SPACING_MS ? 0 : spacingMs;
    if (spacingMs < this.#seriesMs) this.#seriesMs = 0;
  }

  /** The site refused: if the exit had rested as asked, that was not enough. */
  refused(answer: PacedAnswer): void {
    const { restMs, factor, haste, nowMs } = answer;
    this.#count(answer, 1);
    if (!this.#isAsAsked(answer) || restMs > MAX_SPACING_MS || this.isChance(nowMs)) return;
    const brinkMs = Math.max(Math.min(restMs, answer.meanRestMs) / factor, LEAST_SPACING_MS);
    // Behind scouts, one that had rested less before speaks of that, as they do.
    if (haste > 1 || (answer.isLed && restMs > answer.meanRestMs * STEADY_LED)) {
      const countedMs = Math.max(LEAST_SPACING_MS, Math.min(answer.meanRestMs, restMs * COUNTED) / factor);
      this.#warned(restMs / factor, countedMs, nowMs);
      return;
    }
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

  /** A scout was refused. Others have not come as far, and don't. */
  #warned(restMs: number, brinkMs: number, nowMs: number): void {
    if (this.#brinkMs === 0) {
      const spacingMs = Math.min(
        MAX_SPACING_MS,
        Math.max(this.#spacingMs, restMs * FIRST_BRINK, this.#usualMs * FIRST_BRINK),
      );
      this.#widen(spacingMs, brinkMs, nowMs);
      this.#leadMs = spacingMs / BEHIND_FAR;
      return;
    }
    if (brinkMs < this.#leadMs * (1 - SAME_BRINK) && brinkMs <= this.#brinkMs) return;
    const leadMs = Math.max(this.#leadMs, brinkMs * MARGIN_LEAD);
    this.#widen(
      Math.max(this.#spacingMs, brinkMs * MARGIN_LEAD * this.#behind(brinkMs, leadMs)),
      brinkMs,
      nowMs,
    );
    this.#leadMs = leadMs;
  }

  #behind(brinkMs: number, leadMs: number): number {
    if (leadMs > brinkMs * FAR) return BEHIND_FAR;
    return BEHIND[this.#confirmed] ?? BEHIND_LEAST;
  }

  /** Whether the exit had rested as long as it is asked to now. */
  #isAsAsked({ restMs, factor, haste }: PacedAnswer): boolean {
    return restMs >= (this.#spacingMs * factor * NEARLY) / haste;
  }

  #count(answer: PacedAnswer, refused: 0 | 1): void {
    const { restMs, factor } = answer;
    if (this.#isAsAsked(answer)) this.#anger += ANGER_WEIGHT * (refused - this.#anger);
    // An exit that was just made to rest longer is judged by how it was used before.
    if (restMs <= answer.meanRestMs * STEADY) this.#tallies.add(restMs / factor, refused);
  }

  #widen(spacingMs: number, brinkMs: number, nowMs: number): void {
    const isSame = this.#brinkMs > 0 && Math.abs(brinkMs / this.#brinkMs - 1) <= SAME_BRINK;
    // Those refused together say it once.
    if (!isSame) this.#confirmed = 0;
    else if (nowMs - this.#brinkAtMs >= this.#spacingMs)
      this.#confirmed = Math.min(MOST_CONFIRMED, this.#confirmed + 1);
    this.#brinkAtMs = nowMs;
    this.#spacingMs = spacingMs;
    this.#brinkMs = brinkMs;
    this.#floorMs = Math.min(spacingMs, brinkMs * MARGIN);
    this.#leadMs = this.#floorMs;
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

  #less(sinceMs: number, haste: number): number {
    if (this.#brinkMs === 0) return this.#narrowed(sinceMs);
    return haste > 1 ? this.#behindScouts(sinceMs) : this.#nearerToFloor(sinceMs);
  }

  #behindScouts(sinceMs: number): number {
    const rounds = Math.min(1, sinceMs / this.#leadMs);
    const nearMs = this.#brinkMs * MARGIN_LEAD;
    const look = this.#leadMs < this.#brinkMs * GONE ? LOOK_ON : LOOK / 2 ** this.#confirmed;
    this.#leadMs =
      this.#leadMs > nearMs * 1.01
        ? Math.max(nearMs, this.#leadMs * (1 - NARROW_LEAD * rounds))
        : this.#leadMs * (1 - look * rounds);
    const wantedMs = this.#leadMs * this.#behind(this.#brinkMs, this.#leadMs);
    return Math.min(this.#spacingMs, this.#spacingMs + (wantedMs - this.#spacingMs) * NARROW_NEAR * rounds);
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
