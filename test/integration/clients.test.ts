/**
 * What people crawl with, against a gateway whose exits are real proxies: every program × plain and TLS × with and
 * without a client password × with and without logins at the exits; requests rotate, those of one session do not.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeBrowsers, crawlers, curlOnChallenge, type Crawler, type Login } from '../support/crawlers.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { makeCertificate, startOrigin, type Origin, type TestCertificate } from '../support/real-origins.js';
import { startProxyChain, startSquid, startTinyproxy, type RealProxy } from '../support/real-proxies.js';

const schemes = ['http', 'https'] as const;
type Scheme = (typeof schemes)[number];

const login: Login = { username: 'crawler', password: 'p:w/1 é' };
const ascii: Login = { username: 'crawler', password: 'p-w_1' };

let certificate: TestCertificate;
const origins = {} as Record<Scheme, Origin>;

beforeAll(async () => {
  certificate = await makeCertificate();
  // Each answer ends its connection, so that browsers open a tunnel for each page.
  const handler: Parameters<typeof startOrigin>[0] = {
    handler: (request, response) => {
      response.writeHead(200, { 'content-type': 'text/html', connection: 'close' });
      response.end(request.url === '/' ? '<link rel="icon" href="data:,">' : request.socket.remoteAddress);
    },
  };
  origins.http = await startOrigin(handler);
  origins.https = await startOrigin({ ...handler, certificate });
});

afterAll(async () => {
  await closeBrowsers();
  await Promise.all([origins.http.close(), origins.https.close(), certificate.dispose()]);
});

interface World {
  readonly exits: readonly RealProxy[];
  readonly gateway: TestGateway;
}

async function startWorld(hasUpstreamLogin: boolean, password: string | null): Promise<World> {
  const options = hasUpstreamLogin ? { auth: { username: 'exit', password: 'pass-1' } } : {};
  const exits = await Promise.all([startSquid(options), startTinyproxy(options), startProxyChain(options)]);
  const gateway = await startGateway({
    upstreams: exits.map((exit) => exit.url),
    config: password === null ? {} : { clients: [{ name: 'crawler', password }] },
  });
  return { exits, gateway };
}

async function stopWorld({ exits, gateway }: World): Promise<void> {
  await gateway.close();
  await Promise.all(exits.map((exit) => exit.close()));
}

function urlsOf(scheme: Scheme, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${origins[scheme].url}/ip?n=${index}`);
}

const worlds = [
  { upstream: false, client: null },
  { upstream: true, client: null },
  { upstream: false, client: ascii },
  { upstream: true, client: ascii },
];

const cells = crawlers.flatMap((crawler) =>
  schemes.map((scheme) => ({ crawler, scheme, name: crawler.name })),
);

describe.each(worlds)('G1 G2 exits with login: $upstream, client login: $client.username', (setting) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(setting.upstream, setting.client?.password ?? null);
  });
  afterAll(() => stopWorld(world));

  const fetchIps = async (cell: { crawler: Crawler; scheme: Scheme }, more: object): Promise<string[]> => {
    const proxy = world.gateway.url;
    const crawl = { proxy, certificate, login: setting.client, urls: urlsOf(cell.scheme, 3), ...more };
    const pages = await cell.crawler.fetch(crawl);
    expect(pages.map((page) => page.status)).toEqual([200, 200, 200]);
    return pages.map((page) => page.body);
  };

  it.each(cells)('$name over $scheme: consecutive requests leave by different exits', async (cell) => {
    const ips = await fetchIps(cell, {});
    expect(new Set(ips)).toEqual(new Set(world.exits.map((exit) => exit.host)));
  });

  const withHeaders = cells.filter(({ crawler, scheme }) => crawler.sendsHeaders(scheme));
  it.each(withHeaders)('$name over $scheme: X-Session-Id keeps one exit', async (cell) => {
    const ips = await fetchIps(cell, { session: `h-${cell.name}-${cell.scheme}` });
    expect(new Set(ips).size).toBe(1);
  });

  // Chromium sends a username only when it is asked for one.
  const withUsername = cells.filter(({ name }) => name !== 'chromium' || setting.client !== null);
  it.each(withUsername)('$name over $scheme: a session in the username keeps one exit', async (cell) => {
    const username = `${setting.client?.username ?? ''}+session=u-${cell.name}-${cell.scheme}`;
    const password = setting.client?.password ?? 'x';
    const ips = await fetchIps(cell, { login: { username, password } });
    expect(new Set(ips).size).toBe(1);
  });
});

describe('the challenge', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(false, login.password);
  });
  afterAll(() => stopWorld(world));

  const onChallenge = [curlOnChallenge, ...crawlers.filter((crawler) => crawler.name === 'chromium')];
  const asked = onChallenge.flatMap((crawler) =>
    schemes.map((scheme) => ({ crawler, scheme, name: crawler.name })),
  );
  it.each(asked)('$name over $scheme: logs in when it is asked to', async ({ crawler, scheme }) => {
    const before = world.gateway.events.length;
    const urls = urlsOf(scheme, 1);
    const [page] = await crawler.fetch({ proxy: world.gateway.url, login, urls, certificate });
    expect(page?.status).toBe(200);
    const { events } = world.gateway;
    const codes = events.slice(before).map((event) => (event.type === 'exchange_ended' ? event.code : ''));
    expect(codes).toContain('auth_required');
  });

  it.each(cells)('$name over $scheme: nothing leaves without a login', async ({ crawler, scheme }) => {
    const before = origins[scheme].requests();
    const urls = urlsOf(scheme, 1);
    const crawl = { proxy: world.gateway.url, login: null, urls, certificate };
    const status = await crawler.fetch(crawl).then(
      ([page]) => page?.status,
      () => 407,
    );
    expect(status).toBe(407);
    expect(origins[scheme].requests()).toBe(before);
  });

  it('takes a password with a colon, a slash, a blank and an umlaut', async () => {
    const [page] = await curlOnChallenge.fetch({
      ...{ proxy: world.gateway.url, login, certificate },
      urls: urlsOf('https', 1),
    });
    expect(page?.status).toBe(200);
  });
});
