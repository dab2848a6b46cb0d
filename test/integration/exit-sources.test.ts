/** Where exits come from while the gateway serves: watched files, lists from servers, templates. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../support/ask.js';
import { createStage } from '../support/stage.js';
import type { ScriptedUpstream } from '../support/scripted-upstream.js';

const stage = createStage();
const page = 'http://site.example/';
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'turnpike-sources-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const userOf = (head: string | undefined): string =>
  Buffer.from(/^proxy-authorization: Basic (\S+)/im.exec(head ?? '')?.[1] ?? '', 'base64').toString();

describe('G6 a file', () => {
  it('is read anew when it changes; a file that is gone or empty changes nothing; sessions stay', async () => {
    const [one, two] = [await stage.good('one'), await stage.good('two')];
    const file = join(folder, 'watched.txt');
    writeFileSync(file, `${one.url}\n`);
    const gateway = await stage.gateway([], {
      pools: { main: { upstreams: [{ file }] } },
    });
    const inSession = { fields: ['X-Session-Id: s'] };
    expect((await ask(gateway, page, inSession)).field('x-turnpike-session')).toBe('s;1');
    writeFileSync(join(folder, 'next'), `host,port\n${one.host},${one.port}\n${two.host},${two.port}\n`);
    renameSync(join(folder, 'next'), file);
    await gateway.event('pool_loaded', ({ exits }) => exits === 2);
    const bodies = new Set<string>();
    for (let n = 0; n < 4; n++) bodies.add((await ask(gateway, page)).body.toString());
    expect(bodies).toEqual(new Set(['one', 'two']));
    const again = await ask(gateway, page, inSession);
    expect([again.body.toString(), again.field('x-turnpike-session')]).toEqual(['one', 's;1']);
    writeFileSync(file, '# nothing here\n');
    await gateway.event('pool_loaded', ({ outcome }) => outcome === 'kept');
    expect((await ask(gateway, page)).status).toBe(200);
    rmSync(file);
    await gateway.event(
      'pool_loaded',
      ({ outcome, reason }) => outcome === 'kept' && /not exist/.test(reason),
    );
    expect((await ask(gateway, page)).status).toBe(200);
    expect(await gateway.metrics()).toMatch(/turnpike_pool_loads_total\{pool="main",outcome="kept"\} [12]/);
  });
});

describe('G6 a list from a server', () => {
  it('is asked for again, changes the pool when it is another, and stays when the server fails', async () => {
    const [one, two] = [await stage.good('one'), await stage.good('two')];
    let list: string | null = `${one.url}\n`;
    const conditions: (string | undefined)[] = [];
    const server = http.createServer((request, response) => {
      conditions.push(request.headers['if-none-match']);
      const etag = `"${list?.length ?? 0}"`;
      if (list === null) response.writeHead(500).end();
      else if (request.headers['if-none-match'] === etag) response.writeHead(304).end();
      else response.writeHead(200, { etag }).end(list);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    stage.keep({ close: () => new Promise((resolve) => server.close(resolve)) });
    const { port } = server.address() as AddressInfo;
    const source = {
      list: `http://127.0.0.1:${port}/l?token=S3CRET`,
      refresh: '100ms',
      allow: [`127.0.0.1:${port}`],
    };
    const gateway = await stage.gateway([], { pools: { main: { upstreams: [source] } } });
    expect((await ask(gateway, page)).body.toString()).toBe('one');
    await gateway.event('list_fetched', ({ outcome }) => outcome === 'unchanged');
    expect(conditions).toContain(`"${one.url.length + 1}"`);
    list = `${one.url}\n${two.url}\n`;
    await gateway.event('pool_loaded', ({ exits }) => exits === 2);
    list = null;
    const failed = await gateway.event('list_fetched', ({ outcome }) => outcome === 'failed');
    expect(failed.reason).toMatch(/answered 500/);
    expect((await ask(gateway, page)).status).toBe(200);
    expect(JSON.stringify(gateway.events)).not.toContain('S3CRET');
    expect(await gateway.metrics()).toMatch(/turnpike_list_fetches_total\{pool="main",outcome="failed"\} \d/);
  });

  it('is refused from a special address that is not named', async () => {
    const exit = await stage.good('one');
    const source = { list: `http://127.0.0.1:${exit.port}/` };
    const gateway = await stage.gateway([], { pools: { main: { upstreams: [source, { url: exit.url }] } } });
    expect((await gateway.event('list_fetched')).outcome).toBe('failed');
    expect(exit.accepts).toBe(0);
    expect((await ask(gateway, page)).status).toBe(200);
  });
});

describe('G6 a template', () => {
  const vendorUrl = (vendor: ScriptedUpstream): string =>
    `http://customer-C-session-{session}-country-{country}:p%40ss@${vendor.host}:${vendor.port}`;

  it('makes many exits of one endpoint, fills in what is asked, and keeps a session on its own', async () => {
    const vendor = await stage.good('vendor');
    const gateway = await stage.gateway([], {
      pools: { main: { upstreams: [{ template: vendorUrl(vendor), exits: 4 }] } },
    });
    for (let n = 0; n < 4; n++) await ask(gateway, page);
    const users = vendor.heads.map(userOf);
    for (const user of users) expect(user).toMatch(/^customer-C-session-[a-z0-9]{12}:p@ss$/);
    expect(new Set(users).size).toBe(4);
    await ask(gateway, page, { fields: ['X-Turnpike-Country: DE'] });
    expect(userOf(vendor.heads.at(-1))).toMatch(/^customer-C-session-[a-z0-9]{12}-country-de:p@ss$/);
    const refused = await ask(gateway, page, { fields: ['X-Turnpike-City: ulm'] });
    expect(refused.status).toBe(503);
    const sessions: string[] = [];
    for (const id of ['a', 'b', 'a', 'b']) {
      await ask(gateway, page, { fields: [`X-Session-Id: ${id}`] });
      sessions.push(userOf(vendor.heads.at(-1)));
    }
    expect(sessions[2]).toBe(sessions[0]);
    expect(sessions[3]).toBe(sessions[1]);
    expect(sessions[0]).not.toBe(sessions[1]);
    expect(users).not.toContain(sessions[0]);
  });

  it('takes a new session for an exit that is banned, which then counts as new', async () => {
    const blocked = new Set<string>();
    let isBlocking = true;
    const vendor = await stage.exit((peer, { head }) => {
      if (isBlocking) blocked.add(userOf(head));
      if (blocked.has(userOf(head))) peer.answer('blocked', '429 Too Many Requests', ['Retry-After: 3000']);
      else peer.answer('good');
    });
    const gateway = await stage.gateway([], {
      pools: { main: { upstreams: [{ template: vendorUrl(vendor), exits: 1 }] } },
      retry: { retries: 0 },
    });
    expect((await ask(gateway, page)).status).toBe(429);
    isBlocking = false;
    await gateway.event('pool_loaded', ({ reason }) => /new sessions/.test(reason));
    const answer = await ask(gateway, page);
    expect([answer.status, answer.body.toString()]).toEqual([200, 'good']);
    expect(blocked.size).toBe(1);
    expect(blocked).not.toContain(userOf(vendor.heads.at(-1)));
  });
});
