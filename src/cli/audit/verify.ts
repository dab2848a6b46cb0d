/** `turnpike audit verify`: whether the record of who used what is whole, and if not, what is wrong and where. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { AuditReport } from '../../app/audit-tools.js';
import { loadConfig } from '../../config/load.js';
import type { CommandRow } from '../commands.js';
import { exitCodes } from '../exit-codes.js';
import { configFlags, loadInputOf, type FlagValues } from '../flags.js';
import { keepAlive } from '../keep-alive.js';
import type { Output } from '../output.js';
import { tellProblems } from '../report.js';
import { startTrouble } from '../start-trouble.js';

type Verdict = AuditReport['database'];
type Finding = Verdict['findings'][number];

const mostShown = 50;
const harmless: ReadonlySet<Finding['kind']> = new Set(['marked_gap', 'repeated', 'torn']);

const said: Readonly<Record<Finding['kind'], string>> = {
  altered: 'altered: it does not say what was recorded',
  missing: 'missing: they were removed',
  out_of_order: 'stands where it does not belong',
  conflicting: 'there twice, in two versions',
  truncated: 'missing at the end, though others saw them',
  rewritten: 'not the one that an anchor saw: the chain was written anew',
  unreadable: 'no record at all',
  marked_gap: 'not here, as the chain itself tells: this sink was away',
  repeated: 'written twice, after a write that failed',
  torn: 'half a line, left by a crash or a full disk; what it said is elsewhere',
};

function line({ kind, chain, n, to }: Finding): string {
  if (chain === '') return `  line ${n}: ${said[kind]}`;
  const place = n === to ? `record ${n}` : `records ${n} to ${to}`;
  return `  chain ${chain}, ${place}: ${said[kind]}`;
}

/** Tells of one place; whether it is whole. */
function tellPlace(what: string, verdict: Verdict, output: Output): boolean {
  const faults = verdict.findings.filter(({ kind }) => !harmless.has(kind));
  const notes = verdict.findings.length - faults.length;
  const count = faults.length + verdict.more;
  const state = count === 0 ? 'whole' : `${count} ${count === 1 ? 'fault' : 'faults'}`;
  const beside = notes === 0 ? '' : ` (${notes} harmless notes, see --json)`;
  output.print(`${what}: ${verdict.records} records in ${verdict.heads.length} chains: ${state}${beside}`);
  for (const each of faults.slice(0, mostShown)) output.print(line(each));
  if (count > mostShown) output.print(`  and ${count - mostShown} more`);
  return count === 0;
}

const listOf = (value: FlagValues[string]): string[] =>
  Array.isArray(value) ? value.map((each) => resolve(String(each))) : [];

async function verify(values: FlagValues, output: Output): Promise<number> {
  const loaded = loadConfig(loadInputOf(values));
  if (loaded.kind === 'problems') {
    tellProblems(loaded.problems, loaded.file, output);
    return exitCodes.notStarted;
  }
  const { audit } = loaded.config;
  const given = listOf(values['file']);
  const standard = audit.file !== null && existsSync(audit.file) ? [audit.file] : [];
  const places = {
    ...{ files: given.length > 0 ? given : standard, anchors: listOf(values['anchors']) },
    continues: values['continues'] === true,
  };
  const letGo = keepAlive();
  try {
    const { verifyAudit } = await import('../../app/audit-tools.js');
    const report = await verifyAudit(loaded.config, places);
    if (values['json'] === true) output.print(JSON.stringify(report, null, 2));
    return tell(report, places.files, values['json'] === true ? silent : output);
  } catch (error) {
    output.tell(`turnpike: ${startTrouble(error)}`);
    return exitCodes.notStarted;
  } finally {
    letGo();
  }
}

const silent: Output = { print: () => undefined, tell: () => undefined };

function tell({ database, file }: AuditReport, files: readonly string[], output: Output): number {
  const isWhole = [
    tellPlace('database', database, output),
    file === null || tellPlace(files.join(', '), file, output),
  ];
  return isWhole.every(Boolean) ? exitCodes.ok : exitCodes.failed;
}

/** The command. */
export const auditVerifyCommand: CommandRow = {
  name: 'audit verify',
  summary: 'Verify the audit, in the database and in files; exit code 1 where it was tampered with.',
  flags: [
    ...configFlags.filter(({ spelling }) => spelling.startsWith('--config ')),
    {
      ...{ spelling: '--file <file>', isRepeatable: true },
      help: 'a file of the audit (default: audit.file); repeatable, the eldest first',
    },
    { spelling: '--continues', help: 'older files are gone, so chains may begin in the middle' },
    {
      ...{ spelling: '--anchors <file>', isRepeatable: true },
      help: 'a log of a gateway, which holds anchors where there is no file of the audit; repeatable',
    },
    { spelling: '--json', help: 'print JSON' },
  ],
  run: verify,
};
