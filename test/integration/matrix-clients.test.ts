/**
 * Every client that people crawl with × what they do with it, through a gateway that wants a login and goes out by a
 * proxy that wants another. A cell that cannot be says why, here and in docs/clients.md.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ask, Told } from '../support/clients/ask.js';
import { chunks, sha256Of, uploadOf } from '../support/clients/bodies.js';
import { sectionOf, shownSettings } from '../support/clients/shown.js';
import { clients, kinds, ways, whyNot, type Client, type Kind, type Way } from '../support/clients/table.js';
import { closeBrowsers, type Login } from '../support/crawlers.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { makeCertificate, sha256OfBytes, startOrigin, type Echo } from '../support/real-origins.js';
import type { Origin, TestCertificate } from '../support/real-origins.js';
import { startSquid, startTinyproxy, type RealProxy } from '../support/real-proxies.js';
import { refusedPort } from '../support/scripted-upstream.js';

const login: Login = { username: 'crawler', password: 'p-w_1' };
const downloadBytes = 8 << 20;
const upload = uploadOf(4 << 20);
const message = 'a message by WebSocket';

let certificate: TestCertificate;
let folder: string;
let exit: RealProxy;
/** It passes an Upgrade on, which tinyproxy does not, but loses one in twenty uploads of this size by itself. */
let exitOfSockets: RealProxy;
const origins = {} as Record<Way, Origin>;
/** Which gateway serves what: the usual one, one whose exits refuse, one for clients that reach port 80 only. */
const gateways = {} as Record<'usual' | 'sockets' | 'dead' | 'port80', TestGateway>;

beforeAll(async () => {
  certificate = await makeCertificate();
  folder = await mkdtemp(join(tmpdir(), 'turnpike-matrix-'));
  await writeFile(join(folder, 'upload'), upload);
  origins.plain = await startOrigin({ echoesWebSockets: true });
  origins.CONNECT = await startOrigin({ echoesWebSockets: true, certificate });
  const options = { auth: { username: 'exit', password: 'pass-1' } };
  [exit, exitOfSockets] = await Promise.all([startTinyproxy(options), startSquid(options)]);
  const port = await refusedPort();
  const start = (...upstreams: string[]) =>
    startGateway({ upstreams, config: { clients: [{ name: login.username, password: login.password }] } });
  gateways.usual = await start(exit.url);
  gateways.sockets = await start(exitOfSockets.url);
  // Four, since at most half of a pool is ever set aside: the others go on being refused.
  gateways.dead = await start(...[2, 3, 4, 5].map((octet) => `http://127.0.0.${octet}:${port}`));
  // An origin takes the absolute-form that a proxy is sent.
  gateways.port80 = await start(origins.plain.url);
});

afterAll(async () => {
  await closeBrowsers();
  await Promise.all(Object.values(gateways).map((gateway) => gateway.close()));
  await Promise.all([exit, exitOfSockets, origins.plain, origins.CONNECT].map((each) => each.close()));
  await certificate.dispose();
  await rm(folder, { recursive: true, force: true });
});

interface Cell {
  readonly kind: Kind;
  readonly way: Way;
}

const paths: Partial<Record<Kind, string>> = {
  download: `/bytes/${downloadBytes}`,
  upload: '/echo',
  chunked: '/chunked/2000',
  redirect: '/redirect/chunked/3',
};

function askOf(client: Client, { kind, way }: Cell): Ask {
  const origin = client.port80 === undefined ? origins[way].url : 'http://origin.test';
  const url = origin + (paths[kind] ?? '/ip');
  return {
    url: kind === 'WebSocket' ? url.replace(/^http/, 'ws') : url,
    proxy: gatewayFor(client, kind).url,
    login: logins(kind),
    upload: kind === 'upload' ? join(folder, 'upload') : null,
    ...{ message, certificate },
  };
}

function gatewayFor(client: Client, kind: Kind): TestGateway {
  if (kind === 'dead exit') return gateways.dead;
  if (kind === 'WebSocket') return gateways.sockets;
  return client.port80 === undefined ? gateways.usual : gateways.port80;
}

function logins(kind: Kind): Login | null {
  if (kind === 'no login') return null;
  return kind === 'wrong password' ? { ...login, password: 'wrong' } : login;
}

/** What must have come, of a cell of this client. */
interface Seen extends Cell {
  readonly client: Client;
  readonly told: Told;
}

/** A refusal of the gateway: its status, and its body where the client shows it; or the client's own words. */
function expectRefusal({ client, kind, way, told }: Seen, status: number, code: string): void {
  const words = client.says?.[`${kind} ${way}`];
  if (words !== undefined) {
    expect(told.trouble).toContain(words);
    return;
  }
  expect(told).toMatchObject({ status });
  const { showsRefusals = ['plain'] } = client;
  expect(told.text.includes(`"code":"${code}"`)).toBe(showsRefusals.includes(way));
}

/** What each kind must come to. */
const expectations: Record<Kind, (seen: Seen) => void> = {
  GET: ({ told, client }) => {
    expect(told).toMatchObject({ status: 200, text: client.port80 === undefined ? exit.host : '127.0.0.1' });
  },
  'no login': (seen) => {
    expectRefusal(seen, 407, 'auth_required');
  },
  'wrong password': (seen) => {
    expectRefusal(seen, 407, 'auth_required');
  },
  download: ({ told }) => {
    expect(told).toMatchObject({ status: 200, bytes: downloadBytes, sha256: sha256OfBytes(downloadBytes) });
  },
  upload: ({ told }) => {
    expect(told).toMatchObject({ status: 200 });
    const echo = JSON.parse(told.text) as Echo;
    expect(echo).toMatchObject({ method: 'POST', bodyBytes: upload.length, bodySha256: sha256Of(upload) });
  },
  chunked: ({ told }) => {
    expect(told).toMatchObject({ status: 200, sha256: sha256Of(chunks(2000)) });
  },
  'dead exit': (seen) => {
    expectRefusal(seen, 502, 'upstream_refused');
  },
  redirect: ({ told }) => {
    expect(told).toMatchObject({ status: 200, text: chunks(3) });
  },
  WebSocket: ({ told }) => {
    expect(told).toMatchObject({ status: 101, text: message });
  },
};

const cells = ways.flatMap((way) => kinds.map((kind) => ({ kind, way })));

describe.each(clients)('G1 G2 matrix: $name', (client: Client) => {
  const able = cells.filter(({ kind, way }) => whyNot(client, kind, way) === undefined);
  const unable = cells.flatMap(({ kind, way }) => {
    const why = whyNot(client, kind, way);
    return why === undefined ? [] : [{ kind, way, why }];
  });
  let answers: Told[];
  beforeAll(async () => {
    answers = await client.tell(able.map((cell) => askOf(client, cell)));
  }, 120_000);

  it.each(able.map((cell, at) => ({ ...cell, at })))('$kind, $way', ({ kind, way, at }) => {
    const told = answers[at];
    if (told === undefined) throw new Error('the client gave no answer');
    expectations[kind]({ client, kind, way, told });
  });

  it('stands in docs/clients.md with the settings that ran here', () => {
    expect(sectionOf(client.name)).toContain(shownSettings(client.name));
    for (const words of [client.port80, ...Object.values(client.says ?? {})]) {
      expect(sectionOf(client.name)).toContain(words ?? '');
    }
  });

  if (unable.length > 0)
    it.each(unable)('cannot: $kind, $way – $why', ({ why }) => {
      expect(sectionOf(client.name)).toContain(why);
    });
});
