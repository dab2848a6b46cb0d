/** `/clients`: who may use the proxy port. Those of the configuration are looked at here, stored ones also changed. */
import { z } from 'zod';
import type { ClientChanged, ClientDeskPort, ClientDraft } from '../../access/client-desk.js';
import { actorOf } from '../gate.js';
import { onceHeaders, onlyOnce } from '../once.js';
import { pageOf, pageQuery, slice } from '../pages.js';
import { Problem } from '../problem.js';
import type { ProblemCode } from '../problem-codes.js';
import { route, type ApiRoute } from '../route.js';
import type { AdminServices, ClientRow } from '../services.js';
import { jsonObject, line, name } from '../values.js';
import { onceIn } from '../vault-services.js';

const count = z.number().int();
const most = count.nullable().describe('Null: no limit.');
const rate = z.object({ count: z.number(), perMs: z.number() }).nullable();

const client = z
  .object({
    name: z.string(),
    source: z.enum(['configuration', 'storage']).describe('Only those of the storage can be changed here.'),
    login: z.enum(['password', 'address']),
    allowFrom: z.array(z.string()),
    targets: z.array(z.string()),
    limits: z.object({ requests: rate, tunnels: most, connections: most, exchanges: most, bytes: rate }),
    usage: z.object({
      tunnels: count,
      connections: count.nullable(),
      exchanges: count.nullable(),
      bytes: count.nullable().describe('What of the rate is used and not got back yet.'),
    }),
  })
  .meta({ id: 'Client' });

const byName = z.strictObject({ name: name().describe('Name of the client.') });

const settings = {
  password: line(1024)
    .nullable()
    .optional()
    .describe('8 characters or more; kept as scrypt. Left out in PUT: it stays. Null: known by its address.'),
  allow_from: z.union([z.string(), z.array(z.string())]).optional(),
  tags: z.union([z.string(), z.array(z.string())]).optional(),
  limits: jsonObject().optional(),
  targets: z.union([z.string(), z.array(z.string())]).optional(),
  defaults: jsonObject().optional(),
};
const body = z.strictObject({ name: name(), ...settings }).meta({
  id: 'ClientSettings',
  description: 'As under `clients` in the configuration.',
});
const change = z.strictObject(settings);
const problems: readonly ProblemCode[] = [
  ...(['vault_off', 'storage_away', 'audit_unavailable', 'impossible', 'conflict', 'busy'] as const),
];

const byText = <T extends { readonly name: string }>(rows: readonly T[]): T[] =>
  [...rows].sort((a, b) => (a.name < b.name ? -1 : 1));

function rowOf(services: AdminServices, wanted: string): ClientRow {
  const row = services.clients().find((each) => each.name === wanted);
  if (row === undefined) throw new Problem('not_found', 'There is no client of this name.');
  return row;
}

function deskOf({ clientDesk }: AdminServices): ClientDeskPort {
  if (clientDesk !== null) return clientDesk;
  throw new Problem(
    'vault_off',
    'Clients are stored where there is a storage; put this one into the configuration.',
  );
}

function draftOf({ password, ...rest }: z.output<typeof change>, of: string): ClientDraft {
  const given = Object.entries(rest).filter(([, value]) => value !== undefined);
  return { name: of, settings: Object.fromEntries(given), ...(password !== undefined && { password }) };
}

/** Nothing where it was done. @throws {Problem} */
function settle(outcome: ClientChanged): void {
  switch (outcome.kind) {
    case 'done':
      return;
    case 'unknown':
      throw new Problem('not_found', 'There is no stored client of this name.');
    case 'busy':
      throw new Problem('busy', 'Too many passwords wait to be hashed.');
    case 'taken':
      throw outcome.by === 'storage'
        ? new Problem('exists', 'name: there is a stored client of this name.')
        : new Problem('conflict', 'name: this client stands in the configuration, and is changed there.');
    case 'invalid':
      throw new Problem('impossible', outcome.problems.join('; '));
  }
}

/** As it is seen from now on; at once for whoever asked, half a second later on all gateways. */
function shownOf(services: AdminServices, of: string): ClientRow {
  const row = services.clients().find((each) => each.name === of);
  if (row === undefined) throw new Problem('storage_away', 'It is stored, and could not be read back yet.');
  return row;
}

function lookRoutes(services: AdminServices): ApiRoute[] {
  return [
    route({
      method: 'GET',
      path: '/api/v1/clients',
      summary: 'Clients with their limits and what they use now; never their passwords.',
      query: z.strictObject(pageQuery),
      answer: { status: 200, shape: pageOf(client) },
      handle: ({ query }) => slice(byText(services.clients()), (each) => each.name, query),
    }),
    route({
      method: 'GET',
      path: '/api/v1/clients/:name',
      summary: 'One client.',
      params: byName,
      answer: { status: 200, shape: client },
      handle: ({ params }) => rowOf(services, params.name),
    }),
  ];
}

/** The routes. */
export function clientRoutes(services: AdminServices): ApiRoute[] {
  return [
    ...lookRoutes(services),
    route({
      method: 'POST',
      path: '/api/v1/clients',
      summary: 'Stores a client. It may come in at once, at every gateway within a second.',
      body,
      headers: onceHeaders,
      isOnce: true,
      problems: ['exists', 'vault_sealed', ...problems],
      answer: { status: 201, shape: client },
      handle: (asked) => {
        const { name: of, ...rest } = asked.body;
        const work = async (): Promise<ClientRow> => {
          settle(await deskOf(services).create(draftOf(rest, of), actorOf(asked.request)));
          return shownOf(services, of);
        };
        return services.vault === null ? work() : onlyOnce(onceIn(services.vault), asked, work);
      },
    }),
    route({
      method: 'PUT',
      path: '/api/v1/clients/:name',
      summary: 'Replaces the settings of a stored client; what is proved with another password no longer is.',
      params: byName,
      body: change,
      problems,
      answer: { status: 200, shape: client },
      handle: async ({ params, body: given, request }) => {
        settle(await deskOf(services).replace(draftOf(given, params.name), actorOf(request)));
        return shownOf(services, params.name);
      },
    }),
    route({
      method: 'DELETE',
      path: '/api/v1/clients/:name',
      summary: 'Removes a stored client. Its tunnels are cut.',
      params: byName,
      problems,
      answer: { status: 200, shape: z.object({ name: z.string(), state: z.literal('removed') }) },
      handle: async ({ params, request }) => {
        settle(await deskOf(services).remove(params.name, actorOf(request)));
        return { name: params.name, state: 'removed' };
      },
    }),
  ];
}
