/** From arguments to a command to an exit code. */
import { Command, CommanderError } from 'commander';
import { commands } from './commands.js';
import type { CommandRow } from './commands.js';
import { exitCodes } from './exit-codes.js';
import type { Flag, FlagValues } from './flags.js';
import type { Output } from './output.js';
import { packageVersion } from './version.js';

const collect = (value: string, before: readonly string[] | undefined): string[] => [
  ...(before ?? []),
  value,
];

function addFlag(command: Command, flag: Flag): void {
  if (flag.isRepeatable === true) command.option(flag.spelling, flag.help, collect);
  else command.option(flag.spelling, flag.help);
}

/** The group of a command of two words, made with its first member. */
function groupOf(program: Command, name: string): Command {
  const known = program.commands.find((each) => each.name() === name);
  return known ?? program.command(name).description(`Commands about ${name}.`);
}

function addCommand(program: Command, row: CommandRow, done: (code: number) => void, output: Output): void {
  const [first = '', second] = row.name.split(' ');
  const parent = second === undefined ? program : groupOf(program, first);
  const command = parent.command(second ?? first, { hidden: row.isHidden === true }).description(row.summary);
  for (const flag of row.flags) addFlag(command, flag);
  command.allowExcessArguments(false);
  const { argument } = row;
  if (argument === undefined) {
    command.action(async (values: FlagValues) => done(await row.run(values, output)));
    return;
  }
  command.argument(`<${argument.name}>`);
  const { more } = row;
  if (more !== undefined) {
    command.argument(`<${more.name}...>`);
    command.action(async (given: string, others: string[], values: FlagValues) =>
      done(await row.run({ ...values, [argument.name]: given, [more.name]: others }, output)),
    );
    return;
  }
  command.action(async (given: string, values: FlagValues) =>
    done(await row.run({ ...values, [argument.name]: given }, output)),
  );
}

/** The program as commander knows it; `done` hears the exit code of the command that ran. */
export function buildProgram(output: Output, done: (code: number) => void): Command {
  const program = new Command('turnpike')
    .description('A forward proxy gateway for crawlers.')
    .version(packageVersion())
    .exitOverride()
    .configureOutput({
      writeOut: (text) => output.print(text.trimEnd()),
      writeErr: (text) => output.tell(text.trimEnd()),
    })
    .showSuggestionAfterError()
    .addHelpText('after', '\nWithout a configuration: turnpike serve --upstreams proxies.txt');
  for (const row of commands) addCommand(program, row, done, output);
  return program;
}

/** Runs what the arguments ask for. Resolves with the exit code; wrong usage is 2. */
export async function run(args: readonly string[], output: Output): Promise<number> {
  let code: number = exitCodes.ok;
  const program = buildProgram(output, (result) => {
    code = result;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? exitCodes.ok : exitCodes.notStarted;
  }
}
