/** Flags that several commands share, and what they mean for the configuration. */
import type { CliOverrides } from '../config/overrides.js';

/** One flag, for commander, for help and for the documentation. */
export interface Flag {
  /** As commander wants it: `--listen <host:port>`. */
  readonly spelling: string;
  readonly help: string;
  /** Whether it may be given several times. */
  readonly isRepeatable?: boolean;
}

/** Values of flags as commander gives them, by camel-case name. */
export type FlagValues = Readonly<Record<string, unknown>>;

/** Flags that say what to load. */
export const configFlags: readonly Flag[] = [
  { spelling: '--config <file>', help: 'configuration file (TURNPIKE_CONFIG)' },
  {
    spelling: '--upstreams <file>',
    help: 'list of upstreams, one a line, for the pool "default"; repeatable',
    isRepeatable: true,
  },
  {
    spelling: '--listen <host:port>',
    help: 'where crawlers connect (TURNPIKE_LISTEN, default 127.0.0.1:8080)',
  },
  {
    spelling: '--admin <host:port>',
    help: 'metrics and health, or "off" (TURNPIKE_ADMIN_LISTEN, default 127.0.0.1:8081)',
  },
  {
    spelling: '--allow-target <address>',
    help: 'exception for a private target, such as 127.0.0.1:8000; repeatable',
    isRepeatable: true,
  },
  {
    spelling: '--client <name>',
    help: 'add a client of this name; its password comes from TURNPIKE_CLIENT_PASSWORD',
  },
  { spelling: '--log-level <level>', help: 'debug, info, warn, error or silent (TURNPIKE_LOG_LEVEL)' },
  { spelling: '--capture <folder>', help: 'store refused answers there, for `turnpike rules test`' },
  { spelling: '--log-file <file>', help: 'append the log to this file instead of standard output' },
];

const textIn = (values: FlagValues, name: string): string | undefined => {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
};

const textsIn = (values: FlagValues, name: string): string[] => {
  const value = values[name];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
};

/** The file and the overrides that flags ask for. */
export function loadInputOf(values: FlagValues): { file: string | null; overrides: CliOverrides } {
  const optional = {
    listen: textIn(values, 'listen'),
    admin: textIn(values, 'admin'),
    client: textIn(values, 'client'),
    logLevel: textIn(values, 'logLevel'),
    logFile: textIn(values, 'logFile'),
    capture: textIn(values, 'capture'),
  };
  const given = Object.entries(optional).filter(([, value]) => value !== undefined);
  return {
    file: textIn(values, 'config') ?? null,
    overrides: {
      ...Object.fromEntries(given),
      upstreams: textsIn(values, 'upstreams'),
      allowTargets: textsIn(values, 'allowTarget'),
    },
  };
}
