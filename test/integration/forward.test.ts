import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { startOrigin, type Origin } from '../support/real-origins.js';
import { startProxyChain, type RealProxy } from '../support/real-proxies.js';
import { ProxyAgent, request } from 'undici';

describe('G1 G2 a plain request goes through an upstream and back', () => {
  let origin: Origin;
  let proxy: RealProxy;
  let gateway: TestGateway;
  beforeAll(async () => {
    origin = await startOrigin();
    proxy = await startProxyChain({ auth: { username: 'u', password: 'p:w' } });
    gateway = await startGateway({ upstreams: [proxy.url] });
  });
  afterAll(async () => {
    await gateway.close();
    await proxy.close();
    await origin.close();
  });

  it('brings the page, unchanged', async () => {
    const dispatcher = new ProxyAgent({ uri: gateway.url, proxyTunnel: false });
    const answer = await request(`${origin.url}/bytes/100000`, { dispatcher });
    expect(answer.statusCode).toBe(200);
    expect((await answer.body.arrayBuffer()).byteLength).toBe(100000);
    await dispatcher.close();
    const ended = await gateway.event('exchange_ended');
    expect(ended).toMatchObject({
      kind: 'forward',
      status: 200,
      end: 'complete',
      attempts: 1,
      bytesOut: 100000,
    });
  });
});
