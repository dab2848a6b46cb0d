/**
 * Every kind of real proxy as the exit × with and without a login × plain requests and CONNECT: pages, big bodies, chunks,
 * WebSockets come through whole, and what the proxy refuses is told with its cause.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Told } from '../support/clients/ask.js';
import { chunks, sha256Of, uploadOf } from '../support/clients/bodies.js';
import { undici } from '../support/clients/node.js';
import { ways, type Way } from '../support/clients/table.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { startApache } from '../support/real-apache.js';
import { makeCertificate, sha256OfBytes, startOrigin, type Echo } from '../support/real-origins.js';
import type { Origin, TestCertificate } from '../support/real-origins.js';
import {
  startDante,
  startHaproxy,
  startProxyChain,
  startSquid,
  startTinyproxy,
  type ProxyOptions,
  type RealProxy,
} from '../support/real-proxies.js';
import { refusedPort } from '../support/scripted-upstream.js';

const auth = { username: 'exit', password: 'pass-1' };
const downloadBytes = 8 << 20;
/** Squid 5.7 loses one in twenty uploads of 4 MiB, without any gateway before it; of this size, none. */
const upload = uploadOf(192 << 10);

/** A proxy, and what it makes of a target that refuses: the status and the code that the client gets. */
interface Row {
  readonly name: string;
  readonly start: (options: ProxyOptions) => Promise<RealProxy>;
  readonly deadTarget: Readonly<Record<Way, readonly [status: number, code: string | null]>>;
}

const unreachable = [502, 'target_unreachable'] as const;
const told = { plain: unreachable, CONNECT: unreachable };

/** HAProxy in front of a Squid, as a vendor's entrance. */
async function startFront(options: ProxyOptions): Promise<RealProxy> {
  const behind = await startSquid(options);
  const front = await startHaproxy({ behind });
  const close = async (): Promise<void> => {
    await front.close();
    await behind.close();
  };
  return { ...front, host: behind.host, close };
}

const rows: readonly Row[] = [
  { name: 'squid', start: startSquid, deadTarget: told },
  { name: 'tinyproxy', start: startTinyproxy, deadTarget: told },
  // Its page is like that of any Apache, which may be the target itself.
  {
    name: 'apache',
    start: startApache,
    deadTarget: { plain: [503, null], CONNECT: [502, 'upstream_error'] },
  },
  // To CONNECT it gives no answer at all.
  {
    name: 'proxy-chain',
    start: startProxyChain,
    deadTarget: { plain: unreachable, CONNECT: [502, 'upstream_closed'] },
  },
  { name: 'dante', start: startDante, deadTarget: told },
  { name: 'squid behind haproxy', start: startFront, deadTarget: told },
];

let certificate: TestCertificate;
let folder: string;
const origins = {} as Record<Way, Origin>;

beforeAll(async () => {
  certificate = await makeCertificate();
  folder = await mkdtemp(join(tmpdir(), 'turnpike-matrix-'));
  await writeFile(join(folder, 'upload'), upload);
  origins.plain = await startOrigin();
  origins.CONNECT = await startOrigin({ echoesWebSockets: true, certificate });
});

afterAll(async () => {
  await Promise.all([origins.plain.close(), origins.CONNECT.close(), certificate.dispose()]);
  await rm(folder, { recursive: true, force: true });
});

async function ask(gateway: TestGateway, url: string, file: string | null = null): Promise<Told> {
  const [answer] = await undici([
    { url, proxy: gateway.url, login: null, upload: file, message: 'hello', certificate },
  ]);
  if (answer === undefined) throw new Error('no answer');
  return answer;
}

const settings = rows.flatMap((row) => [false, true].map((hasLogin) => ({ ...row, hasLogin })));

describe.each(settings)('G1 G2 matrix: $name, login: $hasLogin', ({ start, hasLogin, deadTarget }) => {
  let proxy: RealProxy;
  let gateway: TestGateway;
  beforeAll(async () => {
    proxy = await start(hasLogin ? { auth } : {});
    gateway = await startGateway({ upstreams: [proxy.url] });
  });
  afterAll(async () => {
    await gateway.close();
    await proxy.close();
  });

  it.each(ways)('%s: a page, by this exit', async (way) => {
    expect(await ask(gateway, `${origins[way].url}/ip`)).toMatchObject({ status: 200, text: proxy.host });
  });

  it.each(ways)('%s: a large download, an upload, chunks', async (way) => {
    const { url } = origins[way];
    const download = await ask(gateway, `${url}/bytes/${downloadBytes}`);
    expect(download).toMatchObject({ status: 200, sha256: sha256OfBytes(downloadBytes) });
    const uploaded = await ask(gateway, `${url}/echo`, join(folder, 'upload'));
    const echo = JSON.parse(uploaded.text) as Echo;
    expect(echo).toMatchObject({ bodyBytes: upload.length, bodySha256: sha256Of(upload) });
    expect(await ask(gateway, `${url}/chunked/2000`)).toMatchObject({ sha256: sha256Of(chunks(2000)) });
  });

  it.each(ways)('%s: a status of the target, and a redirect', async (way) => {
    const { url } = origins[way];
    expect(await ask(gateway, `${url}/status/404`)).toMatchObject({ status: 404, text: 'status 404\n' });
    expect(await ask(gateway, `${url}/redirect/chunked/3`)).toMatchObject({ text: chunks(3) });
  });

  it('CONNECT: a WebSocket', async () => {
    const url = `${origins.CONNECT.url.replace('https', 'wss')}/`;
    expect(await ask(gateway, url)).toMatchObject({ status: 101, text: 'hello' });
  });

  it.each(ways)('%s: a target that refuses', async (way) => {
    const [status, code] = deadTarget[way];
    const scheme = way === 'plain' ? 'http' : 'https';
    const target = `127.0.0.1:${await refusedPort()}`;
    expect(await ask(gateway, `${scheme}://${target}/`)).toMatchObject({ status });
    const ended = await gateway.event('exchange_ended', (event) => event.target === target);
    expect(ended).toMatchObject({ status, code });
  });

  if (hasLogin)
    it.each(ways)('%s: a wrong login at the exit is told as such, and never as 407', async (way) => {
      const wrong = await startGateway({ upstreams: [proxy.url.replace('pass-1', 'pass-2')] });
      try {
        const before = origins[way].requests();
        expect(await ask(wrong, `${origins[way].url}/ip`)).toMatchObject({ status: 502 });
        expect(await wrong.event('exchange_ended')).toMatchObject({ code: 'upstream_auth' });
        expect(origins[way].requests()).toBe(before);
      } finally {
        await wrong.close();
      }
    });
});
