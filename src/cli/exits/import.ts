/** `turnpike exits import`: adds the exits of a list to a pool of a running gateway, one request each. */
import { readLoneLines } from '../../config/list-check.js';
import { AdminTrouble, adminFlags } from '../admin-client.js';
import type { CommandRow } from '../commands.js';
import { exitCodes } from '../exit-codes.js';
import type { FlagValues } from '../flags.js';
import type { Output } from '../output.js';
import { forEachOf, Progress } from '../progress.js';
import { withGateway } from '../remote.js';

const atOnce = 16;
const shownTroubles = 20;

/** What became of a line; never says what stood in it. */
interface Outcome {
  readonly line: number;
  readonly result: 'added' | 'there_already' | 'refused';
  readonly detail: string;
}

function tell(outcomes: readonly Outcome[], values: FlagValues, output: Output): void {
  const count = (result: Outcome['result']): number =>
    outcomes.filter((outcome) => outcome.result === result).length;
  const sums = { added: count('added'), thereAlready: count('there_already'), refused: count('refused') };
  if (values['json'] === true) {
    const troubles = outcomes.filter(({ result }) => result === 'refused');
    output.print(
      JSON.stringify({ ...sums, troubles: troubles.map(({ line, detail }) => ({ line, detail })) }),
    );
    return;
  }
  const refused = outcomes.filter(({ result }) => result === 'refused');
  for (const { line, detail } of refused.slice(0, shownTroubles)) output.tell(`line ${line}: ${detail}`);
  if (refused.length > shownTroubles) output.tell(`and ${refused.length - shownTroubles} more lines`);
  output.print(`${sums.added} added, ${sums.thereAlready} there already, ${sums.refused} refused`);
}

async function importExits(values: FlagValues, output: Output): Promise<number> {
  const lines = readLoneLines(String(values['file']));
  if (typeof lines === 'string') {
    output.tell(`turnpike: ${lines}`);
    return exitCodes.notStarted;
  }
  const pool = typeof values['pool'] === 'string' ? values['pool'] : 'default';
  return withGateway(values, output, async (client) => {
    const progress = new Progress(output, lines.length);
    const outcomes = await forEachOf(lines, atOnce, async ({ line, text }): Promise<Outcome> => {
      try {
        await client.call('POST', '/api/v1/upstreams', { pool, url: text });
        return { line, result: 'added', detail: '' };
      } catch (error) {
        // Of a gateway that can't be asked or a token that is not good enough there is no use to ask further.
        if (!(error instanceof AdminTrouble) || ![400, 409, 422].includes(error.status)) throw error;
        const result = error.status === 409 ? 'there_already' : 'refused';
        return { line, result, detail: error.message };
      } finally {
        progress.step();
      }
    }).finally(() => progress.end());
    tell(outcomes, values, output);
    return outcomes.some(({ result }) => result === 'refused') ? exitCodes.failed : exitCodes.ok;
  });
}

/** The command. */
export const importCommand: CommandRow = {
  name: 'exits import',
  summary: 'Add the exits of a list to a running gateway.',
  argument: { name: 'file' },
  flags: [{ spelling: '--pool <pool>', help: 'pool that gets them (default "default")' }, ...adminFlags],
  run: importExits,
};
