/** Problems and warnings of a configuration, as lines for people. */
import { formatProblem } from '../config/problems.js';
import type { Problem } from '../config/problems.js';
import type { Output } from './output.js';

/** Tells all problems, one a line. */
export function tellProblems(problems: readonly Problem[], file: string | null, output: Output): void {
  const what = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
  output.tell(`turnpike: the configuration has ${what}:`);
  for (const problem of problems) output.tell(`  ${formatProblem(problem, file)}`);
}

/** Tells all warnings, one a line. */
export function tellWarnings(warnings: readonly Problem[], file: string | null, output: Output): void {
  for (const warning of warnings) output.tell(`warning: ${formatProblem(warning, file)}`);
}
