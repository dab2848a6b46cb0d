import { readFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { webhookPause, createWebhooks, type Webhook, type Webhooks } from '../../src/alerts/webhooks.js';
import { alertKinds, type AlertRaised, type WebhookTried } from '../../src/core/alert-events.js';
import { seededRandom } from '../../src/core/random.js';
import { Secret } from '../../src/core/secret.js';
import type { Resolve } from '../../src/open/checked-agent.js';
import { parseAllowEntry } from '../../src/protocol/target.js';
import { forbiddenSpellings } from '../protocol/spellings.js';
import { FakeClock } from '../support/fake-clock.js';
import { waitFor } from '../support/wait.js';

interface Told {
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver that keeps what it is told, and counts who came. */
let server: http.Server;
let port = 0;
let accepts = 0;
let told: Told[] = [];
let answers: (number | 'hangs' | 'moved' | 'cut')[] = [];

beforeAll(async () => {
  server = http.createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      told.push({ headers: request.headers, body });
      const answer = answers.shift() ?? 204;
      if (answer === 'cut') request.socket.destroy();
      else if (answer === 'moved') response.writeHead(307, { location: `http://127.0.0.1:${port}/` }).end();
      else if (answer !== 'hangs') response.writeHead(answer).end();
    });
  });
  server.on('connection', () => accepts++);
  await new Promise<void>((resolve) => server.listen(0, '::', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

let open: Webhooks[] = [];
afterEach(() => {
  for (const each of open) each.close();
  open = [];
  told = [];
  answers = [];
});

const alertOf = (id: string, kind: AlertRaised['kind'] = 'token_leaked'): AlertRaised => ({
  ...{ type: 'alert_raised', id, kind, state: 'raised', subject: 'shop/anna', clears: null },
  ...{ atMs: 1_700_000_000_000, message: 'A token leaked: grün.', detail: { addresses: 2 } },
});

const secret = 'whsec-0123456789';

interface Bench {
  readonly webhooks: Webhooks;
  readonly clock: FakeClock;
  readonly tries: WebhookTried[];
  outcomes(): string[];
}

function bench(changes: Partial<Webhook> & { readonly to?: string; readonly resolve?: Resolve } = {}): Bench {
  const { to = `http://127.0.0.1:${port}/hook?token=abc`, resolve, ...rest } = changes;
  const allow = [parseAllowEntry(`127.0.0.1:${port}`)].filter((each) => each !== null);
  const webhook: Webhook = {
    ...{ name: 'ops', url: new Secret(to), secret: new Secret(secret), kinds: null, policy: { allow } },
    ...rest,
  };
  const clock = new FakeClock();
  const tries: WebhookTried[] = [];
  const own = { ports: new Set<number>(), addresses: new Set<string>(), names: new Set<string>() };
  const webhooks = createWebhooks({
    ...{ webhooks: () => [webhook], own, clock, random: seededRandom(3), timeoutMs: 300 },
    emit: (event) => void tries.push(event),
    ...(resolve !== undefined && { resolve }),
  });
  open.push(webhooks);
  return { webhooks, clock, tries, outcomes: () => tries.map(({ outcome }) => outcome) };
}

/** What docs/audit.md tells receivers to do, as it stands there. */
let isGenuine: (secret: string, signature: string, body: string, nowSeconds?: number) => boolean;
beforeAll(async () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../docs/audit.md'), 'utf8');
  const code = /^```js\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? '';
  const example = `data:text/javascript,${encodeURIComponent(code)}`;
  ({ isGenuine } = (await import(/* @vite-ignore */ example)) as { isGenuine: typeof isGenuine });
});

const genuine = ({ headers, body }: Told, nowMs: number): boolean =>
  isGenuine(secret, String(headers['x-turnpike-signature']), body, nowMs / 1000);

describe('a webhook', () => {
  it('K13 is told once, signed, with an id', async () => {
    const { webhooks, clock, tries } = bench();
    webhooks.tell(alertOf('a1'));
    await waitFor('the alert', () => tries.length > 0);
    expect(tries).toEqual([
      { type: 'webhook_tried', webhook: 'ops', alert: 'a1', outcome: 'delivered', reason: '' },
    ]);
    const [first] = told;
    expect(told).toHaveLength(1);
    expect(first?.headers).toMatchObject({
      ...{ 'x-turnpike-alert-id': 'a1', 'content-type': 'application/json' },
    });
    expect(JSON.parse(first?.body ?? '')).toEqual({
      ...{ id: 'a1', kind: 'token_leaked', state: 'raised', subject: 'shop/anna', clears: null },
      ...{ at: '2023-11-14T22:13:20.000Z', message: 'A token leaked: grün.', detail: { addresses: 2 } },
    });
    expect(first !== undefined && genuine(first, clock.wallMs())).toBe(true);
    expect(first !== undefined && genuine({ ...first, body: `${first.body} ` }, clock.wallMs())).toBe(false);
    expect(first !== undefined && genuine(first, clock.wallMs() + 600_000)).toBe(false);
    expect(webhooks.waiting()).toBe(0);
  });

  it('K13 is told again after 500s, a redirect, a cut and a silence, with a fresh time and the same id', async () => {
    answers = [500, 'moved', 'cut', 'hangs', 200];
    const { webhooks, clock, tries, outcomes } = bench();
    webhooks.tell(alertOf('a1'));
    webhooks.tell(alertOf('a2'));
    for (let tried = 1; tried <= 4; tried++) {
      await waitFor('a try', () => tries.length === tried);
      clock.advance(webhookPause(tried, 1));
    }
    await waitFor('both', () => tries.length === 6);
    expect(outcomes()).toEqual(['retried', 'retried', 'retried', 'retried', 'delivered', 'delivered']);
    expect(tries.slice(0, 4).map(({ reason }) => reason)).toEqual([
      ...['it answered 500', 'it answered 307', expect.any(String) as string, 'no answer in time'],
    ]);
    expect(told.map(({ headers }) => headers['x-turnpike-alert-id'])).toEqual([
      ...['a1', 'a1', 'a1', 'a1', 'a1', 'a2'],
    ]);
    expect(new Set(told.map(({ headers }) => headers['x-turnpike-signature'])).size).toBeGreaterThan(3);
  });

  it('is given up after ten tries, and what waits behind it has its turn', async () => {
    answers = Array.from({ length: 10 }, () => 503);
    const { webhooks, clock, tries, outcomes } = bench();
    webhooks.tell(alertOf('a1'));
    webhooks.tell(alertOf('a2'));
    for (let tried = 1; tried <= 10; tried++) {
      await waitFor('a try', () => tries.length >= tried);
      clock.advance(400_000);
    }
    await waitFor('the second', () => tries.length === 11);
    expect(outcomes()).toEqual([...Array.from({ length: 9 }, () => 'retried'), 'failed', 'delivered']);
  });

  it('waits for at most a hundred alerts; the eldest ones go', async () => {
    answers = ['hangs'];
    const { webhooks, tries } = bench();
    for (let n = 0; n < 150; n++) webhooks.tell(alertOf(`a${n}`));
    expect(webhooks.waiting()).toBe(100);
    expect(tries.filter(({ outcome }) => outcome === 'dropped').map(({ alert }) => alert)).toEqual(
      Array.from({ length: 50 }, (_, index) => `a${index + 1}`),
    );
    await waitFor('the try', () => told.length === 1);
    webhooks.close();
    webhooks.tell(alertOf('late'));
    expect(webhooks.waiting()).toBe(0);
  });

  it('hears of the kinds that it wants', () => {
    const { webhooks } = bench({ kinds: ['vault_sealed'] });
    webhooks.tell(alertOf('a1'));
    expect(webhooks.waiting()).toBe(0);
  });

  it('says nothing of URL and secret where it fails', async () => {
    answers = [500];
    const { webhooks, tries } = bench();
    webhooks.tell(alertOf('a1'));
    await waitFor('a try', () => tries.length > 0);
    expect(JSON.stringify(tries)).not.toMatch(/127\.0\.0\.1|token=|whsec/);
  });
});

describe('docs/audit.md', () => {
  it('K13 names every kind of alert', () => {
    const page = readFileSync(resolve(import.meta.dirname, '../../docs/audit.md'), 'utf8');
    expect(alertKinds.filter((kind) => !page.includes(`| \`${kind}\` |`))).toEqual([]);
  });
});

