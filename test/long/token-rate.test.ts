/** One policy at 300/minute on four gateways for a minute, over PostgreSQL and Redis. */
import { expect, it } from 'vitest';
import { admin, openDeskRig } from '../support/desks.js';
import { startPostgres } from '../support/real-postgres.js';
import { startRedis } from '../support/real-redis.js';
import { drawAll, fleetLimits } from '../support/token-load.js';
import { waitFor } from '../support/wait.js';

it.each([
  ['300/minute', 300],
  ['300/minute burst 30', 30],
])(
  'K3 K16 %s: a burst and the rate are admitted, no more, and not a hundredth less',
  async (rate, burst) => {
    const [server, redis] = await Promise.all([startPostgres(), startRedis()]);
    const name = await server.withTables();
    const fleet = await Promise.all(
      [1, 2, 3, 4].map(async () => {
        const { limits, line } = await fleetLimits(redis.port, 'fleet');
        return { line, rig: await openDeskRig(server.settings(name, { connections: 4 }), { limits }) };
      }),
    );
    const rigs = fleet.map(({ rig }) => rig);
    const [first] = rigs;
    for (let n = 0; n < 20; n++)
      await first?.desks.credentials.create({ key: `k${n}`, type: 'api_key', secret: 's' }, admin);
    const body = { name: 'paced', credential_type: 'api_key', constraints: { rate_limit: rate } };
    await first?.desks.policies.create(body, admin);
    await waitFor('all to know', () => rigs.every(({ desks }) => desks.policies.get('paced')?.total === 20));
    const endMs = performance.now() + 60_000;
    const { given, limited, seconds } = await drawAll(rigs, {
      ...{ policy: 'paced', workers: 8, isOver: () => performance.now() > endMs },
    });
    const allowed = burst + 5 * seconds;
    process.stdout.write(
      `${rate}: ${given} of ${allowed.toFixed(1)} in ${seconds.toFixed(1)} s, ${limited} refused\n`,
    );
    await Promise.all(rigs.map((rig) => rig.close()));
    for (const { line } of fleet) line.link.close();
    await Promise.all([server.close(), redis.close()]);
    expect(given).toBeLessThanOrEqual(allowed + 1);
    expect(given).toBeGreaterThanOrEqual(0.99 * allowed);
  },
  150_000,
);
