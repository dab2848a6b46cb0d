/** `/upstreams`: look at exits, add them, give orders about them, remove them. */
import { z } from 'zod';
import type { Actor } from '../../credentials/actor.js';
import { exitStates } from '../../exits/count-exits.js';
import type { ExitPlace, ExitRow } from '../../exits/exit-desk.js';
import { credentialId, credentialOf } from '../../upstreams/credential-of.js';
import { parseList } from '../../upstreams/list.js';
import type { Upstream, UpstreamOptions, VaultLogin } from '../../upstreams/upstream.js';
import type { NoLogin } from '../../exits/upstream-logins.js';
import { actorOf } from '../gate.js';
import { cursorAt, pageOf, pageQuery, placeOf } from '../pages.js';
import { Problem } from '../problem.js';
import type { ProblemCode } from '../problem-codes.js';
import { route, type ApiRoute } from '../route.js';
import type { AdminServices } from '../services.js';
import { useProblems } from '../vault-services.js';
import { exitId, line, name } from '../values.js';

const shownSites = 20;
const VAULT = 'vault:';

const vaultRef = z
  .string()
  .regex(/^vault:[^\s\u0000-\u001f\u007f]{1,256}$/, { error: 'expected vault:KEY' })
  .describe('Its login, from the vault; then url holds none.');

const whyCodes: Readonly<Record<NoLogin, ProblemCode>> = {
  ...{ off: 'vault_off', sealed: 'vault_sealed', away: 'storage_away' },
  ...{ missing: 'impossible', wrong_type: 'impossible', unusable: 'impossible', disabled: 'impossible' },
};

const upstream = z
  .object({
    id: z.string(),
    label: z.string().describe('Protocol, host and port; never the login.'),
    pool: z.string(),
    state: z.enum(exitStates).describe('out: set aside for all sites; frozen and draining: by order.'),
    inFlight: z.number().int(),
    firstByteMs: z.number().nullable().describe('Smoothed time to the first byte; null before the first.'),
    outForMs: z.number().nullable().describe('Time left out altogether; 0: half-open; null: not out.'),
    strikes: z.number().int(),
    successes: z.number().int(),
    failures: z.number().int(),
    bannedSites: z.array(z.string()).describe(`Sites it is banned for, at most ${shownSites}.`),
    bannedSiteCount: z.number().int(),
    weight: z.number(),
    tags: z.array(z.string()),
    country: z.string().nullable(),
    city: z.string().nullable(),
    asn: z.number().nullable(),
    hasLogin: z.boolean(),
    credential: z.string().nullable().describe('Names its login, the same for all exits that share it.'),
  })
  .meta({ id: 'Upstream' });

const byId = z.strictObject({ id: exitId() });
const ordered = z.object({ id: z.string(), state: z.enum([...exitStates, 'removed']) });

function shown({ pool, state, exit }: ExitRow, nowMs: number): z.output<typeof upstream> {
  const { upstream: each, bannedSites } = exit;
  return {
    ...{ id: each.id, label: each.label, pool, state },
    inFlight: exit.inFlight,
    firstByteMs: exit.firstByteMs === null ? null : Math.round(exit.firstByteMs),
    outForMs: exit.downUntilMs === null ? null : Math.max(0, Math.round(exit.downUntilMs - nowMs)),
    ...{ strikes: exit.strikes, successes: exit.successes, failures: exit.failures },
    bannedSites: bannedSites.slice(0, shownSites),
    bannedSiteCount: bannedSites.length,
    ...{ weight: each.weight, tags: [...each.tags] },
    ...{ country: each.country, city: each.city, asn: each.asn },
    hasLogin: each.login !== null,
    credential: shownCredential(each),
  };
}

function shownCredential(of: Upstream): string | null {
  const name = credentialOf(of);
  return name === null ? null : credentialId(name);
}

const unknown = (): Problem => new Problem('not_found', 'No pool has an exit of this id.');

function readPlace(cursor: string | undefined): ExitPlace | null {
  if (cursor === undefined) return null;
  const [pool = '', index = '', id = ''] = placeOf(cursor).split('\n');
  if (!/^\d{1,9}$/.test(index)) throw new Problem('malformed', 'The cursor is none of ours.');
  return { pool, index: Number(index), id };
}

function hasPool(services: AdminServices, name: string): boolean {
  return services.pools().some((pool) => pool.name === name);
}

function noPool(services: AdminServices, name: string): Problem {
  const names = services.pools().map((pool) => pool.name);
  return new Problem(
    'impossible',
    `There is no pool ${name}; the configuration has ${names.join(', ') || 'none'}.`,
  );
}

function lookRoutes(services: AdminServices): ApiRoute[] {
  const { exits, clock } = services;
  return [
    route({
      method: 'GET',
      path: '/api/v1/upstreams',
      summary: 'Exits. A page may be short or empty before the end: go on until next is null.',
      query: z.strictObject({ ...pageQuery, pool: name().optional(), state: z.enum(exitStates).optional() }),
      answer: { status: 200, shape: pageOf(upstream) },
      handle: ({ query }) => {
        const after = readPlace(query.cursor);
        const { pool = null, state = null, limit } = query;
        if (pool !== null && !hasPool(services, pool)) throw noPool(services, pool);
        const { rows, next } = exits.page({ pool, state, after, limit });
        return {
          items: rows.map((row) => shown(row, clock.nowMs())),
          next: next === null ? null : cursorAt([next.pool, next.index, next.id].join('\n')),
        };
      },
    }),
    route({
      method: 'GET',
      path: '/api/v1/upstreams/:id',
      summary: 'One exit.',
      params: byId,
      answer: { status: 200, shape: upstream },
      handle: ({ params }) => {
        const row = exits.row(params.id);
        if (row === null) throw unknown();
        return shown(row, clock.nowMs());
      },
    }),
  ];
}

