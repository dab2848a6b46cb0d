import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createListFetch,
  type FetchedList,
  type FetchParts,
  type ListAsk,
} from '../../src/exits/list-fetch.js';
import { parseAllowEntry } from '../../src/protocol/target.js';

/** A list server that keeps what it was asked, and counts who came. */
let server: http.Server;
let port = 0;
let accepts = 0;
const asked: http.IncomingMessage[] = [];

beforeAll(async () => {
  server = http.createServer((request, response) => {
    asked.push(request);
    answer(request.url ?? '', request, response);
  });
  server.on('connection', () => accepts++);
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function answer(url: string, request: http.IncomingMessage, response: http.ServerResponse): void {
  const to = (location: string): void => void response.writeHead(302, { location }).end();
  if (url.startsWith('/list')) {
    if (request.headers['if-none-match'] === '"1"') response.writeHead(304).end();
    else
      response
        .writeHead(200, { etag: '"1"', 'last-modified': 'Mon, 30 Nov 2026 00:00:00 GMT' })
        .end('h:1\nh:2\n');
  } else if (url === '/large') response.end('x'.repeat(2000));
  else if (url === '/slow') response.write('h:1\n');
  else if (url === '/moved') to('/list');
  else if (url === '/loop') to('/loop');
  else if (url === '/inside') to(`http://127.0.0.2:${port}/list`);
  else if (url === '/file') to('file:///etc/passwd');
  else if (url === '/cut') {
    response.writeHead(200, { 'content-length': '100' }).write('h:1\n');
    setImmediate(() => response.destroy());
  } else response.writeHead(403).end('no');
}

const own = { ports: new Set<number>(), addresses: new Set<string>(), names: new Set<string>() };

function get(
  url: string,
  options: { allow?: readonly string[]; parts?: Partial<FetchParts>; last?: ListAsk['last'] } = {},
): Promise<FetchedList> {
  const allow = (options.allow ?? [`127.0.0.1:${port}`])
    .map(parseAllowEntry)
    .filter((entry) => entry !== null);
  const fetch = createListFetch({ own, maxBytes: 1000, timeoutMs: 2000, ...options.parts });
  return fetch({ url, policy: { allow }, last: options.last ?? null });
}

const textOf = (fetched: FetchedList): string =>
  fetched.kind === 'fresh' ? Buffer.from(fetched.bytes).toString() : fetched.kind;

describe('a list by its URL', () => {
  it('comes once, and after that only when it is another', async () => {
    const first = await get(`http://127.0.0.1:${port}/list`);
    expect(textOf(first)).toBe('h:1\nh:2\n');
    const stamp = first.kind === 'fresh' ? first.stamp : null;
    expect(stamp).toEqual({ etag: '"1"', lastModified: 'Mon, 30 Nov 2026 00:00:00 GMT' });
    expect(await get(`http://127.0.0.1:${port}/list`, { last: stamp })).toEqual({ kind: 'unchanged' });
  });

  it('follows a redirect, and gives the login to its own origin only', async () => {
    expect(textOf(await get(`http://me:pä%3Ass@127.0.0.1:${port}/moved`))).toBe('h:1\nh:2\n');
    const login = `Basic ${Buffer.from('me:pä:ss').toString('base64')}`;
    expect(asked.slice(-2).map(({ headers }) => headers.authorization)).toEqual([login, login]);
    await get(`http://me:pw@127.0.0.1:${port}/inside`, { allow: ['127.0.0.0/8'] });
    expect(asked.at(-1)?.headers.host).toMatch(/^127\.0\.0\.2/);
    expect(asked.at(-1)?.headers.authorization).toBeUndefined();
  });

  it.each([
    ['/large', /longer than the 1000 bytes/],
    ['/loop', /redirects more than 3 times/],
    ['/file', /redirects to no http URL/],
    ['/none', /answered 403/],
    ['/inside', /may not be asked for lists/],
    ['/cut', /while fetching the list/],
  ])('%s is a failure that says why', async (path, reason) => {
    const fetched = await get(`http://me:S3CRET@127.0.0.1:${port}${path}`);
    expect(fetched.kind).toBe('failed');
    if (fetched.kind !== 'failed') return;
    expect(fetched.reason).toMatch(reason);
    expect(fetched.reason).not.toContain('S3CRET');
  });

  it('that never ends is given up', async () => {
    const fetched = await get(`http://127.0.0.1:${port}/slow`, { parts: { timeoutMs: 100 } });
    expect(fetched).toEqual({ kind: 'failed', reason: 'there was no whole answer in time' });
  });

  it('that is no URL, or nobody serves, is a failure', async () => {
    expect(await get('ftp://h/x')).toMatchObject({ kind: 'failed' });
    expect((await get('nonsense')).kind).toBe('failed');
    expect((await get('http://127.0.0.1:1/', { allow: ['127.0.0.1:1'] })).kind).toBe('failed');
  });
});

describe('Z SSRF: special addresses are not asked', () => {
  const spellings = [
    ...[
      '127.0.0.1',
      '127.1',
      '2130706433',
      '0x7f000001',
      '0177.0.0.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '0.0.0.0',
    ],
    ...['localhost', 'LOCALHOST.', 'x.localhost', '１２７.0.0.1', '[::]', '0'],
    ...['10.0.0.1', '192.168.0.1', '172.16.0.1', '169.254.169.254', '100.64.0.1', '[fd00::1]', '[fe80::1]'],
    ...['metadata.google.internal', 'printer.local', '224.0.0.1', '255.255.255.255', '[64:ff9b::7f00:1]'],
  ];

  it.each(spellings)('%s', async (host) => {
    const before = accepts;
    const fetched = await get(`http://${host}:${port}/list`, { allow: [] });
    expect(fetched.kind).toBe('failed');
    expect(accepts).toBe(before);
  });

  it('nor is a name that resolves to one, whatever it resolved to before', async () => {
    const before = accepts;
    let turn = 0;
    const resolve: FetchParts['resolve'] = () =>
      Promise.resolve(
        turn++ % 2 === 0
          ? [{ address: '127.0.0.1', family: 4 }]
          : [{ address: '::ffff:127.0.0.1', family: 6 }],
      );
    for (let n = 0; n < 20; n++) {
      const fetched = await get(`http://lists.example:${port}/list`, { allow: [], parts: { resolve } });
      expect(fetched).toMatchObject({ kind: 'failed' });
    }
    expect(turn).toBe(20);
    expect(accepts).toBe(before);
  });

  it('but those that the source names are, by address or by name', async () => {
    const resolve: FetchParts['resolve'] = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
    const url = `http://lists.example:${port}/list`;
    expect(textOf(await get(url, { parts: { resolve } }))).toBe('h:1\nh:2\n');
    expect(textOf(await get(url, { allow: ['lists.example'], parts: { resolve } }))).toBe('h:1\nh:2\n');
    const ours = { ...own, ports: new Set([port]) };
    expect((await get(`http://127.0.0.1:${port}/list`, { parts: { own: ours } })).kind).toBe('failed');
  });
});
