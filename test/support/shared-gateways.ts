/** Some gateways in this process that share a Redis of their own: every event of each can be seen. */
import { seededRandom } from '../../src/core/random.js';
import { adminSection, askAdmin } from './admin.js';
import type { GatewayOptions, TestGateway } from './gateway.js';
import { startRedis, type RealRedis } from './real-redis.js';
import type { ScriptedUpstream } from './scripted-upstream.js';
import type { Stage } from './stage.js';
import { eventually } from './wait.js';

let seeds = 10;

/** Gateways that know each other, and their Redis. */
export interface SharedGateways {
  readonly redis: RealRedis;
  readonly gateways: TestGateway[];
}

/** Starts them; each has chance of its own, or they would take each other for themselves. */
export async function startSharedGateways(
  stage: Stage,
  exits: readonly ScriptedUpstream[],
  config: GatewayOptions['config'] = {},
  how: {
    readonly count?: number;
    readonly parts?: GatewayOptions['parts'];
    /** More for the n-th. */
    readonly partsOf?: (n: number) => GatewayOptions['parts'];
  } = {},
): Promise<SharedGateways> {
  const redis = stage.keep(await startRedis());
  const state = { kind: 'redis', url: `redis://127.0.0.1:${redis.port}`, secret: 'a secret of the fleet' };
  const join = (_: unknown, n: number): Promise<TestGateway> => {
    const parts = { ...how.parts, ...how.partsOf?.(n), random: seededRandom(seeds++) };
    return stage.gateway(exits, { admin: adminSection, state, ...config }, { parts });
  };
  const gateways = await Promise.all(Array.from({ length: how.count ?? 3 }, join));
  const count = new RegExp(`^turnpike_state_gateways ${gateways.length}$`, 'm');
  for (const gateway of gateways)
    await eventually('all to find each other', async () => count.test(await gateway.metrics()));
  return { redis, gateways };
}

/** The ids of all exits. */
export const exitIdsOf = async (gateway: TestGateway): Promise<string[]> =>
  ((await askAdmin(gateway.adminPort, '/api/v1/upstreams')).body.items as { id: string }[]).map(
    ({ id }) => id,
  );
/** All bans that are on. */
export const bansOf = async (gateway: TestGateway): Promise<Record<string, unknown>[]> =>
  (await askAdmin(gateway.adminPort, '/api/v1/bans')).body.items as Record<string, unknown>[];
/** Waits until each gateway has so many bans. */
export const eachHas = (gateways: readonly TestGateway[], bans: number): Promise<void> =>
  eventually(`${bans} bans at each`, async () =>
    (await Promise.all(gateways.map(bansOf))).every(({ length }) => length === bans),
  );
