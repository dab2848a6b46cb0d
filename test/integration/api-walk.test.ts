/** The walk of docs/api.md by `curl`, as it stands there, on both engines. */
import { createHmac } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tokens } from '../support/admin.js';
import { differences, examplesIn, runExamples } from '../support/doc-examples.js';
import { startPostgres, type RealPostgres } from '../support/real-postgres.js';
import { createStage } from '../support/stage.js';
import { waitFor } from '../support/wait.js';
import { startVaulted, vaultPlace } from '../support/vaulted.js';

const stage = createStage();
let postgres: RealPostgres;
beforeAll(async () => (postgres = await startPostgres()));
afterAll(() => postgres.close());

const engines = ['sqlite', 'postgres'] as const;

async function storageOf(engine: (typeof engines)[number]): Promise<Record<string, unknown> | null> {
  return engine === 'sqlite' ? null : { kind: 'postgres', url: postgres.url(await postgres.empty()) };
}

const secret = 'a secret of the webhook';
const isLow = (body: string): boolean =>
  body.includes('"credentials_low"') && body.includes('twitter_scraping');

/** Somebody who is told of alerts. */
async function startHook(): Promise<{
  readonly url: string;
  readonly host: string;
  readonly told: { readonly body: string; readonly signature: string }[];
  close(): Promise<void>;
}> {
  const told: { body: string; signature: string }[] = [];
  const server = http.createServer((request, answer) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      told.push({ body, signature: String(request.headers['x-turnpike-signature']) });
      answer.end();
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    ...{ url: `http://${host}/hook`, host, told },
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

describe('K3 K4 K13 docs/api.md', () => {
  it.each(engines)('works as it stands, on %s', async (engine) => {
    const place = stage.keep(vaultPlace(await storageOf(engine)));
    const hook = stage.keep(await startHook());
    const alerts = { webhooks: [{ name: 'ops', url: hook.url, secret, allow: [hook.host] }] };
    const { gateway, admin } = stage.keep(await startVaulted(place, { config: { alerts } }));
    const ran = await runExamples(examplesIn('docs/api.md'), {
      admin: `http://127.0.0.1:${gateway.adminPort}`,
      env: { ADMIN_TOKEN: tokens.admin, CRAWLER_TOKEN: tokens.tokens },
    });
    expect(ran.length).toBeGreaterThan(15);
    for (const { script, expected, answer, printed } of ran)
      expect(expected === null ? [] : differences(expected, answer), `${script}\n${printed}`).toEqual([]);
    // The last one that was usable: somebody should look.
    expect((await admin('POST /credentials/user_account_001/ban', {})).status).toBe(200);
    const { body, signature } = await waitFor('an alert', () => hook.told.find((each) => isLow(each.body)));
    expect(JSON.parse(body)).toMatchObject({ kind: 'credentials_low', subject: 'twitter_scraping' });
    const [, time = '', mac = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
    expect(mac).toBe(createHmac('sha256', secret).update(`${time}.${body}`).digest('hex'));
    expect(Math.abs(Date.now() / 1000 - Number(time))).toBeLessThan(300);
  });
});
