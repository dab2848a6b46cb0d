/** PostgreSQL is killed and comes back while the proxy port is busy: the API says so, and nothing else notices. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askAdmin } from '../support/admin.js';
import { ask } from '../support/ask.js';
import { startPostgres, type RealPostgres } from '../support/real-postgres.js';
import { createStage } from '../support/stage.js';
import { startVaulted, vaultPlace } from '../support/vaulted.js';
import { eventually } from '../support/wait.js';

const stage = createStage();
let postgres: RealPostgres;
beforeAll(async () => (postgres = await startPostgres()));
afterAll(() => postgres.close());

const account = (key: string) => ({
  type: 'api_key',
  key,
  secret: `secret-of-${key}`,
  meta: { group: 'shop' },
});

describe('K10 storage away', () => {
  it('is 503 with a code at the API; the proxy port goes on, and it works again by itself', async () => {
    const url = postgres.url(await postgres.empty());
    const place = stage.keep(vaultPlace({ kind: 'postgres', url, timeout: '1s' }));
    const exit = await stage.good('good');
    const { gateway, admin, crawler } = stage.keep(await startVaulted(place, { upstreams: [exit.url] }));
    await admin('POST /credentials', account('a1'));
    await admin('POST /policies', { name: 'shop', credential_type: 'api_key' });
    const token = (await crawler('POST /tokens/acquire', { policy_name: 'shop' })).body.token_id;

    const traffic = { isOn: true, done: 0, failed: 0 };
    const drive = async (): Promise<void> => {
      while (traffic.isOn) {
        const { status } = await ask(gateway, 'http://site.example/');
        if (status === 200) traffic.done++;
        else traffic.failed++;
      }
    };
    const drivers = [1, 2, 3, 4].map(() => drive());
    const codeOf = async (route: string, body?: unknown): Promise<unknown> => {
      const answer = await admin(route, body);
      if (answer.status === 503) expect(answer.headers['retry-after']).toBeDefined();
      return answer.status === 503 ? answer.body.code : answer.status;
    };
    await postgres.kill();
    const away = ['storage_away', 'audit_unavailable'];
    for (const [route, body] of [
      ['POST /tokens/redeem', { token_id: token }],
      ['POST /tokens/acquire', { policy_name: 'shop' }],
      ['POST /credentials', account('a2')],
      ['GET /credentials', undefined],
      ['GET /audit', undefined],
    ] as const)
      expect(away, route).toContain(await codeOf(route, body));
    await eventually('readiness to tell of it', async () => {
      const { status, body } = await askAdmin(gateway.adminPort, '/readyz', { token: null });
      return status === 200 && body.storage === 'away';
    });
    expect(await codeOf('GET /policies')).toBe(200);

    await postgres.startAgain();
    await eventually('the token to be redeemed again', async () => {
      const { status, body } = await crawler('POST /tokens/redeem', { token_id: token });
      return status === 200 && body.secret === 'secret-of-a1';
    });
    await eventually(
      'a new one to be made',
      async () => (await codeOf('POST /credentials', account('a3'))) === 201,
    );
    const keys = (await admin('GET /credentials')).body.items.map(({ key }: { key: string }) => key);
    expect(keys).toEqual(expect.arrayContaining(['a1', 'a3']));
    await eventually('readiness to tell of it', async () => {
      return (await askAdmin(gateway.adminPort, '/readyz')).body.storage === 'up';
    });
    traffic.isOn = false;
    await Promise.all(drivers);
    expect(traffic.failed).toBe(0);
    expect(traffic.done).toBeGreaterThan(100);
  });
});
