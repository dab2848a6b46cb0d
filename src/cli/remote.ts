/** `turnpike exits list|freeze|…`, `sessions`, `bans`, `status`: what a gateway that runs is asked and told. */
import { AdminClient, AdminTrouble, accessOf, adminFlags } from './admin-client.js';
import type { CommandRow } from './commands.js';
import { exitCodes } from './exit-codes.js';
import type { FlagValues } from './flags.js';
import type { Output } from './output.js';
import { duration, table } from './table.js';

/** One item of an answer. */
export type Item = Readonly<Record<string, unknown>>;

/** A value as people see it. */
export const word = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '-';
/** The text of a flag or an argument; null where it was not given. */
export const flagText = (values: FlagValues, name: string): string | null => {
  const value = values[name];
  return typeof value === 'string' ? value : null;
};

/** Runs work that asks a gateway, and says in one line what went wrong. */
export async function withGateway(
  values: FlagValues,
  output: Output,
  work: (client: AdminClient) => Promise<number>,
): Promise<number> {
  try {
    return await work(new AdminClient(accessOf(values)));
  } catch (error) {
    if (!(error instanceof AdminTrouble)) throw error;
    output.tell(`turnpike: ${error.message}`);
    return error.exitCode;
  }
}

/** A list: where it is, what narrows it, and how it looks to people. */
export interface ListSpec {
  readonly name: string;
  readonly summary: string;
  readonly path: string;
  /** Flags that are passed on, with their help. */
  readonly filters: Readonly<Record<string, string>>;
  readonly columns: Readonly<Record<string, (item: Item) => string>>;
}

/** The command of a list. */
export function listCommand(spec: ListSpec): CommandRow {
  const filters = Object.entries(spec.filters);
  return {
    name: spec.name,
    summary: spec.summary,
    flags: [...filters.map(([name, help]) => ({ spelling: `--${name} <${name}>`, help })), ...adminFlags],
    run: (values, output) =>
      withGateway(values, output, async (client) => {
        const query = Object.fromEntries(filters.map(([name]) => [name, flagText(values, name)]));
        const items = await client.all(spec.path, query);
        if (values['json'] === true) output.print(JSON.stringify(items, null, 2));
        else {
          const rows = items.map((item) => Object.values(spec.columns).map((cell) => cell(item)));
          output.print(table(Object.keys(spec.columns), rows));
        }
        return exitCodes.ok;
      }),
  };
}

/** A column that shows a field as it is. */
export const field =
  (name: string) =>
  (item: Item): string =>
    word(item[name]);

/** `403 header cf-mitigated: challenge, request g1-a`; what is unknown is left out. */
function evidenceSaid(evidence: unknown): string {
  if (typeof evidence !== 'object' || evidence === null) return '';
  const { status, field: where, found, requestId } = evidence as Item;
  const what = [status, where]
    .filter((each) => each !== null && each !== undefined)
    .map(word)
    .join(' ');
  const seen = word(found) === '' ? what : `${what}: ${word(found)}`;
  return requestId === null ? seen : `${seen}, request ${word(requestId)}`;
}

const lists: readonly ListSpec[] = [
  {
    name: 'exits list',
    summary: 'List the exits of a running gateway with their state.',
    path: '/api/v1/upstreams',
    filters: { pool: 'only this pool', state: 'available, out, frozen or draining' },
    columns: {
      EXIT: field('id'),
      POOL: field('pool'),
      ADDRESS: field('label'),
      STATE: field('state'),
      'IN FLIGHT': field('inFlight'),
      'FIRST BYTE': ({ firstByteMs }) => duration(firstByteMs),
      STRIKES: field('strikes'),
      'BANNED FOR': ({ bannedSites }) => (Array.isArray(bannedSites) ? bannedSites.join(',') : ''),
    },
  },
  {
    name: 'bans',
    summary: 'List the bans of a running gateway.',
    path: '/api/v1/bans',
    filters: {},
    columns: {
      BAN: field('id'),
      ADDRESS: ({ label, credential }) => (credential === null ? word(label) : '(a login)'),
      REASON: field('reason'),
      EVIDENCE: ({ evidence }) => evidenceSaid(evidence),
      STRIKES: field('strikes'),
      PHASE: field('phase'),
      LEFT: ({ leftMs }) => duration(leftMs),
    },
  },
  {
    name: 'sites',
    summary: 'List the sites that are down, and those where a rule is suspended.',
    path: '/api/v1/sites',
    filters: {},
    columns: {
      SITE: field('site'),
      STATE: field('state'),
      RULE: field('rule'),
      SINCE: field('since'),
      EXITS: field('exits'),
    },
  },
  {
    name: 'sessions',
    summary: 'List the sessions of a running gateway.',
    path: '/api/v1/sessions',
    filters: { client: 'only those of this client', exit: 'only those on this exit' },
    columns: {
      CLIENT: field('client'),
      SESSION: field('session'),
      EXIT: field('exit'),
      GENERATION: field('generation'),
      LEFT: ({ leftMs }) => duration(leftMs),
    },
  },
];

