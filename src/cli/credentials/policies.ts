/** `turnpike policies …` and `turnpike tokens …`: how credentials are given out, and which tokens are out. */
import { AdminTrouble, adminFlags } from '../admin-client.js';
import type { CommandRow } from '../commands.js';
import { exitCodes } from '../exit-codes.js';
import type { FlagValues } from '../flags.js';
import type { Output } from '../output.js';
import { deedCommand, field, listCommand, stateSaid, withGateway, word, type Item } from '../remote.js';
import { bytesOf } from './credentials.js';

function policyIn(path: string): Item & { readonly name: string } {
  try {
    const body: unknown = JSON.parse(bytesOf(path).toString('utf8'));
    if (typeof body === 'object' && body !== null && 'name' in body && typeof body.name === 'string')
      return { ...body, name: body.name };
  } catch (error) {
    if (error instanceof AdminTrouble) throw error;
  }
  throw new AdminTrouble(`${path}: expected a policy as JSON, with its name`, exitCodes.notStarted);
}

/** Makes the policy, or replaces the one that has its name. */
async function applyPolicy(values: FlagValues, output: Output): Promise<number> {
  return withGateway(values, output, async (client) => {
    const body = policyIn(String(values['file']));
    const answer = await client.call('POST', '/api/v1/policies', body).catch((error: unknown) => {
      if (!(error instanceof AdminTrouble) || error.status !== 409) throw error;
      return client.call('PUT', `/api/v1/policies/${encodeURIComponent(body.name)}`, body);
    });
    const { name, usable, total, warnings } = answer as Item;
    if (values['json'] === true) output.print(JSON.stringify(answer));
    else output.print(`${word(name)}: ${word(usable)} of ${word(total)} credentials usable`);
    for (const warning of Array.isArray(warnings) ? warnings : []) output.tell(`warning: ${word(warning)}`);
    return exitCodes.ok;
  });
}

/** The commands. */
export const policyCommands: readonly CommandRow[] = [
  listCommand({
    name: 'policies list',
    summary: 'List the policies of a running gateway, with how many of their credentials are usable.',
    path: '/api/v1/policies',
    filters: {},
    columns: {
      POLICY: field('name'),
      TYPE: field('credential_type'),
      SELECTOR: field('selector'),
      FILTERS: ({ filters }) => JSON.stringify(filters ?? {}),
      CONSTRAINTS: ({ constraints }) => JSON.stringify(constraints ?? {}),
      FALLBACK: field('fallback'),
      USABLE: ({ usable, total }) => `${word(usable)}/${word(total)}`,
    },
  }),
  {
    name: 'policies apply',
    summary: 'Make the policy of a JSON file, or replace the one of its name.',
    argument: { name: 'file' },
    flags: adminFlags,
    run: applyPolicy,
  },
  deedCommand({
    name: 'policies remove',
    summary: 'Remove a policy that no other falls back to.',
    argument: 'policy',
    method: 'DELETE',
    path: (name) => `/api/v1/policies/${name}`,
    said: ({ name, state }) => `${word(name)} ${word(state)}`,
  }),
  listCommand({
    name: 'tokens list',
    summary: 'List the tokens that are out, without the tokens themselves.',
    path: '/api/v1/tokens',
    filters: {
      credential: 'only of this credential',
      holder: 'only of this API token',
      policy: 'only of this policy',
    },
    columns: {
      REF: field('ref'),
      CREDENTIAL: field('credential_key'),
      POLICY: field('policy_name'),
      HOLDER: field('holder'),
      USES: field('uses'),
      EXPIRES: field('expires_at'),
      ADDRESSES: ({ addresses }) => (Array.isArray(addresses) ? addresses.join(',') : ''),
    },
  }),
  deedCommand({
    name: 'tokens revoke',
    summary: 'Take a token back, whoever holds it, by its ref in the list.',
    argument: 'ref',
    method: 'DELETE',
    path: (ref) => `/api/v1/tokens/${ref}`,
    said: (answer) => stateSaid({ id: answer['ref'], state: answer['state'] }),
  }),
];
