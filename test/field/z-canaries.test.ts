/**
 * Z08 and its kind: nothing that a client says to the gateway goes further. Canaries in every control, present and to
 * come, in user name and password, looked for in every byte that upstream and target got, in the log and the metrics.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { usernameKeys } from '../../src/request/dialects/dialect.js';
import { controlTable } from '../../src/request/control-table.js';
import { adminSection, askAdmin, tokens } from '../support/admin.js';
import type { TestGateway } from '../support/gateway.js';
import { RawClient } from '../support/raw-client.js';
import { makeCertificate, type TestCertificate } from '../support/real-origins.js';
import { connectHead, getHead, login } from '../support/rig.js';
import { answerSocks } from '../support/scripted-socks.js';
import {
  startScripted,
  type Peer,
  type Script,
  type ScriptedUpstream,
} from '../support/scripted-upstream.js';
import { askSocks } from '../support/socks-client.js';
import { createStage } from '../support/stage.js';

const stage = createStage();
let certificate: TestCertificate;
beforeAll(async () => (certificate = await makeCertificate()));
afterAll(() => certificate.dispose());

const password = 'canary-password';
const says = [/canary/i, /x-session-id|x-gatekeeper|x-turnpike-(?!loop)/i, /proxy-authorization/i];
const inBase64 = (text: string): string => Buffer.from(text).toString('base64').slice(4, -4);

/** Values that the rows take where a canary is none. */
const values: Readonly<Record<string, string>> = {
  ...{
    mode: 'hard',
    ttl: '61',
    country: 'zz',
    asn: '64511',
    tags: 'canary-tag',
    retries: '1',
    timeout: '19',
  },
  ...{ detect: 'off', explain: 'on', intercept: 'off', pool: 'canary-pool', feedback: 'canary-id; blocked' },
};
const valueOf = (key: string): string => values[key] ?? `canary-${key}`;

const isInNames = (key: string): boolean => (usernameKeys as readonly string[]).includes(key);
const userNameWith = (key: string): string => `crawler+${key}=${valueOf(key).replaceAll(' ', '')}`;
/** Every control alone that can stand in a user name, as it stands there. */
const userNames = [...controlTable.keys()].filter(isInNames).map(userNameWith);
/** Every control alone, as a field and, where there is one, as a parameter of the user name. */
const fieldSets: string[][] = [...controlTable].flatMap(([key, row]) => {
  const field = [`${row.field}: ${valueOf(key)}`, login('crawler', password)];
  return isInNames(key) ? [field, [login(userNameWith(key), password)]] : [field];
});

/** Answers as an HTTP proxy or, behind a handshake, as a target; tunnels say what they got. */
async function serve(peer: Peer, isSocks: boolean): Promise<void> {
  if (isSocks) await answerSocks(peer);
  const head = await peer.head();
  if (head.startsWith('CONNECT ')) {
    peer.write('HTTP/1.1 200 OK\r\n\r\n');
    peer.echo();
  } else if (/^upgrade: websocket/im.test(head)) {
    peer.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  } else peer.answer('page', '200 OK', ['Connection: close']);
  await peer.gone();
}

/** A far side of this protocol; what its peers got is what it deciphered. */
async function startFar(protocol: string, script: Script): Promise<ScriptedUpstream> {
  const secured = protocol === 'https' ? certificate : undefined;
  return stage.keep(await startScripted(script, '127.0.0.1', secured));
}

async function behind(exits: readonly string[]): Promise<TestGateway> {
  const tls = { ca: certificate.caPath };
  const about = { city: 'canary-city', country: 'zz', asn: 64511, tags: ['canary-tag'] };
  const entryOf = (url: string): object =>
    url === 'direct://' ? { url } : { url, ...about, ...(url.startsWith('https:') && { tls }) };
  return stage.gateway([], {
    admin: adminSection,
    clients: [{ name: 'crawler', password }],
    targets: { allow: ['127.0.0.0/8'] },
    pools: {
      'canary-pool': { upstreams: exits.map(entryOf) },
    },
    routes: [{ match: {}, pools: ['canary-pool'] }],
  });
}

