/**
 * `npm run bench -- yield`: every contestant crawls every simulated site in a world of its own, a few worlds at a time, and
 * is compared with the chooser that knows the state of the site.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMPILED_ROOT, Unavailable } from '../support/peer.js';
import type { PeerOutcome } from '../support/run-scenario.js';
import type { Figures, Scenario } from '../support/scenario.js';
import { summarise, type ScenarioSummary } from '../support/summary.js';
import { CONTESTANTS, knowing, type Contestant } from './contestants.js';
import { YIELD_SCENARIOS, type YieldScenario } from './scenarios.js';
import type { WorldReady, WorldResult } from './world.js';

/** What the user asked for. */
export interface YieldOptions {
  /** Undefined: all. */
  readonly scenario: string | undefined;
  /** Undefined: all; the knowing chooser always runs. */
  readonly peers: readonly string[] | undefined;
  readonly seconds: number;
  /** Worlds at a time. */
  readonly lanes: number;
  readonly isQuick: boolean;
  readonly onProgress: (text: string) => void;
  /** A scenario is over. */
  readonly onSummary: (summary: ScenarioSummary) => void;
}

const COLUMNS: Scenario['columns'] = [
  { key: 'share', title: 'good pages, % of knowing', digits: 1 },
  { key: 'lateShare', title: 'second half', digits: 1 },
  { key: 'perMinute', title: 'good/min', digits: 0 },
  { key: 'perHundred', title: 'good per 100 attempts', digits: 1 },
  { key: 'unmarked', title: 'unmarked blocked %', digits: 2 },
  { key: 'blocked', title: 'blocked delivered %', digits: 2 },
  { key: 'well', title: 'ended well %', digits: 1 },
  { key: 'banned', title: 'exits banned', digits: 0 },
];

const GOALS: Scenario['goals'] = [
  { text: '≥ 90 % of the knowing chooser', key: 'share', isLeast: true, limit: () => 90 },
  { text: '≥ 95 good pages per 100 attempts', key: 'perHundred', isLeast: true, limit: () => 95 },
  { text: '< 0.5 % unmarked blocked pages', key: 'unmarked', limit: () => 0.5 },
];
const NO_BANS: Scenario['goals'] = [{ text: 'no exit banned by the outage', key: 'banned', limit: () => 0 }];

/** Names in the order of the report. */
export const YIELD_NAMES: readonly string[] = YIELD_SCENARIOS.map(({ name }) => `yield-${name}`);

/** Runs what was asked for; one summary a scenario. */
export async function runYield(options: YieldOptions): Promise<ScenarioSummary[]> {
  const scenarios = YIELD_SCENARIOS.filter(
    ({ name }) => options.scenario === undefined || options.scenario === name,
  );
  if (scenarios.length === 0)
    throw new Error(
      `no scenario "${options.scenario ?? ''}"; there are ${YIELD_SCENARIOS.map(({ name }) => name).join(', ')}`,
    );
  const contestants = CONTESTANTS.filter(({ name }) => options.peers?.includes(name) !== false);
  const summaries: ScenarioSummary[] = [];
  for (const scenario of scenarios) {
    const summary = await runOne(scenario, [knowing, ...contestants], options);
    options.onSummary(summary);
    summaries.push(summary);
  }
  return summaries;
}

async function runOne(
  scenario: YieldScenario,
  contestants: readonly Contestant[],
  options: YieldOptions,
): Promise<ScenarioSummary> {
  const directory = mkdtempSync(join(tmpdir(), 'turnpike-yield-'));
  // Squid runs as another user.
  chmodSync(directory, 0o777);
  const results = new Map<string, Result>();
  const waiting = contestants.map((contestant, n) => ({ contestant, world: n + 1 }));
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { contestant, world } = next;
      options.onProgress(`yield ${scenario.name} ${contestant.name}`);
      results.set(contestant.name, await resultOf(contestant, scenario, { directory, world, options }));
    }
  };
  await Promise.all(Array.from({ length: options.lanes }, lane));
  const limit = results.get(knowing.name);
  const outcomes = contestants.map((contestant) =>
    outcomeOf(contestant, results.get(contestant.name), { limit, seconds: options.seconds }),
  );
  if (outcomes.every(({ problem }) => problem === undefined))
    rmSync(directory, { recursive: true, force: true });
  else console.log(`logs are kept in ${directory}`);
  const goals = scenario.hasOutage ? [...GOALS, ...NO_BANS] : GOALS;
  const described = { name: `yield-${scenario.name}`, question: scenario.question, columns: COLUMNS, goals };
  return summarise(described, outcomes, options.isQuick);
}

