/**
 * What the simulated sites are like. Times are shorter than in the world (a minute's window is ten seconds here, an
 * hour's ban half a minute), so that a run of two minutes is long enough for a pool to burn out and to come back.
 */

/** The rules of a site, per address, and what is wrong with the exits. */
export interface YieldScenario {
  readonly name: string;
  readonly question: string;
  /** At most so many pages from one address within the window. */
  readonly most: number;
  readonly windowMs: number;
  /** Who asks for more stays out for so long. */
  readonly banMs: number;
  /** What it gets instead of the page. */
  readonly blockAs: 429 | 403 | 'captcha';
  /** Share of exits that never bring anything: half of them reset, half are silent. */
  readonly deadShare: number;
  /** Extra time through the first exit. */
  readonly slowMs: number;
  /** The middle third of the run, the site answers 503 to everybody. */
  readonly hasOutage: boolean;
}

const rateLimited: YieldScenario = {
  name: 'rate-limit',
  question: 'five pages in ten seconds from one address, then 429',
  most: 5,
  windowMs: 10_000,
  banMs: 0,
  blockAs: 429,
  deadShare: 0,
  slowMs: 0,
  hasOutage: false,
};

export const YIELD_SCENARIOS: readonly YieldScenario[] = [
  rateLimited,
  {
    ...rateLimited,
    name: 'timed-ban',
    question: 'the same, and then 403 for thirty seconds',
    blockAs: 403,
    banMs: 30_000,
  },
  {
    ...rateLimited,
    name: 'captcha',
    question: 'the same, and then a captcha with status 200 for thirty seconds',
    blockAs: 'captcha',
    banMs: 30_000,
  },
  {
    ...rateLimited,
    name: 'dead-exits',
    question: 'the rate limit, and 30 % of the exits dead',
    deadShare: 0.3,
  },
  {
    ...rateLimited,
    name: 'outage',
    question: 'the rate limit, and the site down (503) for the middle third of the run',
    hasOutage: true,
  },
  {
    ...rateLimited,
    name: 'slow-exit',
    question: 'the rate limit, and one exit two seconds slow',
    slowMs: 2000,
  },
];

/** Exits of each world. */
export const EXITS = 60;
/** Pages wanted a second: half as much again as a rate-limited site gives to all exits together. */
export const WANTED_PER_S = 45;
/** Crawlers, each of which asks for its next page when it has the last. */
export const WORKERS = 45;
/** When a crawler gives a page up. */
export const CLIENT_DEADLINE_MS = 10_000;
export const SITE_LATENCY_MS = 20;
/** What a captcha page says. */
export const CAPTCHA_TEXT = 'Please verify that you are human: captcha-zxq';
