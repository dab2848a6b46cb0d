/**
 * From rounds to what is reported: medians, spread, goals met or missed.
 */
import type { PeerOutcome } from './run-scenario.js';
import type { Column, Figures, Goal, Scenario } from './scenario.js';
import { median } from './statistics.js';

/** The peer the goals are about. */
export const OURS = 'turnpike';

export interface SummaryRow extends PeerOutcome {
  medians: Figures;
  /** Lowest and highest round of the first column. */
  spread: [number, number];
}

export interface Judgement {
  goal: string;
  verdict: 'met' | 'missed' | 'not judged';
  value?: number;
  limit?: number;
}

export interface ScenarioSummary {
  name: string;
  question: string;
  date: string;
  isQuick: boolean;
  columns: readonly Column[];
  rows: SummaryRow[];
  judgements: Judgement[];
}

/** Medians of all rounds, and the goals held against them. */
export function summarise(
  scenario: Pick<Scenario, 'name' | 'question' | 'columns' | 'goals'>,
  outcomes: PeerOutcome[],
  isQuick: boolean,
): ScenarioSummary {
  const rows = outcomes.map((outcome) => summariseRow(outcome, scenario.columns));
  return {
    name: scenario.name,
    question: scenario.question,
    date: new Date().toISOString(),
    isQuick,
    columns: scenario.columns,
    rows,
    judgements: scenario.goals.map((goal) => judge(goal, rows)),
  };
}

function summariseRow(outcome: PeerOutcome, columns: Scenario['columns']): SummaryRow {
  const values = (key: string): number[] => outcome.rounds.map((round) => round[key] ?? Number.NaN);
  const medians = Object.fromEntries(columns.map(({ key }) => [key, median(values(key))]));
  const first = values(columns[0].key);
  return { ...outcome, medians, spread: [Math.min(...first), Math.max(...first)] };
}

function judge(goal: Goal, rows: readonly SummaryRow[]): Judgement {
  const of = (peer: string): number | undefined => {
    const row = rows.find((candidate) => candidate.peer === peer);
    return row === undefined || row.problem !== undefined || row.rounds.length === 0
      ? undefined
      : row.medians[goal.key];
  };
  const value = of(OURS);
  const limit = goal.limit(of);
  if (value === undefined || limit === undefined) return { goal: goal.text, verdict: 'not judged' };
  // "<" and "≤" differ by nothing that a clock of this kind could tell.
  const isMet = goal.isLeast === true ? value >= limit : value <= limit;
  return { goal: goal.text, verdict: isMet ? 'met' : 'missed', value, limit };
}
