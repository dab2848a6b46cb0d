/** Every command, as one table: it runs them, prints their help and is what the documentation is checked against. */
import { checkConfig } from './check-config.js';
import { importCommand } from './exits/import.js';
import { testCommand } from './exits/test.js';
import { doctorCommand } from './doctor.js';
import { configFlags } from './flags.js';
import type { Flag, FlagValues } from './flags.js';
import { generate } from './generate.js';
import type { Output } from './output.js';
import { rulesListCommand } from './rules/list.js';
import { rulesTestCommand } from './rules/test.js';
import { auditSearchCommand } from './audit/search.js';
import { auditVerifyCommand } from './audit/verify.js';
import { clusterCommand } from './cluster.js';
import { remoteCommands } from './remote.js';
import { serve } from './serve.js';
import { credentialCommands } from './credentials/credentials.js';
import { policyCommands } from './credentials/policies.js';
import { vaultInitCommand } from './vault/init.js';
import { vaultKeyCommands } from './vault/keys.js';
import { vaultStoreCommands } from './vault/stored.js';

/** One command. */
export interface CommandRow {
  /** One word, or two for a command of a group. */
  readonly name: string;
  readonly summary: string;
  /** The one thing it is about; its value is among those of the flags, under this name. */
  readonly argument?: { readonly name: string };
  /** More of something behind it, at least one; their values are a list. */
  readonly more?: { readonly name: string };
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
  doctorCommand,
  ...remoteCommands,
  ...credentialCommands,
  ...policyCommands,
  clusterCommand,
  auditVerifyCommand,
  auditSearchCommand,
  vaultInitCommand,
  ...vaultKeyCommands,
  ...vaultStoreCommands,
  importCommand,
  testCommand,
  rulesTestCommand,
  rulesListCommand,
  {
    name: 'generate',
    summary: 'Write config/turnpike.example.yaml and config/turnpike.schema.json from the schema.',
    flags: [{ spelling: '--folder <folder>', help: 'folder to write to (default ./config)' }],
    isHidden: true,
    run: generate,
  },
];