type Result =
  | { readonly kind: 'done'; readonly world: WorldResult; readonly banned: number | null }
  | { readonly kind: 'failed'; readonly problem: string; readonly wasSkipped: boolean };

async function resultOf(
  contestant: Contestant,
  scenario: YieldScenario,
  by: { readonly directory: string; readonly world: number; readonly options: YieldOptions },
): Promise<Result> {
  try {
    return await crawlOnce(contestant, scenario, by);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { kind: 'failed', problem, wasSkipped: error instanceof Unavailable };
  }
}

async function crawlOnce(
  contestant: Contestant,
  scenario: YieldScenario,
  by: { readonly directory: string; readonly world: number; readonly options: YieldOptions },
): Promise<Result> {
  const { seconds } = by.options;
  const ask = { scenario: scenario.name, world: by.world, seconds };
  const world = fork(join(COMPILED_ROOT, 'yield', 'world.js'), [JSON.stringify(ask)]);
  try {
    const ready = await messageOf<WorldReady>(world);
    const running = await contestant.start({ directory: by.directory, world: by.world, ...ready });
    try {
      world.send(running.chooser);
      const result = messageOf<WorldResult>(world);
      // What the outage leaves behind is looked at a little after it; otherwise at the end.
      const lookMs = scenario.hasOutage ? seconds * 1000 * 0.75 : seconds * 1000 - 100;
      await new Promise((resolve) => setTimeout(resolve, lookMs));
      const banned = await running.banned();
      const got = await result;
      return { kind: 'done', world: got, banned: banned ?? bannedByBroker(got, ready) };
    } finally {
      await running.stop();
    }
  } finally {
    world.kill('SIGKILL');
  }
}

function bannedByBroker({ left }: WorldResult, { addresses }: WorldReady): number | null {
  return left === null ? null : addresses.length - left;
}

function messageOf<Message>(child: ChildProcess): Promise<Message> {
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(message as Message));
    child.once('exit', (code) => reject(new Error(`the world ended with code ${code}`)));
  });
}

function outcomeOf(
  { name, note }: Contestant,
  result: Result | undefined,
  by: { readonly limit: Result | undefined; readonly seconds: number },
): PeerOutcome {
  const isReference = name === knowing.name;
  const outcome: PeerOutcome = { peer: name, note, isReference, rounds: [], windowsMicros: [], errors: 0 };
  if (result === undefined) return { ...outcome, problem: 'did not run' };
  if (result.kind === 'failed') return { ...outcome, problem: result.problem, wasSkipped: result.wasSkipped };
  return { ...outcome, rounds: [figuresOf(result, by)] };
}

function figuresOf(
  { world, banned }: Extract<Result, { kind: 'done' }>,
  by: { readonly limit: Result | undefined; readonly seconds: number },
): Figures {
  const [early, late] = world.halves;
  const sum = (key: keyof typeof early): number => early[key] + late[key];
  const best = by.limit?.kind === 'done' ? by.limit.world.halves : undefined;
  const bestGood = best === undefined ? Number.NaN : best[0].good + best[1].good;
  const share = (part: number, whole: number): number => (whole === 0 ? Number.NaN : (part / whole) * 100);
  return {
    share: share(sum('good'), bestGood),
    lateShare: share(late.good, best?.[1].good ?? Number.NaN),
    perMinute: (sum('good') * 60) / by.seconds,
    perHundred: share(world.siteGood, world.attempts),
    unmarked: share(sum('unmarked'), sum('requests')),
    blocked: share(sum('blocked'), sum('requests')),
    well: share(sum('good'), sum('requests')),
    banned: banned ?? Number.NaN,
  };
}