describe('SSRF: no webhook is at an address that is not public', () => {
  it(`Z2 in none of ${forbiddenSpellings.length} spellings`, async () => {
    expect(forbiddenSpellings.length).toBeGreaterThanOrEqual(80);
    const before = accepts;
    for (const [host] of forbiddenSpellings) {
      const { webhooks, tries } = bench({ to: `http://${host}:${port}/hook`, policy: { allow: [] } });
      webhooks.tell(alertOf('a1'));
      await waitFor(host, () => tries.length > 0);
      expect(tries[0]).toMatchObject({ outcome: expect.stringMatching(/^(failed|retried)$/) as string });
    }
    expect(accepts).toBe(before);
  });

  it('Z3 nor by a name, whatever it resolves to', async () => {
    const before = accepts;
    for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1', '10.0.0.1', '169.254.169.254']) {
      const resolve: Resolve = () => Promise.resolve([{ address, family: address.includes(':') ? 6 : 4 }]);
      const { webhooks, tries } = bench({
        to: `http://hooks.example:${port}/`,
        policy: { allow: [] },
        resolve,
      });
      webhooks.tell(alertOf('a1'));
      await waitFor('a try', () => tries.length > 0);
      expect(tries[0]?.reason).toBe('no address that may be visited was found');
    }
    expect(accepts).toBe(before);
  });
});
