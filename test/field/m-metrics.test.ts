/** M01, M03: metrics do not grow with the crawl, and two gateways in one process do not meet. */
import { describe, expect, it } from 'vitest';
import { connect, headFor } from '../support/ask.js';
import type { TestGateway } from '../support/gateway.js';
import { RawClient } from '../support/raw-client.js';
import { createStage } from '../support/stage.js';

const stage = createStage();

async function series(gateway: TestGateway): Promise<number> {
  const lines = (await gateway.metrics()).split('\n');
  return lines.filter((line) => line.startsWith('turnpike_')).length;
}

/** Requests whose every part is new: host, path, session, method, field of ours, bad names. */
async function crawl(gateway: TestGateway, from: number, count: number): Promise<void> {
  const client = await RawClient.connect(gateway.port);
  for (let n = from; n < from + count; n++) {
    client.write(
      headFor(`http://host-${n}.site-${n}.example/p/${n}`, {
        method: `M${n}`,
        fields: [`X-Session-Id: s${n}`],
      }),
    );
    await client.answer();
    client.write(headFor(`http://site.example/${n}`));
    await client.answer();
  }
  client.destroy();
  const tunnel = await connect(gateway, `t-${from}.example:${1000 + from}`);
  tunnel.client.destroy();
  const garbage = await RawClient.connect(gateway.port);
  garbage.write(`BAD${from} nonsense\r\n\r\n`);
  await garbage.ended();
  garbage.destroy();
}

describe('M01 the number of series', () => {
  it('is the same after ten times as many hosts, sessions and methods', async () => {
    const gateway = await stage.gateway([await stage.good('ok')]);
    await crawl(gateway, 0, 20);
    const before = await series(gateway);
    await crawl(gateway, 20, 180);
    expect(await series(gateway)).toBe(before);
    expect(await gateway.metrics()).not.toMatch(/host-|site-|"s\d+"|"M\d+"/);
  });
});

describe('M03 two gateways in one process', () => {
  it('count apart, and start again after a stop', async () => {
    const exit = await stage.good('ok');
    const one = await stage.gateway([exit]);
    const two = await stage.gateway([exit]);
    await crawl(one, 0, 1);
    expect(await one.metrics()).toMatch(/^turnpike_exchange_methods_total\{method="GET"\} 1$/m);
    expect(await two.metrics()).not.toMatch(/^turnpike_exchange_methods_total\{method="GET"\} [1-9]/m);
    await one.close();
    const three = await stage.gateway([exit]);
    await crawl(three, 0, 1);
    expect(await three.metrics()).toMatch(/^turnpike_exchange_methods_total\{method="GET"\} 1$/m);
  });
});
