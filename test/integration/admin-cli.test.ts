/** The commands that ask a running gateway, and the one that tries exits. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { run } from '../../src/cli/run.js';
import { keptOutput, type KeptOutput } from '../cli/support.js';
import { adminSection, exitsOf, tokens } from '../support/admin.js';
import { ask } from '../support/ask.js';
import type { TestGateway } from '../support/gateway.js';
import { createStage } from '../support/stage.js';
import { refusedPort } from '../support/scripted-upstream.js';

const stage = createStage();
let folder = '';
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'turnpike-cli-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Ran extends KeptOutput {
  readonly code: number;
  readonly drawn: string[];
  json(): ReturnType<typeof JSON.parse>;
}

async function turnpike(gateway: TestGateway | null, ...args: string[]): Promise<Ran> {
  const file = join(folder, 'token');
  writeFileSync(file, `${tokens.admin}\n`);
  const drawn: string[] = [];
  const output = { ...keptOutput(), drawn, draw: (text: string) => void drawn.push(text) };
  const access =
    gateway === null ? [] : ['--admin', `http://127.0.0.1:${gateway.adminPort}`, '--token-file', file];
  const code = await run([...args, ...access], output);
  return { ...output, code, json: () => JSON.parse(output.printed.join('\n')) };
}

const withExits = async (...names: string[]): Promise<TestGateway> => {
  const exits = await Promise.all(names.map((name) => stage.good(name)));
  return stage.gateway(exits, { admin: adminSection });
};

describe('reload', () => {
  it('takes the configuration anew and says what changed; what is wrong keeps the old one', async () => {
    const exit = await stage.good('a');
    const file = join(folder, 'turnpike.yaml');
    const write = (more: string): void =>
      writeFileSync(file, `pools: { main: { upstreams: [{ url: "${exit.url}" }] } }\n${more}`);
    write('');
    const load = () => loadConfig({ file, overrides: {}, env: {} });
    const gateway = await stage.gateway([exit], { admin: adminSection }, { parts: { load } });
    write('data_dir: ./elsewhere\nretry: { retries: 1 }\n');
    const done = await turnpike(gateway, 'reload');
    expect([done.code, done.printed.join()]).toEqual([
      0,
      expect.stringMatching(/^1 upstreams; changed: .*retry/),
    ]);
    expect(done.printed.join()).toMatch(/needs a restart: .*data_dir/);
    const again = (await turnpike(gateway, 'reload', '--json')).json();
    expect(again).toMatchObject({ upstreams: 1, changed: [] });
    write('retry: { retries: CANARY }');
    const kept = await turnpike(gateway, 'reload');
    expect([kept.code, kept.told.join()]).toEqual([
      1,
      expect.stringMatching(/422: The old configuration is kept: .*retry/),
    ]);
    expect(kept.told.join()).not.toContain('CANARY');
    expect((await ask(gateway, 'http://site.example/')).status).toBe(200);
    const none = await stage.gateway([exit], { admin: adminSection });
    expect((await turnpike(none, 'reload')).told.join()).toMatch(/409: /);
  });
});

describe('exits', () => {
  it('are listed, frozen, thawed, banned, lifted, drained and removed', async () => {
    const gateway = await withExits('a', 'b', 'c');
    const [first, second, third] = (await exitsOf(gateway)).map(({ id }) => id as string);
    const listed = await turnpike(gateway, 'exits', 'list');
    expect([listed.code, listed.printed.join('\n').split('\n')]).toMatchObject([0, { length: 4 }]);
    expect(listed.printed.join()).toContain(`${first}  main  http://127.0.0.1:`);
    expect((await turnpike(gateway, 'exits', 'freeze', first ?? '')).printed).toEqual([`${first} frozen`]);
    const frozen = await turnpike(gateway, 'exits', 'list', '--state', 'frozen', '--json');
    expect(frozen.json()).toMatchObject([{ id: first, state: 'frozen' }]);
    expect((await turnpike(gateway, 'exits', 'thaw', first ?? '')).printed).toEqual([`${first} available`]);
    const how = ['--site', 'a.example', '--ttl', '1h', '--reason', 'looks bad', '--json'];
    const banned = await turnpike(gateway, 'exits', 'ban', first ?? '', ...how);
    expect(banned.json()).toMatchObject({ id: `${first}:a.example`, reason: 'looks bad' });
    expect((await turnpike(gateway, 'bans')).printed.join()).toContain('looks bad');
    expect((await turnpike(gateway, 'exits', 'lift', `${first}:a.example`)).code).toBe(0);
    expect((await turnpike(gateway, 'bans', '--json')).json()).toEqual([]);
    expect((await turnpike(gateway, 'exits', 'drain', second ?? '')).printed).toEqual([`${second} removed`]);
    expect((await turnpike(gateway, 'exits', 'remove', third ?? '')).printed).toEqual([`${third} removed`]);
    expect((await exitsOf(gateway)).map(({ id }) => id)).toEqual([first]);
  });

  it('are imported from a list, with a bar, each bad line named by its number and not by its text', async () => {
    const gateway = await withExits('a');
    const [{ label }] = await exitsOf(gateway);
    const lines = ['# a list', '127.0.0.3:1', label, 'user:CANARY@bad host:1', '127.0.0.4:2:user:CANARY', ''];
    const list = join(folder, 'list.txt');
    writeFileSync(list, lines.join('\n'));
    const done = await turnpike(gateway, 'exits', 'import', list, '--pool', 'main');
    expect([done.code, done.printed]).toEqual([1, ['2 added, 1 there already, 1 refused']]);
    expect(done.told).toEqual([expect.stringMatching(/^line 4: 422: url: /)]);
    expect(done.drawn).toContain(`[${'#'.repeat(30)}] 4/4`);
    expect([...done.told, ...done.printed].join()).not.toContain('CANARY');
    expect(await exitsOf(gateway)).toHaveLength(3);
    const none = await turnpike(gateway, 'exits', 'import', list, '--pool', 'gone', '--json');
    expect(none.json()).toMatchObject({ added: 0, thereAlready: 0, refused: 4 });
    expect((await turnpike(gateway, 'exits', 'import', join(folder, 'no'))).code).toBe(2);
  });

  it.each([
    ['a table', 'host;port;username;password\n127.0.0.3;1;u;"p;""x"\n127.0.0.4;2;;\n;;;\n', 4],
    [
      'JSON lines',
      '{"host":"127.0.0.3","port":1,"password":"x","username":"u"}\n{"url":"http://127.0.0.4:2"}\n{}\n',
      3,
    ],
  ])('are imported from %s as from a plain list', async (_, text, bad) => {
    const gateway = await withExits('a');
    const list = join(folder, 'list');
    writeFileSync(list, text);
    const done = await turnpike(gateway, 'exits', 'import', list, '--pool', 'main');
    expect(done.printed).toEqual(['2 added, 0 there already, 1 refused']);
    expect(done.told).toEqual([expect.stringMatching(`^line ${bad}: 422: url: `)]);
    expect((await exitsOf(gateway)).map(({ label }) => label).slice(1)).toEqual([
      ...['http://127.0.0.3:1', 'http://127.0.0.4:2'],
    ]);
  });

  it('of a pool that there is not: says so, and which there are', async () => {
    const gateway = await withExits('a');
    const list = join(folder, 'list.txt');
    writeFileSync(list, 'http://127.0.0.3:1');
    const listed = await turnpike(gateway, 'exits', 'list', '--pool', 'nope');
    expect([listed.code, listed.told.join()]).toEqual([
      1,
      expect.stringMatching(/no pool nope; .* has main/),
    ]);
    const added = await turnpike(gateway, 'exits', 'import', list, '--pool', 'nope');
    expect([added.code, added.told.join()]).toEqual([1, expect.stringMatching(/no pool nope; .* has main/)]);
  });

  it('are tried without a running gateway, good ones and bad ones', async () => {
    const good = await stage.good('good');
    const blocked = await stage.exit(
      (peer) => void peer.write('HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n'),
    );
    const list = join(folder, 'list.txt');
    writeFileSync(list, [good.url, blocked.url, `http://127.0.0.1:${await refusedPort()}`].join('\n'));
    const url = ['--url', 'http://site.example/'];
    const done = await turnpike(null, 'exits', 'test', '--upstreams', list, ...url, '--json');
    expect(done.code).toBe(1);
    expect(done.json()).toMatchObject([
      { address: good.url, isGood: true, status: 200 },
      { address: blocked.url, isGood: false, status: 403, detail: 'suspect' },
      { isGood: false, status: null, detail: expect.stringContaining('ECONNREFUSED') },
    ]);
    expect(done.drawn).toContain(`[${'#'.repeat(30)}] 3/3`);
    writeFileSync(list, good.url);
    const table = await turnpike(null, 'exits', 'test', '--upstreams', list, ...url);
    expect([table.code, table.told]).toEqual([0, ['1 of 1 exits are good']]);
    const near = await turnpike(null, 'exits', 'test', '--upstreams', list, '--url', 'http://127.0.0.1:1/');
    expect(near.code).toBe(2);
    expect(near.told.join('\n')).toMatch(/nothing was tried: .*\n.*add --allow-target 127\.0\.0\.1/);
    for (const bad of [
      ['--url', 'ftp://x'],
      ['--concurrency', '0'],
      ['--timeout', 'x'],
    ])
      expect((await turnpike(null, 'exits', 'test', '--upstreams', list, ...bad)).code, bad.join(' ')).toBe(
        2,
      );
  });
});

describe('sessions and status', () => {
  it('are shown to people and to programs', async () => {
    const gateway = await withExits('a');
    await ask(gateway, 'http://site.example/', { fields: ['X-Session-Id: cart-7'] });
    expect((await turnpike(gateway, 'sessions')).printed.join()).toMatch(
      /anonymous {2}cart-7 +u-\w+ +1 +10m/,
    );
    const sessions = await turnpike(gateway, 'sessions', '--client', 'anonymous', '--json');
    expect(sessions.json()).toMatchObject([{ session: 'cart-7', generation: 1 }]);
    expect((await turnpike(gateway, 'status')).printed.join()).toMatch(/phase +serving/);
    expect((await turnpike(gateway, 'status', '--json')).json()).toMatchObject({ phase: 'serving' });
  });
});

describe('what goes wrong', () => {
  it('is said in one line, with an exit code', async () => {
    const gateway = await withExits('a');
    const unknown = await turnpike(gateway, 'exits', 'freeze', 'u-none');
    expect([unknown.code, unknown.told]).toEqual([1, ['turnpike: 404: No pool has an exit of this id.']]);
    const port = await refusedPort();
    const file = join(folder, 'token');
    const away = await turnpike(null, 'status', '--admin', `http://127.0.0.1:${port}`, '--token-file', file);
    expect(away.code).toBe(2);
    expect(away.told.join()).toContain(`http://127.0.0.1:${port} can not be asked (ECONNREFUSED)`);
    const noToken = await turnpike(null, 'status', '--token-file', join(folder, 'none'));
    expect([noToken.code, noToken.told.join()]).toMatchObject([2, expect.stringContaining('ENOENT')]);
    expect((await turnpike(null, 'status', '--admin', 'nonsense', '--token-file', file)).code).toBe(2);
    writeFileSync(join(folder, 'other'), 'a-token-of-nobody');
    const admin = `http://127.0.0.1:${gateway.adminPort}`;
    const refused = await turnpike(null, 'status', '--admin', admin, '--token-file', join(folder, 'other'));
    expect([refused.code, refused.told.join()]).toMatchObject([1, expect.stringContaining('401')]);
    expect((await turnpike(null, 'exits')).code).toBe(2);
    expect((await turnpike(null, 'exits', 'freeze')).code).toBe(2);
  });
});
