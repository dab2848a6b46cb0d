/**
 * The command line of the bench.
 */
import { parseArgs } from 'node:util';

export interface Options {
  scenarios: string[];
  isQuick: boolean;
  rounds: number;
  /** How many tunnels the scenario idle opens. */
  tunnels: number;
  /** Undefined: all. */
  peers: string[] | undefined;
  jsonFile: string | undefined;
  writesReadme: boolean;
  isProfile: boolean;
  isHelp: boolean;
  /** Of the yield bench: one scenario only, length of a crawl, worlds at a time. */
  yieldScenario: string | undefined;
  seconds: number;
  lanes: number;
}

export const USAGE = `npm run bench -- [scenario …] [flags]

  --rounds N        rounds per scenario, medians are reported (default 5; 1 when quick or profiling)
  --tunnels N       tunnels of the scenario idle (default 9500; 1000 when quick)
  --peers a,b       only these gateways
  --quick           short runs, to see that everything works
  --json FILE       where the figures go (default bench/out/latest.json; scenarios not run are kept)
  --write-readme    rewrite the tables in bench/README.md
  --profile         run with node --cpu-prof and print the functions with the most self time (default --peers turnpike)
  --help

npm run bench -- yield [flags]      good pages from simulated sites, beside other ways of choosing exits

  --scenario NAME   one of them (default: all)
  --seconds N       length of each crawl (default 180; 20 when quick)
  --lanes N         crawls at a time (default 3)
`;

/** Reads the arguments. Throws with a message for the user when one makes no sense. */
export function readOptions(args: string[]): Options {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      tunnels: { type: 'string' },
      peers: { type: 'string' },
      json: { type: 'string' },
      'write-readme': { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
      scenario: { type: 'string' },
      seconds: { type: 'string' },
      lanes: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const roundsByDefault = values.quick || values.profile ? 1 : 5;
  return {
    scenarios: positionals,
    isQuick: values.quick,
    rounds: countOf('rounds', values.rounds, roundsByDefault),
    tunnels: countOf('tunnels', values.tunnels, values.quick ? 1000 : 9500),
    peers: values.peers?.split(',') ?? (values.profile ? ['turnpike'] : undefined),
    jsonFile: values.json,
    writesReadme: values['write-readme'],
    isProfile: values.profile,
    isHelp: values.help,
    yieldScenario: values.scenario,
    seconds: countOf('seconds', values.seconds, values.quick ? 20 : 180),
    lanes: countOf('lanes', values.lanes, 3),
  };
}

function countOf(flag: string, text: string | undefined, otherwise: number): number {
  const count = Number(text ?? otherwise);
  if (!Number.isInteger(count) || count < 1)
    throw new Error(`--${flag} ${text ?? ''} is not a number from 1`);
  return count;
}
