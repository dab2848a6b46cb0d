/** `turnpike credentials …`: what is in the vault of a running gateway. Secrets are read from files, never from arguments. */
import { readFileSync } from 'node:fs';
import { fileTrouble } from '../../config/secrets.js';
import { AdminTrouble, adminFlags } from '../admin-client.js';
import type { CommandRow } from '../commands.js';
import { exitCodes } from '../exit-codes.js';
import type { FlagValues } from '../flags.js';
import type { Output } from '../output.js';
import {
  deedCommand,
  field,
  flagText,
  listCommand,
  withGateway,
  word,
  type DeedSpec,
  type Item,
} from '../remote.js';

const typeOfFormat: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  jsonl: 'application/jsonl',
  cookies: 'text/plain',
};
const shownTroubles = 20;

/** The bytes of a file, `-` being standard input. @throws AdminTrouble */
export function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path === '-' ? 0 : path);
  } catch (error) {
    throw new AdminTrouble(`${path} ${fileTrouble(error)}`, exitCodes.notStarted);
  }
}

/** What a file is by its name, where no flag says it. */
function formatOf(values: FlagValues, path: string): string {
  const said = flagText(values, 'format');
  if (said !== null) return said;
  if (path.endsWith('.csv')) return 'csv';
  return /\.(jsonl|ndjson)$/.test(path) ? 'jsonl' : 'cookies';
}

function queryOf(values: FlagValues, format: string): string {
  const named: readonly [string, string | null][] = [
    ['mode', flagText(values, 'mode')],
    ['type', flagText(values, 'type')],
    ['key', flagText(values, 'prefix')],
  ];
  const given = named.filter((entry): entry is [string, string] => entry[1] !== null);
  return new URLSearchParams([['format', format], ...given]).toString();
}

async function importCredentials(values: FlagValues, output: Output): Promise<number> {
  return withGateway(values, output, async (client) => {
    const path = String(values['file']);
    const format = formatOf(values, path);
    const type = typeOfFormat[format] ?? 'text/plain';
    const body = { type, bytes: bytesOf(path) };
    try {
      const answer = await client.sendText(`/api/v1/credentials/import?${queryOf(values, format)}`, body);
      const { created, failed, errors } = answer as { created: number; failed: number; errors: LineError[] };
      if (values['json'] === true) output.print(JSON.stringify(answer));
      else {
        tellErrors(errors, output);
        output.print(`${created} added, ${failed} refused`);
      }
      return failed === 0 ? exitCodes.ok : exitCodes.failed;
    } catch (error) {
      if (error instanceof AdminTrouble) tellErrors(error.errors, output);
      throw error;
    } finally {
      body.bytes.fill(0);
    }
  });
}

interface LineError {
  readonly line?: number;
  readonly message: string;
}

function tellErrors(errors: readonly LineError[], output: Output): void {
  for (const { line, message } of errors.slice(0, shownTroubles))
    output.tell(`line ${line ?? '-'}: ${message}`);
  if (errors.length > shownTroubles) output.tell(`and ${errors.length - shownTroubles} more lines`);
}

/** `region=US`, several with commas between. */
function metaOf(text: string | null): Item {
  const pairs = (text ?? '').split(',').filter((pair) => pair.includes('='));
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
}

const at = (key: string): string => `/api/v1/credentials/${key}`;
const statusSaid = (answer: Item): string =>
  `${word(answer['key'])} ${word(answer['status'])}${
    typeof answer['cool_down_until'] === 'string' ? ` until ${answer['cool_down_until']}` : ''
  }`;

const deeds: readonly DeedSpec[] = [
  {
    name: 'credentials add',
    summary: 'Add a credential; its secret comes from a file or from standard input.',
    argument: 'key',
    flags: [
      { spelling: '--type <type>', help: 'username_password, api_key, cookie_string or oauth2_token' },
      { spelling: '--secret-file <file>', help: 'file with the secret (default "-", standard input)' },
      { spelling: '--meta <pairs>', help: 'what filters go by, such as group=shop,region=US' },
    ],
    method: 'POST',
    path: () => '/api/v1/credentials',
    body: (values, key) => ({
      key,
      type: flagText(values, 'type') ?? '',
      secret: bytesOf(flagText(values, 'secretFile') ?? '-')
        .toString('utf8')
        .replace(/\r?\n$/, ''),
      meta: metaOf(flagText(values, 'meta')),
    }),
    said: statusSaid,
  },
  {
    name: 'credentials cooldown',
    summary: 'Let a credential rest; nobody gets it meanwhile.',
    argument: 'key',
    flags: [{ spelling: '--for <time>', help: 'how long, such as 90s, 10m, 1h (default 1h)' }],
    method: 'POST',
    path: (key) => `${at(key)}/cooldown`,
    body: (values) => ({ duration: flagText(values, 'for') ?? '1h' }),
    said: statusSaid,
  },
  {
    name: 'credentials ban',
    summary: 'Set a credential aside until somebody enables it; its tokens redeem nothing from now on.',
    argument: 'key',
    flags: [{ spelling: '--reason <text>', help: 'why, for those who look later (default "by hand")' }],
    method: 'POST',
    path: (key) => `${at(key)}/ban`,
    body: (values) => ({ reason: flagText(values, 'reason') ?? 'by hand' }),
    said: statusSaid,
  },
  {
    name: 'credentials enable',
    summary: 'Make a credential active, whatever it was.',
    argument: 'key',
    method: 'POST',
    path: (key) => `${at(key)}/enable`,
    said: statusSaid,
  },
  {
    name: 'credentials remove',
    summary: 'Remove a credential; its tokens are over.',
    argument: 'key',
    method: 'DELETE',
    path: at,
    said: ({ key, state }) => `${word(key)} ${word(state)}`,
  },
];

/** The commands. */
export const credentialCommands: readonly CommandRow[] = [
  listCommand({
    name: 'credentials list',
    summary: 'List the credentials of a running gateway, without their secrets.',
    path: '/api/v1/credentials',
    filters: { type: 'only of this type', status: 'only those that were set to this status' },
    columns: {
      KEY: field('key'),
      TYPE: field('type'),
      STATUS: field('status'),
      UNTIL: field('cool_down_until'),
      REASON: field('reason'),
      META: ({ meta }) => JSON.stringify(meta),
    },
  }),
  {
    name: 'credentials import',
    summary: 'Add many credentials from a CSV, JSON lines or Netscape cookie file.',
    argument: { name: 'file' },
    flags: [
      { spelling: '--format <format>', help: 'csv, jsonl or cookies (default by the name of the file)' },
      { spelling: '--mode <mode>', help: 'all: everything or nothing (default); good: what is good' },
      { spelling: '--type <type>', help: 'type of lines that name none' },
      { spelling: '--prefix <text>', help: 'begins the keys of a cookie file' },
      ...adminFlags,
    ],
    run: importCredentials,
  },
  ...deeds.map(deedCommand),
];
