import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { route } from '../../src/admin/route.js';
import { adminRoutes } from '../../src/admin/route-table.js';
import { createAdminServer } from '../../src/admin/server.js';
import type { AdminParts, AdminServer, Readiness } from '../../src/admin/server.js';
import type { AdminServices } from '../../src/admin/services.js';
import { TokenBook } from '../../src/admin/tokens.js';
import { Secret } from '../../src/core/secret.js';

let server: AdminServer | null = null;
afterEach(async () => server?.close());

const partsWith = (changes: Partial<AdminParts> = {}): AdminParts => ({
  metrics: { render: async () => 'turnpike_tunnels_open 1\n', contentType: 'text/plain; version=0.0.4' },
  readiness: () => ({ phase: 'serving', state: 'memory' }),
  ...changes,
});

async function start(changes: Partial<AdminParts> = {}, host = '127.0.0.1'): Promise<number> {
  server = createAdminServer(partsWith(changes));
  return (await server.listen(host, 0)).port;
}

interface Answer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Sends bytes as they are and reads the answer until the other side closes. */
function raw(port: number, bytes: string, host = '127.0.0.1'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, host, () => socket.write(bytes));
    socket.on('data', (chunk) => (text += chunk.toString('latin1')));
    socket.on('error', reject);
    socket.on('close', () => {
      const [head = '', ...body] = text.split('\r\n\r\n');
      resolve({
        status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0),
        head,
        body: body.join('\r\n\r\n'),
      });
    });
  });
}

const get = (port: number, target: string, host = '127.0.0.1'): Promise<Answer> =>
  raw(port, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);

describe('routes', () => {
  it('/metrics gives the metrics in their own type', async () => {
    const answer = await get(await start(), '/metrics');
    expect(answer).toMatchObject({ status: 200, body: 'turnpike_tunnels_open 1\n' });
    expect(answer.head).toMatch(/content-type: text\/plain; version=0\.0\.4/i);
    expect(answer.head).toMatch(/cache-control: no-store/i);
  });

  it('/healthz is 200 as long as there is somebody to answer', async () => {
    const answer = await get(
      await start({ readiness: () => ({ phase: 'draining', state: 'memory' }) }),
      '/healthz',
    );
    expect([answer.status, JSON.parse(answer.body)]).toEqual([200, { status: 'alive' }]);
  });

  it('/readyz follows the phase at once', async () => {
    let phase: Readiness['phase'] = 'starting';
    const port = await start({ readiness: () => ({ phase, state: 'memory', detail: { exits: 3 } }) });
    const statuses: number[] = [];
    for (phase of ['starting', 'serving', 'draining'] as const) {
      const answer = await get(port, '/readyz');
      statuses.push(answer.status);
      expect(JSON.parse(answer.body)).toEqual({ phase, state: 'memory', exits: 3 });
    }
    expect(statuses).toEqual([503, 200, 503]);
  });

  it('are those of the table', () => {
    expect(adminRoutes(partsWith()).map(({ path }) => path)).toEqual(['/metrics', '/healthz', '/readyz']);
  });
});

describe('errors', () => {
  const problem = (answer: Answer) => ({
    ...JSON.parse(answer.body),
    type: /content-type: ([^;\s]+)/i.exec(answer.head)?.[1],
  });

  it('are problems in JSON', async () => {
    const port = await start();
    expect(problem(await get(port, '/nowhere'))).toMatchObject({
      status: 404,
      type: 'application/problem+json',
    });
    const posted = await raw(
      port,
      'POST /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
    );
    expect(problem(posted)).toMatchObject({ status: 405 });
  });

  it('tell nothing of the inside', async () => {
    const render = async (): Promise<string> => {
      throw new Error('CANARY http://u:p@h');
    };
    const answer = await get(await start({ metrics: { render, contentType: 'text/plain' } }), '/metrics');
    expect(answer.status).toBe(500);
    expect(answer.body).not.toMatch(/CANARY|u:p/);
  });

  it('of the client do not reach a route', async () => {
    const port = await start();
    expect(problem(await raw(port, 'nonsense\r\n\r\n'))).toMatchObject({
      status: 400,
      type: 'application/problem+json',
    });
    expect((await get(port, `/${'x'.repeat(20_000)}`)).status).toBe(414);
    expect((await get(port, `/${'x'.repeat(100_000)}`)).status).toBe(431);
    expect((await get(port, '/%zz')).status).toBeGreaterThanOrEqual(400);
  });
});