/** The one exit of a line. No reason repeats any of it: it may hold a password. */
function readExit(text: string, options: UpstreamOptions): Upstream {
  const { entries, problems } = parseList(text, options);
  const [entry] = entries;
  if (entry === undefined || problems.length > 0)
    throw new Problem('impossible', `url: ${problems[0]?.reason ?? 'there is no exit in this line'}.`);
  return entry;
}

/** @throws {Problem} where there is none to use */
async function vaultLogin(services: AdminServices, reference: string): Promise<VaultLogin> {
  const key = reference.slice(VAULT.length);
  const read = await services.upstreamLogin(key);
  if (read.kind === 'login') return { key, username: read.username, password: read.password.reveal() };
  throw new Problem(whyCodes[read.why], `credential: ${read.detail}.`);
}

/** Whoever adds an exit decides where a login is sent. */
async function auditUse(
  { vault }: AdminServices,
  of: { readonly login: VaultLogin; readonly added: Upstream; readonly pool: string },
  { name: actor, address }: Actor,
): Promise<void> {
  const entry = { action: 'upstream_login.use', actor, address, credential: of.login.key, outcome: 'ok' };
  await vault?.audit.record({ ...entry, target: of.added.label, detail: { pool: of.pool } });
}

function addRoute(services: AdminServices): ApiRoute {
  const { exits, clock } = services;
  return route({
    method: 'POST',
    path: '/api/v1/upstreams',
    summary: 'Adds an exit to a pool. It stays until it is removed or the gateway ends.',
    body: z.strictObject({
      pool: name(),
      url: line(2048).describe(
        'A line as in lists: protocol://user:password@host:port, host:port:user:password …',
      ),
      credential: vaultRef.optional(),
      weight: z.number().min(0.001).max(1e6).optional(),
      tags: z.array(name()).max(32).optional(),
    }),
    problems: ['exists', ...useProblems],
    answer: { status: 201, shape: upstream },
    handle: async ({ body, by, request }) => {
      if (!hasPool(services, body.pool)) throw noPool(services, body.pool);
      const { weight, tags, credential } = body;
      const login = credential === undefined ? undefined : await vaultLogin(services, credential);
      const options = {
        ...(weight !== undefined && { weight }),
        ...(tags !== undefined && { tags }),
        ...(login !== undefined && { login }),
      };
      const added = readExit(body.url, options);
      const fault = services.addressFault(added);
      if (fault !== null) throw new Problem('impossible', fault);
      if (login !== undefined) await auditUse(services, { login, added, pool: body.pool }, actorOf(request));
      const isNew = await exits.add(body.pool, added, by);
      if (!isNew) throw new Problem('exists', `The pool has this exit already, as ${added.id}.`);
      const row = exits.row(added.id);
      if (row === null) throw new Problem('conflict', 'It was removed again at the same time.');
      return shown({ ...row, pool: body.pool }, clock.nowMs());
    },
  });
}

function orderRoute(
  services: AdminServices,
  order: { readonly word: 'freeze' | 'thaw'; readonly summary: string },
): ApiRoute {
  const { exits } = services;
  return route({
    method: 'POST',
    path: `/api/v1/upstreams/:id/${order.word}`,
    summary: order.summary,
    params: byId,
    answer: { status: 200, shape: ordered },
    handle: ({ params: { id }, by }) => {
      if (!exits.order(id, order.word === 'freeze' ? 'frozen' : null, by)) throw unknown();
      return { id, state: exits.row(id)?.state ?? 'removed' };
    },
  });
}

/** The routes. */
export function upstreamRoutes(services: AdminServices): ApiRoute[] {
  const { exits } = services;
  return [
    ...lookRoutes(services),
    addRoute(services),
    orderRoute(services, { word: 'freeze', summary: 'Keeps new requests off; sessions stay.' }),
    orderRoute(services, { word: 'thaw', summary: 'Takes a freeze or a drain back.' }),
    route({
      method: 'POST',
      path: '/api/v1/upstreams/:id/drain',
      summary: 'Like freeze, and removes the exit when its last session is over and nothing is in flight.',
      params: byId,
      answer: { status: 200, shape: ordered },
      handle: async ({ params: { id }, by }) => {
        const isGone = await exits.drain(id, by);
        if (isGone === null) throw unknown();
        return { id, state: isGone ? 'removed' : 'draining' };
      },
    }),
    route({
      method: 'DELETE',
      path: '/api/v1/upstreams/:id',
      summary: 'Removes an exit from all pools at once. Its tunnels end, its sessions move.',
      params: byId,
      answer: { status: 200, shape: ordered },
      handle: async ({ params: { id }, by }) => {
        if (!(await exits.remove(id, by))) throw unknown();
        return { id, state: 'removed' };
      },
    }),
  ];
}
