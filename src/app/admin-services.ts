/** What the admin API shows and does, put together from the parts of the gateway: the two don't know each other. */
import type { Client } from '../access/clients.js';
import { anonymousClient } from '../access/clients.js';
import type { EventFeed } from '../admin/event-feed.js';
import type {
  AdminServices,
  ClientRow,
  ClusterRow,
  PoolRow,
  Reloaded,
  Status,
  TierRow,
} from '../admin/services.js';
import type { VaultServices } from '../admin/vault-services.js';
import type { BanDesk } from '../exits/ban-desk.js';
import { countExits } from '../exits/count-exits.js';
import type { ExitDesk } from '../exits/exit-desk.js';
import { noUpstreamLogins } from '../exits/upstream-logins.js';
import { cutOnBan } from '../gateway/cut-tunnels.js';
import { takeFeedback } from '../gateway/feedback.js';
import type { GatewayServices } from '../gateway/services.js';
import type { KeptLogins } from './kept-logins.js';
import { testRules } from './test-rules.js';
import { checkTarget, parseAuthority } from '../protocol/target.js';
import type { Upstream } from '../upstreams/upstream.js';

/** The parts. */
export interface AdminWorld {
  readonly services: GatewayServices;
  readonly exits: ExitDesk;
  readonly bans: BanDesk;
  readonly feed: EventFeed;
  readonly vault: VaultServices | null;
  readonly kept: KeptLogins | null;
  status(): Status;
  cluster(exit: string | null): ClusterRow;
  reload(): Promise<Reloaded | null>;
}

/** Makes the services. */
export function adminServices(world: AdminWorld): AdminServices {
  const { services, exits, bans, feed } = world;
  return {
    ...{ clock: services.clock, exits, bans, feed, vault: world.vault },
    clientDesk: world.kept?.desk ?? null,
    upstreamLogin: (key) => (world.kept?.logins ?? noUpstreamLogins).read(key),
    sessions: services.pins,
    status: () => world.status(),
    cluster: (exit) => world.cluster(exit),
    reload: () => world.reload(),
    testRules: (test) => testRules(services, test),
    pools: () => poolRows(services),
    clients: () => clientRows(services),
    sites: () => services.siteGuard.guarded(),
    tiers: (most) => tierRows(services, most),
    paces: (most) => services.paces.learnt(most),
    clientOf: (authorization, remoteAddress) => clientOf(services, authorization, remoteAddress),
    feedback: (client, said) => takeFeedback(services, client, said),
    addressFault: (upstream) => addressFault(services, upstream),
    tunnelsOfBanned: (ban, onBan) => cutOnBan(services, ban, onBan),
  };
}

/** A client proves itself here as on the proxy port. */
async function clientOf(
  services: GatewayServices,
  authorization: string,
  remoteAddress: string,
): Promise<string | null> {
  const auth = services.rules().clients.authenticate({
    ...{ proxyAuthorization: authorization, remoteAddress },
    ...{ listenerDefaultClient: null, nowMs: services.clock.nowMs() },
  });
  const settled = auth.kind === 'pending' ? await auth.settled : auth;
  return settled.kind === 'client' ? settled.client.name : null;
}

function tierRows(services: GatewayServices, most: number): TierRow[] {
  const { routes } = services.rules().runtime;
  return services.tiers.raised(most).flatMap(({ route, site, tier, why }) => {
    const pool = routes.find(({ label }) => label === route)?.pools[tier];
    return pool === undefined ? [] : [{ route, site, pool, why }];
  });
}

function poolRows(services: GatewayServices): PoolRow[] {
  const { pools } = services.rules().runtime;
  const rows = new Map(
    [...pools.values()].map(({ name, strategy, slotsPerExit }) => [
      name,
      {
        ...{ name, strategy, slots: Number.isFinite(slotsPerExit) ? slotsPerExit : null },
        exits: { available: 0, out: 0, frozen: 0, draining: 0 },
      },
    ]),
  );
  for (const { pool, state, count } of countExits(pools, services.ledger, services.clock.nowMs())) {
    const row = rows.get(pool);
    if (row !== undefined) row.exits[state] = count;
  }
  return [...rows.values()];
}

function clientRows(services: GatewayServices): ClientRow[] {
  const { rateLimits, relays } = services;
  const tunnels = new Map<string, number>();
  for (const { owner } of relays) tunnels.set(owner, (tunnels.get(owner) ?? 0) + 1);
  const all = services.rules().clients.all();
  const shown: readonly Client[] = all.length === 0 ? [anonymousClient] : all;
  const { clients } = services.rules();
  return shown.map(({ name, password, allowFrom, targets, limits }) => {
    const held = (kind: 'connection' | 'exchange', most: number | null): number | null =>
      most === null ? null : rateLimits.heldBy(name, kind);
    const { requests, bytes } = limits;
    return {
      ...{ name, login: password === null ? 'address' : 'password', allowFrom: [...allowFrom], targets },
      source: all.length === 0 || clients.isConfigured(name) ? 'configuration' : 'storage',
      limits: {
        requests: requests === null ? null : { count: requests.count, perMs: requests.perMs },
        ...{ tunnels: limits.tunnels, connections: limits.connections, exchanges: limits.exchanges },
        bytes: bytes === null ? null : { count: bytes.count, perMs: bytes.perMs },
      },
      usage: {
        tunnels: tunnels.get(name) ?? 0,
        connections: held('connection', limits.connections),
        exchanges: held('exchange', limits.exchanges),
        bytes: bytes === null ? null : rateLimits.bytesUsedBy(name, bytes, services.clock.nowMs()),
      },
    };
  });
}

/**
 * Why an exit may not be added by the API. What the configuration names is the operator's word; a token's is less:
 * private and special addresses need an entry under `targets.allow`, or an exit of the configuration at that place.
 */
function addressFault(services: GatewayServices, upstream: Upstream): string | null {
  const { host, port } = upstream;
  if (upstream.protocol === 'direct') return 'url: direct:// can only be listed in the configuration.';
  const parsed = parseAuthority(`${host.includes(':') ? `[${host}]` : host}:${port}`);
  if (parsed.kind !== 'target') return `url: ${parsed.failure.detail}`;
  const rules = services.rules();
  const failure = checkTarget(parsed.target, rules.targets, services.own);
  if (failure === null) return null;
  if (failure.code === 'loop_detected') return 'url: this is the gateway itself.';
  for (const pool of rules.runtime.pools.values()) {
    if (pool.upstreams.some((known) => known.host === host && known.port === port)) return null;
  }
  return 'url: an exit at a private or special address needs an entry under targets.allow.';
}