describe('who was called', () => {
  it.each([
    '127.0.0.1',
    '127.0.0.1:9',
    'localhost',
    'LOCALHOST.',
    '127.1.2.3:80',
    '[::1]:80',
    'gateway.internal',
    'GATEWAY.internal:8081',
  ])('by %s it is this listener', async (host) => {
    expect((await get(await start({ hosts: ['gateway.internal'] }), '/healthz', host)).status).toBe(200);
  });

  it.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '10.0.0.1',
    '0.0.0.0',
    '2130706433',
    '127.1',
    'a@localhost',
    'localhost/x',
    '',
  ])('by %j it is another', async (host) => {
    const answer = await get(await start(), '/metrics', host);
    expect(answer.status).toBe(421);
    expect(answer.body).not.toContain('turnpike_tunnels_open');
  });

  it('must be clear: no Host or two are refused', async () => {
    const port = await start();
    expect((await raw(port, 'GET /metrics HTTP/1.1\r\nConnection: close\r\n\r\n')).status).toBe(400);
    const two = 'GET /metrics HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\nConnection: close\r\n\r\n';
    expect((await raw(port, two)).status).toBeGreaterThanOrEqual(400);
  });

  it.each(['http://127.0.0.1/metrics', 'http://evil.example/', '*', 'metrics'])(
    '%s is no path',
    async (target) => {
      const answer = await get(await start(), target);
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.status).toBeLessThan(500);
      expect(answer.body).not.toContain('turnpike_tunnels_open');
    },
  );

  it('is no proxy: CONNECT and upgrades get nothing', async () => {
    const port = await start();
    const connected = await raw(port, 'CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n');
    expect(connected.status === 0 || connected.status >= 400).toBe(true);
    const upgraded = await raw(
      port,
      'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n',
    );
    expect(upgraded.status).not.toBe(101);
  });

  it('on all addresses is called by the one that was reached', async () => {
    const port = await start({}, '0.0.0.0');
    expect((await get(port, '/healthz', '127.0.0.1')).status).toBe(200);
    expect((await get(port, '/healthz', '0.0.0.0')).status).toBe(421);
  });
});

describe('listening', () => {
  it('says where, and says when it can not', async () => {
    const port = await start();
    expect(port).toBeGreaterThan(0);
    const second = createAdminServer(partsWith());
    await expect(second.listen('127.0.0.1', port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await second.close();
  });

  it('ends at once when closed, also with connections open, and can be closed before it began', async () => {
    const port = await start();
    const socket = connect(port, '127.0.0.1');
    await new Promise((done) => socket.once('connect', done));
    const gone = new Promise((done) => socket.once('close', done));
    const before = performance.now();
    await server?.close();
    await gone;
    expect(performance.now() - before).toBeLessThan(1000);
    await createAdminServer(partsWith()).close();
  });
});

describe('a route that nobody put into the table', () => {
  it('is refused to everybody', async () => {
    const undeclared = route({
      method: 'GET',
      path: '/api/v1/forgotten',
      summary: 'A route whose author forgot its row.',
      handle: () => ({ secret: 'CANARY' }),
    });
    const tokens = new TokenBook([
      { name: 'root', token: new Secret('a-good-token-0123'), scopes: ['admin'] },
    ]);
    const api = { tokens, services: {} as AdminServices };
    server = createAdminServer(partsWith({ api }), { routes: [undeclared] });
    const { port } = await server.listen('127.0.0.1', 0);
    const asked = (field: string) =>
      raw(port, `GET /api/v1/forgotten HTTP/1.1\r\nHost: localhost\r\n${field}Connection: close\r\n\r\n`);
    expect((await asked('')).status).toBe(401);
    const answer = await asked('Authorization: Bearer a-good-token-0123\r\n');
    expect(answer.status).toBe(403);
    expect(answer.body).not.toContain('CANARY');
  });
});
