/** Four gateways with one PostgreSQL and one Redis: rates are those of the fleet, and nobody holds what another holds. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin, openDeskRig, type DeskRig } from '../support/desks.js';
import { startPostgres, type RealPostgres } from '../support/real-postgres.js';
import { startRedis, type RealRedis, type TestLink } from '../support/real-redis.js';
import { drawAll, fleetLimits, holdAlone } from '../support/token-load.js';
import { waitFor } from '../support/wait.js';

let server: RealPostgres;
let redis: RealRedis;
const rigs: DeskRig[] = [];
const lines: TestLink[] = [];

beforeAll(async () => {
  [server, redis] = await Promise.all([startPostgres(), startRedis()]);
  const name = await server.withTables();
  for (let n = 0; n < 4; n++) {
    const { limits, line } = await fleetLimits(redis.port, 'fleet');
    lines.push(line);
    rigs.push(await openDeskRig(server.settings(name, { connections: 4 }), { limits }));
  }
  const { credentials } = first().desks;
  for (let n = 0; n < 5; n++)
    await credentials.create({ key: `login-${n}`, type: 'username_password', secret: `u${n}:p${n}` }, admin);
  await credentials.create({ key: 'key', type: 'api_key', secret: 's' }, admin);
});
afterAll(async () => {
  await Promise.all(rigs.map((rig) => rig.close()));
  for (const { link } of lines) link.close();
  await Promise.all([server.close(), redis.close()]);
});

function first(): DeskRig {
  const [rig] = rigs;
  if (rig === undefined) throw new Error('no gateway');
  return rig;
}

async function policies(...bodies: { name: string; [field: string]: unknown }[]): Promise<void> {
  for (const body of bodies)
    expect(await first().desks.policies.create(body, admin)).toMatchObject({ kind: 'created' });
  for (const { name } of bodies)
    await waitFor(`all to know ${name}`, () =>
      rigs.every(({ desks }) => (desks.policies.get(name)?.total ?? 0) > 0),
    );
}

describe('K3 K16 four gateways', () => {
  it('K3 admit what the rate of a policy allows: no more, and not a hundredth less', async () => {
    await policies({
      name: 'paced',
      credential_type: 'api_key',
      constraints: { rate_limit: '100/2s burst 10' },
    });
    const endMs = performance.now() + 3000;
    const { given, limited, seconds } = await drawAll(rigs, {
      ...{ policy: 'paced', workers: 4, isOver: () => performance.now() > endMs },
    });
    const allowed = 10 + 50 * seconds;
    expect(limited).toBeGreaterThan(0);
    expect(given).toBeLessThanOrEqual(allowed + 1);
    expect(given).toBeGreaterThanOrEqual(0.99 * allowed - 1);
  }, 30_000);

  it('K3 never let two hold one login, by whichever policy, with Redis and without', async () => {
    const login = {
      credential_type: 'username_password',
      constraints: { max_concurrent: 1, rate_limit: '100000/s' },
    };
    await policies(
      { ...login, name: 'low', selector: 'least_used' },
      { ...login, name: 'turn', selector: 'round_robin' },
      { ...login, name: 'high', fallback: 'low', constraints: { rate_limit: '2/s', max_concurrent: 1 } },
    );
    const ask = { policies: ['low', 'turn', 'high'], workers: 3, rounds: 12 };
    const together = await holdAlone(rigs, { ...ask, seed: 1 });
    expect(together.overlaps).toEqual([]);
    expect(together.held).toBeGreaterThan(30);
    await redis.close();
    await waitFor('all to know that Redis is away', () => lines.every(({ link }) => !link.isUp));
    const alone = await holdAlone(rigs, { ...ask, seed: 2 });
    expect(alone.overlaps).toEqual([]);
    expect(alone.held).toBeGreaterThan(30);
  }, 60_000);

  it('S3 K3 without Redis each keeps to its part of a rate', async () => {
    await policies({ name: 'parted', credential_type: 'api_key', constraints: { rate_limit: '40/h' } });
    const counts = await Promise.all(
      rigs.map(async ({ desks: { tokens } }) => {
        const asks = Array.from({ length: 20 }, () =>
          tokens.acquire({ policy: 'parted', context: {} }, admin),
        );
        return (await Promise.all(asks)).filter(({ kind }) => kind === 'acquired').length;
      }),
    );
    expect(counts).toEqual([10, 10, 10, 10]);
  });
});
