/**
 * G6: however a login is spelt in a list or a URL, the upstream gets the same bytes: on HTTP, HTTPS and SOCKS, by plain
 * GET and by CONNECT.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../support/ask.js';
import { startGateway } from '../support/gateway.js';
import { fieldsOf, RawClient } from '../support/raw-client.js';
import { startTinyproxy } from '../support/real-proxies.js';
import { makeCertificate, type TestCertificate } from '../support/real-origins.js';
import { connectHead, getHead } from '../support/rig.js';
import {
  serveEach,
  startScripted,
  type Script,
  type ScriptedUpstream,
} from '../support/scripted-upstream.js';
import { socksServer, type SocksAsked } from '../support/scripted-socks.js';
import { createStage } from '../support/stage.js';

const stage = createStage();
let certificate: TestCertificate;
let folder: string;

beforeAll(async () => {
  certificate = await makeCertificate(['127.0.0.1']);
  folder = mkdtempSync(join(tmpdir(), 'turnpike-logins-'));
});
afterAll(async () => {
  await certificate.dispose();
  rmSync(folder, { recursive: true, force: true });
});

/** Names are kept free of colons, which Basic can't carry. */
const logins: [string, string][] = [
  ['user', 'pa:ss'],
  ['me@corp', 'p@ss'],
  ['a/b', 'c/d'],
  ['a#b', 'c#d'],
  ['a?b', 'c?d=e&f'],
  ['a%b', '100%25'],
  ['a+b', 'c+d'],
  ['a b', 'c  d'],
  ['jürgen', 'pässwörd!~'],
  ['名前', '密码🔑'],
  ['all', ':@/#?%+ é'],
  ['u', ''],
];

const encoded = (text: string): string => encodeURIComponent(text);
/** Only what must be: a percent, which would begin an escape. */
const sparing = (text: string): string => text.replaceAll('%', '%25');

/** Ways to spell an upstream with this login. The ones of lists have no protocol, and mean HTTP. */
const urlSpellings: [string, (scheme: string, login: [string, string], at: string) => string][] = [
  [
    'URL, percent-encoded',
    (scheme, [user, pass], at) => `${scheme}://${encoded(user)}:${encoded(pass)}@${at}`,
  ],
  ['URL, as it stands', (scheme, [user, pass], at) => `${scheme}://${sparing(user)}:${sparing(pass)}@${at}`],
];
const listSpellings: typeof urlSpellings = [
  ...urlSpellings,
  ['user:pass@host:port', (_, [user, pass], at) => `${encoded(user)}:${encoded(pass)}@${at}`],
  ['host:port:user:pass', (_, [user, pass], at) => `${at}:${user}:${pass}`],
];

/** What arrived on each connection, as `user:password` in UTF-8. */
interface Door {
  readonly upstream: ScriptedUpstream;
  readonly got: () => string[];
}

const proxy: Script = serveEach((peer, { head }) => {
  if (head.startsWith('CONNECT ')) peer.write('HTTP/1.1 200 OK\r\n\r\n');
  else peer.answer('page');
});

async function openDoor(scheme: string): Promise<Door> {
  if (scheme.startsWith('socks')) {
    const asked: SocksAsked[] = [];
    const upstream = stage.keep(await startScripted(socksServer(asked, proxy)));
    return { upstream, got: () => asked.map(({ username, password }) => `${username}:${password}`) };
  }
  const upstream = stage.keep(
    await startScripted(proxy, '127.0.0.1', scheme === 'https' ? certificate : undefined),
  );
  const got = (): string[] =>
    upstream.heads.map((head) => {
      const [value = ''] = fieldsOf(head, 'proxy-authorization');
      expect(value).toMatch(/^Basic /);
      return Buffer.from(value.slice('Basic '.length), 'base64').toString('utf8');
    });
  return { upstream, got };
}

/** Asks both ways through a gateway whose pool is this entry; what the upstream then got. */
async function arrivals(door: Door, entry: Record<string, unknown>): Promise<string[]> {
  const tls = { tls: { ca: certificate.caPath } };
  const gateway = stage.keep(await startGateway({ upstreams: [{ ...entry, ...tls }] }));
  for (const head of [getHead(), connectHead()]) {
    const client = await RawClient.connect(gateway.port);
    expect(await client.write(head).head()).toMatch(/^HTTP\/1\.1 200 /);
    client.destroy();
  }
  return door.got();
}

describe.each(['http', 'https', 'socks5', 'socks5h'])('G6 logins of %s upstreams', (scheme) => {
  it.each(logins)('%s / %s arrives byte-exact from every URL', async (...login) => {
    for (const [name, spell] of urlSpellings) {
      const door = await openDoor(scheme);
      const url = spell(scheme, login, `127.0.0.1:${door.upstream.port}`);
      expect([name, ...(await arrivals(door, { url }))]).toEqual([name, login.join(':'), login.join(':')]);
    }
  });
});

