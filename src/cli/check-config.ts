/** `turnpike check-config`: everything that is wrong with a configuration at once, without starting anything. */
import type { Config } from '../config/config.js';
import { inspectLists } from '../config/list-check.js';
import { loadConfig } from '../config/load.js';
import { exitCodes } from './exit-codes.js';
import { loadInputOf } from './flags.js';
import type { FlagValues } from './flags.js';
import type { Output } from './output.js';
import { tellProblems, tellWarnings } from './report.js';

const mostListLines = 20;

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

function summary(config: Config, upstreams: number): string {
  const parts = [
    counted(config.listeners.length, 'listener'),
    counted(config.clients.length, 'client'),
    counted(config.pools.length, 'pool'),
    counted(upstreams, 'upstream'),
    counted(config.routes.length, 'route'),
  ];
  return `OK: ${parts.join(', ')}`;
}

/** Checks. Exit code 0 when nothing is wrong (warnings may be), 1 otherwise. */
export async function checkConfig(values: FlagValues, output: Output): Promise<number> {
  const loaded = loadConfig(loadInputOf(values));
  if (loaded.kind === 'problems') {
    tellProblems(loaded.problems, loaded.file, output);
    return exitCodes.failed;
  }
  const { config, warnings } = loaded;
  const lists = inspectLists(config);
  tellWarnings(warnings, config.file, output);
  for (const line of lists.problems.slice(0, mostListLines)) output.tell(`warning: ${line}`);
  if (lists.problems.length > mostListLines) {
    output.tell(`warning: ${lists.problems.length - mostListLines} more lines of lists were left out`);
  }
  output.print(summary(config, lists.upstreams));
  return exitCodes.ok;
}
