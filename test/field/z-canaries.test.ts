/**
 * Z08 and its kind: nothing that a client says to the gateway goes further. Canaries in every control, present and to
 * come, in user name and password, looked for in every byte that upstream and target got, in the log and the metrics.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { usernameKeys } from '../../src/request/dialects/dialect.js';
import { controlTable } from '../../src/request/control-table.js';
import { adminSection, askAdmin, tokens } from '../support/admin.js';
import type { TestGateway } from '../support/gateway.js';
import { RawClient } from '../support/raw-client.js';
import { connectHead, getHead, login } from '../support/rig.js';
import { answerSocks } from '../support/scripted-socks.js';
import type { Peer, ScriptedUpstream } from '../support/scripted-upstream.js';
import { createStage } from '../support/stage.js';

const stage = createStage();
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

/** Every control alone, as a field and, where there is one, as a parameter of the user name. */
const fieldSets: string[][] = [...controlTable].flatMap(([key, row]) => {
  const field = [`${row.field}: ${valueOf(key)}`, login('crawler', password)];
  const named = (usernameKeys as readonly string[]).includes(key);
  return named ? [field, [login(`crawler+${key}=${valueOf(key).replaceAll(' ', '')}`, password)]] : [field];
});

/** Answers as an HTTP proxy or, behind a handshake, as a target; tunnels say what they got. */
async function serve(peer: Peer, isSocks: boolean): Promise<void> {
  if (isSocks) await answerSocks(peer);
  const head = await peer.head();
  if (head.startsWith('CONNECT ')) peer.write('HTTP/1.1 200 OK\r\n\r\n');
  else if (/^upgrade: websocket/im.test(head)) {
    peer.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  } else peer.answer('page', '200 OK', ['Connection: close']);
  await peer.gone();
}

async function behind(exits: readonly string[]): Promise<TestGateway> {
  const about = { city: 'canary-city', country: 'zz', asn: 64511, tags: ['canary-tag'] };
  return stage.gateway([], {
    admin: adminSection,
    clients: [{ name: 'crawler', password }],
    targets: { allow: ['127.0.0.0/8'] },
    pools: {
      'canary-pool': { upstreams: exits.map((url) => (url === 'direct://' ? { url } : { url, ...about })) },
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

function expectClean(captures: readonly ScriptedUpstream[]): void {
  for (const { peers } of captures) {
    const text = peers.map((peer) => peer.text).join('\n');
    for (const word of says) expect(word.exec(text)?.[0]).toBeUndefined();
    expect(text).not.toContain(inBase64(password));
  }
}

describe('what a client says to the gateway', () => {
  it.each(['http', 'socks5', 'direct'])('does not reach the far side by %s', async (kind) => {
    const far = await stage.scripted((peer) => serve(peer, kind === 'socks5'));
    const url = kind === 'direct' ? 'direct://' : `${kind}://127.0.0.1:${far.port}`;
    const gateway = await behind([url]);
    const answers = await askAll(gateway, kind === 'direct' ? `127.0.0.1:${far.port}` : 'site.example:80');
    expect(answers).toMatch(/^HTTP\/1\.1 200 /m);
    expect(answers).toMatch(/^HTTP\/1\.1 101 /m);
    expect(far.accepts).toBeGreaterThan(fieldSets.length);
    expectClean([far]);
  });

  it('does not reach the second exit either, after the first failed', async () => {
    const first = await stage.scripted(async (peer) => {
      await peer.head();
      peer.end();
    });
    const second = await stage.scripted((peer) => serve(peer, false));
    const gateway = await behind([first.url, second.url]);
    await askAll(gateway, 'site.example:80');
    expect(Math.min(first.accepts, second.accepts)).toBeGreaterThan(0);
    expectClean([first, second]);
  });

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