describe('G6 logins in lists', () => {
  it.each(logins)('%s / %s arrives byte-exact from every line', async (...login) => {
    for (const [name, spell] of listSpellings) {
      const door = await openDoor('http');
      const file = join(folder, 'list.txt');
      writeFileSync(file, `# mine\n${spell('http', login, `127.0.0.1:${door.upstream.port}`)}\n`);
      expect([name, ...(await arrivals(door, { file }))]).toEqual([name, login.join(':'), login.join(':')]);
    }
  });
});

/** Ways to name a protocol beside a login in a list. */
const listed: [string, (scheme: string, login: [string, string], at: [string, number]) => string][] = [
  [
    'JSON lines',
    (protocol, [username, password], [host, port]) =>
      JSON.stringify({ host, port, protocol, username, password }),
  ],
  [
    'JSON lines with a URL',
    (scheme, [user, pass], at) => JSON.stringify({ proxy: `${scheme}://${at.join(':')}`, user, pass }),
  ],
  ...[',', ';', '\t'].map((mark): (typeof listed)[number] => [
    `a table with ${JSON.stringify(mark)}`,
    (scheme, login, at) =>
      [
        ['protocol', 'ip', 'port', 'user', 'pass'].join(mark),
        [scheme, ...at, ...login.map((text) => `"${text.replaceAll('"', '""')}"`)].join(mark),
      ].join('\n'),
  ]),
];

describe.each(['http', 'https', 'socks5'])('G6 logins of %s upstreams in lists that name more', (scheme) => {
  it.each(logins)('%s / %s arrives byte-exact from JSON and tables', async (...login) => {
    for (const [name, spell] of listed) {
      const door = await openDoor(scheme);
      const file = join(folder, 'list.txt');
      writeFileSync(file, `${spell(scheme, login, ['127.0.0.1', door.upstream.port])}\n`);
      expect([name, ...(await arrivals(door, { file }))]).toEqual([name, login.join(':'), login.join(':')]);
    }
  });

  it.each(logins)('%s / %s arrives byte-exact beside the session of a template', async (...login) => {
    const door = await openDoor(scheme);
    const [user, pass] = login.map(encoded);
    const template = `${scheme}://${user}-{session}:${pass}@127.0.0.1:${door.upstream.port}`;
    const got = await arrivals(door, { template, exits: 1 });
    const session = /-[a-z0-9]{12}(?=:)/;
    expect(got.map((text) => text.replace(session, ''))).toEqual([login.join(':'), login.join(':')]);
    expect(got.every((text) => session.test(text))).toBe(true);
  });
});

describe('A12 one login with two passwords', () => {
  it('is told of when the gateway starts, without the passwords', async () => {
    const urls = ['http://u:CANARY-1@127.0.0.1:9', 'http://u:CANARY-2@127.0.0.1:9'];
    const [a, b] = urls.map((url) => ({ upstreams: [{ url }] }));
    const config = { pools: { a, b }, routes: [{ match: {}, pools: ['a', 'b'] }] };
    const gateway = await stage.gateway([], config);
    const note = await gateway.event('note', ({ what }) => what === 'password_differs');
    expect(note).toMatchObject({ level: 'warn', detail: { pools: 'a, b' } });
    expect(JSON.stringify(note)).not.toContain('CANARY');
  });
});

describe('A12 a tinyproxy that refuses our login, which it says by 401 like a site', () => {
  it('is set aside for it, over plain HTTP too; a 401 of the site is passed on', async () => {
    const proxy = stage.keep(await startTinyproxy({ auth: { username: 'crawler', password: 'right' } }));
    const wrong = proxy.url.replace('right', 'wrong');
    const login = await stage.exit(
      (peer) => void peer.answer('log in', '401 Unauthorized', ['WWW-Authenticate: Basic realm="site"']),
    );
    const gateway = await stage.gateway([wrong, login]);
    const answers = [];
    for (let n = 0; n < 4; n++) answers.push(await ask(gateway, 'http://site.example/'));
    expect(answers.map(({ status, body }) => [status, body.toString()])).toEqual(
      answers.map(() => [401, 'log in']),
    );
    expect(gateway.events.filter(({ type }) => type === 'exit_banned')).toMatchObject([
      { reason: 'auth', site: null },
    ]);
    const attempts = gateway.events.filter((event) => event.type === 'attempt_ended');
    expect(attempts.filter(({ verdict }) => verdict !== 'ok')).toHaveLength(1);
  });
});
