/**
 * What a token may do: one table from route to scope. A route that is not in it is refused to everybody, so that a
 * forgotten row closes a door and opens none.
 */

/** `tokens` is for crawlers: it takes credentials out and sees nothing else. */
export const scopes = ['admin', 'operator', 'read', 'tokens'] as const;

export type Scope = (typeof scopes)[number];

/** Each scope with those that it holds. */
const holds: Readonly<Record<Scope, readonly Scope[]>> = {
  admin: scopes,
  operator: ['operator', 'read'],
  read: ['read'],
  tokens: ['tokens'],
};

/** What a route wants: a scope, nothing at all, or what the setting `admin.metrics` says. */
export type Need = Scope | 'open' | 'metrics';

/** The table: method and path as the routes declare them. HEAD goes with GET. */
export const routeNeeds: Readonly<Record<string, Need>> = {
  'GET /healthz': 'open',
  'GET /readyz': 'open',
  'GET /metrics': 'metrics',
  'GET /api/v1/openapi.json': 'read',
  'GET /api/v1/status': 'read',
  'GET /api/v1/pools': 'read',
  'GET /api/v1/upstreams': 'read',
  'GET /api/v1/upstreams/:id': 'read',
  'POST /api/v1/upstreams': 'admin',
  'POST /api/v1/upstreams/:id/freeze': 'operator',
  'POST /api/v1/upstreams/:id/thaw': 'operator',
  'POST /api/v1/upstreams/:id/drain': 'operator',
  'DELETE /api/v1/upstreams/:id': 'operator',
  'GET /api/v1/bans': 'read',
  'POST /api/v1/bans': 'operator',
  'DELETE /api/v1/bans/:id': 'operator',
  'POST /api/v1/feedback': 'operator',
  'GET /api/v1/sites': 'read',
  'GET /api/v1/cluster': 'read',
  'POST /api/v1/rules/test': 'operator',
  'GET /api/v1/sessions': 'read',
  'DELETE /api/v1/sessions/:client/:session': 'operator',
  'GET /api/v1/clients': 'read',
  'POST /api/v1/clients': 'admin',
  'GET /api/v1/clients/:name': 'read',
  'PUT /api/v1/clients/:name': 'admin',
  'DELETE /api/v1/clients/:name': 'admin',
  'GET /api/v1/events': 'read',
  'POST /api/v1/reload': 'operator',
  'GET /api/v1/credentials': 'read',
  'POST /api/v1/credentials': 'admin',
  'POST /api/v1/credentials/import': 'admin',
  'GET /api/v1/credentials/:key': 'read',
  'PATCH /api/v1/credentials/:key': 'admin',
  'DELETE /api/v1/credentials/:key': 'admin',
  'POST /api/v1/credentials/:key/cooldown': 'operator',
  'POST /api/v1/credentials/:key/ban': 'operator',
  'POST /api/v1/credentials/:key/enable': 'operator',
  'GET /api/v1/policies': 'read',
  'POST /api/v1/policies': 'admin',
  'GET /api/v1/policies/:name': 'read',
  'PUT /api/v1/policies/:name': 'admin',
  'DELETE /api/v1/policies/:name': 'admin',
  'POST /api/v1/tokens/acquire': 'tokens',
  'POST /api/v1/tokens/redeem': 'tokens',
  'POST /api/v1/tokens/release': 'tokens',
  'POST /api/v1/tokens/consume': 'tokens',
  'POST /api/v1/tokens/report': 'tokens',
  'GET /api/v1/tokens': 'admin',
  'DELETE /api/v1/tokens/:ref': 'admin',
  'GET /api/v1/audit': 'read',
  'GET /api/v1/keys': 'read',
  'POST /api/v1/keys/rotate': 'admin',
  'DELETE /api/v1/keys/:term': 'admin',
  'POST /api/v1/vault/unseal': 'operator',
};

/** Routes at which a client speaks for itself: its proxy login does in place of a token. */
const forClients: ReadonlySet<string> = new Set(['POST /api/v1/feedback']);

const table = new Map(Object.entries(routeNeeds));

/** What a route wants; null where nobody has said so. */
export function needOf(method: string, path: string): Need | null {
  return table.get(`${method === 'HEAD' ? 'GET' : method} ${path}`) ?? null;
}

/** Whether a client may use the route with its proxy login. */
export function isForClients(method: string, path: string): boolean {
  return forClients.has(`${method} ${path}`);
}

/** Whether these scopes hold the one that is needed. */
export function isWithin(held: readonly Scope[], need: Scope): boolean {
  return held.some((scope) => holds[scope].includes(need));
}
