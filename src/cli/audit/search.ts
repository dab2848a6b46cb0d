/** `turnpike audit search`: asks a gateway that runs who used what, newest first. */
import { adminFlags, type AdminClient } from '../admin-client.js';
import type { CommandRow } from '../commands.js';
import { exitCodes } from '../exit-codes.js';
import type { FlagValues } from '../flags.js';
import type { Output } from '../output.js';
import { withGateway } from '../remote.js';
import { table } from '../table.js';

type Item = Readonly<Record<string, unknown>>;

const filters = {
  from: 'only records from this time on, such as 2026-01-31T12:00:00Z',
  to: 'only records up to this time',
  action: 'such as token.redeem',
  actor: 'name of an API token',
  credential: 'key of a credential',
  ref: 'short form of a token (ref of /tokens); never a token itself',
  target: 'what it was for',
  task: 'task that it was for',
};

const columns = ['at', 'action', 'actor', 'address', 'credential', 'token', 'target', 'task', 'outcome'];
const standardLimit = 100;
const mostOfPage = 1000;

const word = (value: unknown): string => (typeof value === 'string' ? value : '-');

async function found(client: AdminClient, wanted: Record<string, string>, limit: number): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor: string | null = null; items.length < limit;) {
    const asked: Record<string, string> = {
      ...{ ...wanted, limit: String(Math.min(mostOfPage, limit - items.length)) },
      ...(cursor !== null && { cursor }),
    };
    const answer = await client.call('GET', `/api/v1/audit?${new URLSearchParams(asked).toString()}`);
    const page = answer as { readonly items: Item[]; readonly next: string | null };
    items.push(...page.items);
    cursor = page.next;
    if (cursor === null) break;
  }
  return items;
}

async function search(values: FlagValues, output: Output): Promise<number> {
  const limit = Number(values['limit'] ?? standardLimit);
  if (!Number.isInteger(limit) || limit < 1) {
    output.tell('turnpike: --limit: expected a whole number from 1');
    return exitCodes.notStarted;
  }
  return withGateway(values, output, async (client) => {
    const wanted = Object.keys(filters).flatMap((name): [string, string][] => {
      const value = values[name];
      // A flag that is named for a token would invite people to give one.
      return typeof value === 'string' ? [[name === 'ref' ? 'token' : name, value]] : [];
    });
    const items = await found(client, Object.fromEntries(wanted), limit);
    if (values['json'] === true) output.print(JSON.stringify(items, null, 2));
    else {
      const rows = items.map((item) => columns.map((name) => word(item[name])));
      output.print(
        table(
          columns.map((name) => name.toUpperCase()),
          rows,
        ),
      );
    }
    return exitCodes.ok;
  });
}

/** The command. */
export const auditSearchCommand: CommandRow = {
  name: 'audit search',
  summary: 'List what a gateway recorded: who used which credential, from where and for what; newest first.',
  flags: [
    ...Object.entries(filters).map(([name, help]) => ({ spelling: `--${name} <${name}>`, help })),
    { spelling: '--limit <count>', help: `at most so many (default ${standardLimit})` },
    ...adminFlags,
  ],
  run: search,
};
