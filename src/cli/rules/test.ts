/** `turnpike rules test`: which rule matches which stored answer, and why. */
import type { LabRow } from '../../app/rule-lab.js';
import { fileTrouble } from '../../config/secrets.js';
import type { CommandRow } from '../commands.js';
import { exitCodes } from '../exit-codes.js';
import type { FlagValues } from '../flags.js';
import type { Output } from '../output.js';
import { table } from '../table.js';
import { readRules } from './read-rules.js';
import { readSample, sampleFiles } from './samples.js';

function filesIn(paths: readonly string[], output: Output): string[] | null {
  try {
    return sampleFiles(paths);
  } catch (error) {
    const path = error instanceof Error && 'path' in error ? String(error.path) : '';
    output.tell(`turnpike: a sample: ${path} ${fileTrouble(error)}`);
    return null;
  }
}

function why(row: LabRow): string {
  if (row.trouble !== null) return row.trouble;
  const decided = row.matches.find(({ rule }) => rule === row.rule);
  if (decided !== undefined) return `${decided.field}: ${decided.found}`;
  return row.verdict === 'ok' ? '' : `status ${row.status ?? '-'}`;
}

function tell(rows: readonly LabRow[], values: FlagValues, output: Output): void {
  if (values['json'] === true) {
    output.print(JSON.stringify(rows, null, 2));
    return;
  }
  const lines = rows.map((row) => {
    const others = row.matches.filter(({ rule }) => rule !== row.rule).map(({ rule }) => rule);
    return [row.sample, row.verdict, row.rule ?? '-', why(row), others.join(', ')];
  });
  output.print(table(['SAMPLE', 'VERDICT', 'RULE', 'WHY', 'ALSO'], lines));
  const count = rows.filter(({ rule }) => rule !== null).length;
  output.tell(`a rule decided about ${count} of ${rows.length} samples`);
}

async function testRules(values: FlagValues, output: Output): Promise<number> {
  const loaded = readRules(String(values['rules']), output);
  const files = loaded === null ? null : filesIn(values['samples'] as readonly string[], output);
  if (loaded === null || files === null) return exitCodes.notStarted;
  const { openLab } = await import('../../app/open-lab.js');
  const lab = openLab(loaded.rules, loaded.detection);
  const host = typeof values['host'] === 'string' ? values['host'].toLowerCase() : '';
  const rows: LabRow[] = [];
  for (const file of files) rows.push(await lab.try(readSample(file), host));
  await lab.close();
  tell(rows, values, output);
  return exitCodes.ok;
}

/** The command. */
export const rulesTestCommand: CommandRow = {
  name: 'rules test',
  summary: 'Say which rule matches which stored answer, and why. Needs no running gateway.',
  argument: { name: 'rules' },
  more: { name: 'samples' },
  flags: [
    { spelling: '--host <host>', help: 'host of samples that do not say where they are from' },
    { spelling: '--json', help: 'print JSON' },
  ],
  run: testRules,
};
