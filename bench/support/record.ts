/**
 * The JSON file with the last result of each scenario, and the table in bench/README.md made from it.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { markdownReport } from './report.js';
import type { ScenarioSummary } from './summary.js';

const BEGIN = '<!-- bench:begin (written by `npm run bench -- --write-readme`) -->';
const END = '<!-- bench:end -->';

export interface BenchRecord {
  machine: string;
  node: string;
  date: string;
  scenarios: Record<string, ScenarioSummary>;
}

/** Adds scenarios to what an earlier run left in `file` (a scenario is replaced as a whole) and writes it. */
export function writeRecord(file: string, summaries: readonly ScenarioSummary[]): BenchRecord {
  const record: BenchRecord = {
    machine: machine(),
    node: process.version,
    date: new Date().toISOString(),
    scenarios: { ...earlier(file) },
  };
  for (const summary of summaries) record.scenarios[summary.name] = summary;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(record, null, 2)}\n`);
  return record;
}

/** Rewrites the part of the README between the markers. Throws when the markers are missing. */
export function writeReadme(file: string, record: BenchRecord, order: readonly string[]): void {
  const text = readFileSync(file, 'utf8');
  const from = text.indexOf(BEGIN);
  const to = text.indexOf(END);
  if (from < 0 || to < from) throw new Error(`${file} lacks the markers ${BEGIN} and ${END}`);
  const reports = order.flatMap((name) => record.scenarios[name] ?? []).map(markdownReport);
  const head = `${record.machine}; Node ${record.node}; ${record.date.slice(0, 10)}.`;
  const body = [head, ...reports].join('\n\n');
  writeFileSync(file, `${text.slice(0, from)}${BEGIN}\n\n${body}\n\n${text.slice(to)}`);
}

function earlier(file: string): Record<string, ScenarioSummary> {
  if (!existsSync(file)) return {};
  return (JSON.parse(readFileSync(file, 'utf8')) as BenchRecord).scenarios;
}

function machine(): string {
  const list = cpus();
  return `${list[0]?.model.trim() ?? 'unknown processor'}, ${list.length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB`;
}
