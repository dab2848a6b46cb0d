/** G11: a browser that can send neither a header nor a user name of its own per tab gets a port per session. */
import { afterAll, describe, expect, it } from 'vitest';
import { ask } from '../support/ask.js';
import { closeBrowsers, crawlers } from '../support/crawlers.js';
import { startGateway } from '../support/gateway.js';
import { makeCertificate, startOrigin } from '../support/real-origins.js';
import { startProxyChain } from '../support/real-proxies.js';
import { createStage } from '../support/stage.js';

const stage = createStage();
afterAll(closeBrowsers);

describe('G11 headless Chromium on ports with sessions', () => {
  it('keeps one exit on each port, two ports are two sessions and two exits', async () => {
    const certificate = await makeCertificate();
    stage.keep({ close: () => certificate.dispose() });
    const origin = stage.keep(await startOrigin({ certificate }));
    const plain = stage.keep(await startOrigin());
    const exits = [stage.keep(await startProxyChain()), stage.keep(await startProxyChain())];
    const tabs = Array.from({ length: 24 }, (_, nth) => `tab-${nth + 1}`);
    const proxy = tabs.map((session) => ({ at: '127.0.0.1:0', session }));
    const gateway = stage.keep(
      await startGateway({
        upstreams: exits.map(({ url }) => url),
        config: { listen: { proxy, admin: '127.0.0.1:0' }, targets: { allow: ['localhost'] } },
      }),
    );
    const chromium = crawlers.find(({ name }) => name === 'chromium');
    if (chromium === undefined) throw new Error('no Chromium');
    const urls = Array.from({ length: 4 }, (_, nth) => `https://localhost:${origin.port}/ip?${nth}`);
    const seen: string[] = [];
    for (const { port } of gateway.listening.slice(0, 3)) {
      const pages = await chromium.fetch({
        proxy: `http://127.0.0.1:${port}`,
        login: null,
        urls,
        certificate,
      });
      expect(new Set(pages.map(({ body }) => body.trim())).size).toBe(1);
      seen.push(pages[0]?.body.trim() ?? '');
    }
    // Which exit a session gets is a matter of its name, so that it takes many for both; they need no browser.
    for (const at of gateway.listening.slice(3))
      seen.push((await ask(at, `http://localhost:${plain.port}/ip`)).body.toString().trim());
    expect(new Set(seen)).toEqual(new Set(exits.map(({ host }) => host)));
    const pins = gateway.events.filter((event) => event.type === 'session_pinned');
    expect(new Set(pins.map(({ session }) => session))).toEqual(new Set(tabs));
  });
});
