/** Every command, as one table: it runs them, prints their help and is what the documentation is checked against. */
import { checkConfig } from './check-config.js';
import { configFlags } from './flags.js';
import type { Flag, FlagValues } from './flags.js';
import { generate } from './generate.js';
import type { Output } from './output.js';
import { serve } from './serve.js';

/** One command. */
export interface CommandRow {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly Flag[];
  /** Hidden ones are for developers of Turnpike. */
  readonly isHidden?: boolean;
  /** Does the work; the exit code when it is done. */
  readonly run: (values: FlagValues, output: Output) => Promise<number>;
}

/** The table. */
export const commands: readonly CommandRow[] = [
  {
    name: 'serve',
    summary: 'Run the gateway until SIGTERM or SIGINT.',
    flags: configFlags,
    run: serve,
  },
  {
    name: 'check-config',
    summary: 'Say everything that is wrong with a configuration, or that nothing is.',
    flags: configFlags,
    run: checkConfig,
  },
  {
    name: 'demo',
    summary: 'Crawl a small world on loopback through the gateway and tell what happens.',
    flags: [{ spelling: '--stay', help: 'leave the gateway and its world running afterwards' }],
    run: async (values) => {
      const { runDemo } = await import('./demo.js');
      return runDemo({ stay: values['stay'] === true });
    },
  },
  {
    name: 'generate',
    summary: 'Write config/turnpike.example.yaml and config/turnpike.schema.json from the schema.',
    flags: [{ spelling: '--folder <folder>', help: 'folder to write to (default ./config)' }],
    isHidden: true,
    run: generate,
  },
];