/** One thing done. */
export interface DeedSpec {
  readonly name: string;
  readonly summary: string;
  /** What it is done to; nothing where it is the gateway. */
  readonly argument?: string;
  readonly flags?: CommandRow['flags'];
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path(argument: string): string;
  body?(values: FlagValues, argument: string): Item;
  said(answer: Item): string;
}

/** The command of a deed. */
export function deedCommand(spec: DeedSpec): CommandRow {
  return {
    name: spec.name,
    summary: spec.summary,
    ...(spec.argument !== undefined && { argument: { name: spec.argument } }),
    flags: [...(spec.flags ?? []), ...adminFlags],
    run: (values, output) =>
      withGateway(values, output, async (client) => {
        const argument = flagText(values, spec.argument ?? '') ?? '';
        const answer = (await client.call(
          spec.method,
          spec.path(encodeURIComponent(argument)),
          spec.body?.(values, argument),
        )) as Item;
        output.print(values['json'] === true ? JSON.stringify(answer) : spec.said(answer));
        return exitCodes.ok;
      }),
  };
}

/** What most deeds have to say. */
export const stateSaid = (answer: Item): string => `${word(answer['id'])} ${word(answer['state'])}`;

const order = (verb: 'freeze' | 'thaw' | 'drain', summary: string): DeedSpec => ({
  name: `exits ${verb}`,
  summary,
  argument: 'exit',
  method: 'POST',
  path: (exit) => `/api/v1/upstreams/${exit}/${verb}`,
  said: stateSaid,
});

const deeds: readonly DeedSpec[] = [
  order('freeze', 'Keep new requests off an exit; its sessions stay.'),
  order('thaw', 'Take a freeze or a drain back.'),
  order('drain', 'Freeze an exit, and remove it when its last session is over.'),
  {
    name: 'exits remove',
    summary: 'Remove an exit at once: its tunnels end, its sessions move.',
    argument: 'exit',
    method: 'DELETE',
    path: (exit) => `/api/v1/upstreams/${exit}`,
    said: stateSaid,
  },
  {
    name: 'exits ban',
    summary: 'Ban an exit for a site, or altogether.',
    argument: 'exit',
    flags: [
      { spelling: '--site <host>', help: 'site it is banned for; without it for all' },
      { spelling: '--ttl <time>', help: 'how long, such as 90s, 10m, 1h; without it as the rules say' },
      { spelling: '--reason <text>', help: 'why, for those who look later (default "by hand")' },
      { spelling: '--tunnels <what>', help: 'keep, close_idle or close its open tunnels' },
    ],
    method: 'POST',
    path: () => '/api/v1/bans',
    body: (values, exit) => {
      const named = ['site', 'ttl', 'tunnels'].map((name): [string, string | null] => [
        name,
        flagText(values, name),
      ]);
      const given: Record<string, unknown> = Object.fromEntries(named.filter(([, value]) => value !== null));
      return { ...given, exit, reason: flagText(values, 'reason') ?? 'by hand' };
    },
    said: (answer) => `${word(answer['id'])} banned until ${word(answer['until'])}`,
  },
  {
    name: 'exits lift',
    summary: 'End a ban, named as `bans` lists it: EXIT:SITE, EXIT:* or CREDENTIAL:SITE.',
    argument: 'ban',
    method: 'DELETE',
    path: (ban) => `/api/v1/bans/${ban}`,
    said: stateSaid,
  },
  {
    name: 'reload',
    summary: 'Take the configuration and the lists anew; what is wrong keeps the old ones.',
    method: 'POST',
    path: () => '/api/v1/reload',
    said: ({ upstreams, changed, needsRestart }) =>
      `${word(upstreams)} upstreams; changed: ${named(changed)}; needs a restart: ${named(needsRestart)}`,
  },
];

function named(names: unknown): string {
  return Array.isArray(names) && names.length > 0 ? names.join(', ') : 'nothing';
}

const status: CommandRow = {
  name: 'status',
  summary: 'Say how a running gateway is.',
  flags: adminFlags,
  run: (values, output) =>
    withGateway(values, output, async (client) => {
      const answer = (await client.call('GET', '/api/v1/status')) as Item;
      if (values['json'] === true) output.print(JSON.stringify(answer, null, 2));
      else {
        const rows = Object.entries(answer).map(([name, value]) => {
          const shown = typeof value === 'object' ? JSON.stringify(value) : word(value);
          return [name, name === 'uptimeMs' ? duration(value) : shown];
        });
        output.print(table(['', ''], rows).trimStart());
      }
      return exitCodes.ok;
    }),
};

/** The commands. */
export const remoteCommands: readonly CommandRow[] = [
  ...lists.map(listCommand),
  ...deeds.map(deedCommand),
  status,
];
