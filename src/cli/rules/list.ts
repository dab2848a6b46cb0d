/** `turnpike rules list`: the rules in force with a configuration, the shipped ones among them. */
import type { LoadedRules } from '../../config/rule-file.js';
import { ruleYaml } from '../../config/rule-yaml.js';
import type { CommandRow } from '../commands.js';
import { exitCodes } from '../exit-codes.js';
import type { FlagValues } from '../flags.js';
import type { Output } from '../output.js';
import { table } from '../table.js';
import { readRules } from './read-rules.js';

type Rule = Extract<LoadedRules, { kind: 'rules' }>['rules'][number];

function rowOf(rule: Rule): string[] {
  const conditions = [...new Set(rule.when.flatMap((each) => Object.keys(each)))];
  const does = rule.shadow ? 'count' : rule.then.join(', ');
  return [
    rule.name,
    does,
    rule.shadow ? '-' : rule.scope,
    rule.site.join(', ') || 'everywhere',
    conditions.join(', '),
  ];
}

async function listRules(values: FlagValues, output: Output): Promise<number> {
  const file = typeof values['rules'] === 'string' ? values['rules'] : null;
  const loaded = readRules(file, output);
  if (loaded === null) return exitCodes.notStarted;
  if (values['json'] === true) output.print(JSON.stringify(loaded.rules, null, 2));
  else if (values['yaml'] === true) output.print(ruleYaml(loaded.rules).trimEnd());
  else output.print(table(['RULE', 'DOES', 'SCOPE', 'SITE', 'LOOKS AT'], loaded.rules.map(rowOf)));
  return exitCodes.ok;
}

/** The command. */
export const rulesListCommand: CommandRow = {
  name: 'rules list',
  summary: 'List the rules of a file in their order, the shipped fingerprints behind them.',
  flags: [
    {
      spelling: '--rules <file>',
      help: 'a configuration, or a file with rules; without it the shipped ones',
    },
    { spelling: '--yaml', help: 'print them as they are written in a configuration' },
    { spelling: '--json', help: 'print JSON' },
  ],
  run: listRules,
};