/** Every way to ask, with each set of fields; all that came back. */
async function askAll(gateway: TestGateway, host: string): Promise<string> {
  let answers = '';
  for (const fields of fieldSets) {
    const upgrade = ['Connection: Upgrade', 'Upgrade: websocket'];
    for (const head of [
      getHead(`http://${host}/`, ...fields),
      getHead(`http://${host}/`, ...fields, ...upgrade),
      connectHead(host, ...fields),
    ]) {
      const client = await RawClient.connect(gateway.port);
      client.write(head);
      answers += await client.head();
      client.destroy();
    }
  }
  return answers;
}

/** A tunnel by SOCKS5 with each user name, and a request inside each that opened; what the entry replied. */
async function askAllBySocks(gateway: TestGateway, host: string): Promise<Set<number | null>> {
  const replies = new Set<number | null>();
  const [name, port] = host.split(':');
  for (const username of ['crawler', ...userNames]) {
    const ask = { ...(name !== undefined && { host: name }), port: Number(port) };
    const { client, reply } = await askSocks(gateway.port, { ...ask, login: { username, password } });
    replies.add(reply);
    if (reply === 0) await client.write('GET / HTTP/1.1\r\n\r\n').untilSome();
    client.destroy();
  }
  return replies;
}

const hostBehind = (protocol: string, { port }: ScriptedUpstream): string =>
  protocol === 'direct' ? `127.0.0.1:${port}` : 'site.example:80';

function expectClean(captures: readonly ScriptedUpstream[]): void {
  for (const { peers } of captures) {
    const text = peers.map((peer) => peer.text).join('\n');
    for (const word of says) expect(word.exec(text)?.[0]).toBeUndefined();
    expect(text).not.toContain(inBase64(password));
  }
}

describe('what a client says to the gateway', () => {
  const protocols = ['http', 'https', 'socks5', 'direct'];
  const urlOf = (protocol: string, { port }: ScriptedUpstream): string =>
    protocol === 'direct' ? 'direct://' : `${protocol}://127.0.0.1:${port}`;

  it.each(protocols)('does not reach the far side by %s', async (protocol) => {
    const far = await startFar(protocol, (peer) => serve(peer, protocol === 'socks5'));
    const gateway = await behind([urlOf(protocol, far)]);
    const answers = await askAll(gateway, hostBehind(protocol, far));
    expect(answers).toMatch(/^HTTP\/1\.1 200 /m);
    expect(answers).toMatch(/^HTTP\/1\.1 101 /m);
    expect(far.accepts).toBeGreaterThan(fieldSets.length);
    expectClean([far]);
  });

  it.each(protocols)('does not reach it from a SOCKS5 client by %s', async (protocol) => {
    const far = await startFar(protocol, (peer) => serve(peer, protocol === 'socks5'));
    const gateway = await behind([urlOf(protocol, far)]);
    expect(await askAllBySocks(gateway, hostBehind(protocol, far))).toContain(0);
    expect(far.accepts).toBeGreaterThan(userNames.length / 2);
    expectClean([far]);
  });

  it.each(['http', 'https'])(
    'does not reach the second exit either, after the first failed (%s)',
    async (by) => {
      const first = await startFar(by, async (peer) => {
        await peer.head();
        peer.end();
      });
      const second = await startFar(by, (peer) => serve(peer, false));
      const gateway = await behind([first.url, second.url]);
      await askAll(gateway, 'site.example:80');
      const bySocks = await askAllBySocks(gateway, 'site.example:80');
      expect(bySocks).toContain(0);
      expect(Math.min(first.accepts, second.accepts)).toBeGreaterThan(0);
      expectClean([first, second]);
    },
  );

  it('and no password or token is in the log, the events or the metrics', async () => {
    const far = await stage.scripted((peer) => serve(peer, false));
    const gateway = await behind([far.url]);
    await askAll(gateway, 'site.example:80');
    await askAdmin(gateway.adminPort, '/api/v1/upstreams');
    await askAdmin(gateway.adminPort, '/api/v1/upstreams', { token: 'canary-token-wrong' });
    let told = JSON.stringify(gateway.events) + (await gateway.metrics());
    await gateway.app.stop('to read its log');
    told += readFileSync(gateway.logFile, { encoding: 'utf8', flag: 'a+' });
    for (const secret of [password, inBase64(password), 'canary-token', ...Object.values(tokens)]) {
      expect(told).not.toContain(secret);
    }
    expectClean([far]);
  });
});
