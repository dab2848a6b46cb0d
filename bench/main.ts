/**
 * `npm run bench`: chooses scenarios and peers, runs them one after the other, reports.
 * Exit code 1 when a peer gave a wrong answer or did not run; a missed goal is reported, not an exit code.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { benchAcquire } from './acquire.js';
import { benchHostile } from './hostile.js';
import { benchJudge } from './judge.js';
import { CATALOGUE } from './peers/catalogue.js';
import { chooseReport } from './scenarios/choose.js';
import { leaseReport } from './scenarios/lease.js';
import { SCENARIOS, chooseScenarios } from './scenarios/catalogue.js';
import { USAGE, readOptions, type Options } from './support/options.js';
import { PROJECT_ROOT, type Peer } from './support/peer.js';
import { profileArguments, profileReports } from './support/profile.js';
import { writeReadme, writeRecord } from './support/record.js';
import { terminalReport } from './support/report.js';
import { runScenario } from './support/run-scenario.js';
import type { Scenario } from './support/scenario.js';
import { summarise, type ScenarioSummary } from './support/summary.js';
import { runYield, YIELD_NAMES } from './yield/run-yield.js';

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));

try {
  const options = readOptions(process.argv.slice(2));
  process.exitCode = options.isHelp ? help() : await run(options);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 2;
}

function help(): number {
  const scenarios = SCENARIOS.map((scenario) => `  ${scenario.name.padEnd(18)}${scenario.question}`);
  const peers = CATALOGUE.map((peer) => `  ${peer.name.padEnd(18)}${peer.note}`);
  const alone = [
    '  acquire           how soon a token is there, by store and number of credentials, and what the proxy port feels (alone)',
    '  choose            µs per choice by strategy and pool size, and loading of a million lines (alone)',
    '  hostile           memory and loop delay under zip bombs and evil patterns (alone)',
    '  lease             CPU of a lease for each request, and of one that is held (alone)',
    '  judge             CPU of judging a page of 64 KiB, plain and compressed (alone)',
  ];
  console.log(
    [USAGE, 'scenarios (and the group "forward")', ...scenarios, ...alone, '', 'peers', ...peers].join('\n'),
  );
  return 0;
}

async function run(options: Options): Promise<number> {
  if (options.scenarios.length === 1 && options.scenarios[0] === 'choose') {
    console.log(await chooseReport(options.isQuick));
    return 0;
  }
  if (options.scenarios.length === 1 && options.scenarios[0] === 'lease') {
    console.log(await leaseReport(options.isQuick));
    return 0;
  }
  if (options.scenarios.length === 1 && options.scenarios[0] === 'judge') return benchJudge(options.isQuick);
  if (options.scenarios.length === 1 && options.scenarios[0] === 'acquire')
    return benchAcquire(options.isQuick);
  if (options.scenarios.length === 1 && options.scenarios[0] === 'hostile') return benchHostile();
  if (options.scenarios.includes('yield')) return runYields(options);
  const scenarios = chooseScenarios(options.scenarios);
  const peers = choosePeers(options.peers);
  const summaries: ScenarioSummary[] = [];
  for (const scenario of scenarios) {
    const summary = await runOne(scenario, peers, options);
    console.log(terminalReport(summary));
    summaries.push(summary);
  }
  if (!options.isProfile) keep(options, summaries);
  return summaries.some(({ rows }) => rows.some(hasFailed)) ? 1 : 0;
}

async function runYields(options: Options): Promise<number> {
  const summaries = await runYield({
    ...options,
    scenario: options.yieldScenario,
    onProgress: showProgress,
    onSummary: (summary) => {
      showProgress('');
      console.log(terminalReport(summary));
    },
  });
  keep(options, summaries);
  return summaries.some(({ rows }) => rows.some(hasFailed)) ? 1 : 0;
}

function hasFailed(row: ScenarioSummary['rows'][number]): boolean {
  return row.problem !== undefined && row.wasSkipped !== true;
}

async function runOne(
  scenario: Scenario,
  peers: readonly Peer[],
  options: Options,
): Promise<ScenarioSummary> {
  const directory = mkdtempSync(join(tmpdir(), 'turnpike-bench-'));
  // Squid writes its log as another user.
  chmodSync(directory, 0o777);
  const profiles = join(PROJECT_ROOT, 'bench', 'out', `profile-${scenario.name}-${Date.now()}`);
  if (options.isProfile) mkdirSync(profiles, { recursive: true });
  const outcomes = await runScenario(
    scenario,
    peers.filter(({ name }) => !scenario.leaveOut.includes(name)),
    {
      rounds: options.rounds,
      isQuick: options.isQuick,
      tunnels: options.tunnels,
      directory,
      nodeArgs: options.isProfile ? profileArguments(profiles) : [],
      onProgress: showProgress,
    },
  );
  showProgress('');
  if (options.isProfile) {
    const windows = outcomes.flatMap((outcome) => outcome.windowsMicros);
    console.log(profileReports(profiles, windows).join('\n'));
  }
  const isClean = outcomes.every((outcome) => outcome.problem === undefined || outcome.wasSkipped === true);
  if (isClean) rmSync(directory, { recursive: true, force: true });
  else console.log(`logs are kept in ${directory}`);
  return summarise(scenario, outcomes, options.isQuick);
}

function keep(options: Options, summaries: readonly ScenarioSummary[]): void {
  const file = options.jsonFile ?? join(PROJECT_ROOT, 'bench', 'out', 'latest.json');
  const record = writeRecord(file, summaries);
  console.log(`\nwritten to ${file}`);
  if (!options.writesReadme) return;
  const readme = join(PROJECT_ROOT, 'bench', 'README.md');
  const order = [...SCENARIOS.map(({ name }) => name), ...YIELD_NAMES];
  writeReadme(readme, record, order);
  console.log(`written to ${readme}`);
}

function choosePeers(names: readonly string[] | undefined): readonly Peer[] {
  if (names === undefined) return CATALOGUE;
  const known = CATALOGUE.map(({ name }) => name);
  const stranger = names.find((name) => !known.includes(name));
  if (stranger !== undefined) throw new Error(`no peer "${stranger}"; there are ${known.join(', ')}`);
  return CATALOGUE.filter(({ name }) => names.includes(name));
}

function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}
