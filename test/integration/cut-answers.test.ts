/** An answer is good when its body has come whole: what is cut is tried elsewhere while it can be, and told of its exit. */
import { describe, expect, it } from 'vitest';
import { adminSection, askAdmin } from '../support/admin.js';
import { ask, headFor } from '../support/ask.js';
import type { TestGateway } from '../support/gateway.js';
import { RawClient } from '../support/raw-client.js';
import type { Peer } from '../support/scripted-upstream.js';
import { createStage } from '../support/stage.js';

const stage = createStage();
const page = 'http://site.example/';
const bansIn = (gateway: TestGateway) => gateway.events.filter((event) => event.type === 'exit_banned');

/** Half an answer, then FIN. No rule wants to see an image, so it goes on at once. */
const cutting =
  (type: string) =>
  (peer: Peer): void => {
    peer.write(`HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: 100\r\n\r\nhalf of it`);
    peer.end();
  };

/** Reads whatever comes until the end. */
async function readToEnd(gateway: TestGateway, url: string): Promise<string> {
  const client = await RawClient.connect(gateway.port);
  client.write(headFor(url, { fields: ['Connection: close'] }));
  await client.ended();
  client.destroy();
  return client.text;
}

describe('B04 G8 an exit that cuts every body', () => {
  it('is set aside though its heads are fine, and comes back for no head alone', async () => {
    const cutter = await stage.exit(cutting('image/png'));
    const gateway = await stage.gateway([cutter, await stage.good('a'), await stage.good('b')]);
    for (let n = 0; n < 9; n++) await readToEnd(gateway, `http://site-${n}.example/`);
    expect(bansIn(gateway)).toMatchObject([{ reason: 'silent', site: null, evidence: { field: 'closed' } }]);
    expect(cutter.accepts).toBe(2);
  });

  it('S7 is not, where it is the site that does it: the site is found down and bans are taken back', async () => {
    const exits = await Promise.all(Array.from({ length: 6 }, () => stage.exit(cutting('image/png'))));
    const gateway = await stage.gateway(exits, { admin: adminSection });
    for (let n = 0; n < 12; n++) await readToEnd(gateway, page);
    expect(await gateway.event('site_guarded')).toMatchObject({ change: 'site_down', exits: 5 });
    expect((await askAdmin(gateway.adminPort, '/api/v1/bans')).body.items).toEqual([]);
  });

  it('counts nothing when the client left', async () => {
    const slow = await stage.exit((peer) => {
      peer.write('HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 100\r\n\r\nhalf of it');
    });
    const gateway = await stage.gateway([slow, await stage.good('a')]);
    for (let n = 0; n < 8; n++) {
      const client = await RawClient.connect(gateway.port);
      client.write(headFor(`http://site-${n}.example/`));
      await client.until('\r\n\r\n');
      client.reset();
    }
    await gateway.event('exchange_ended', (ended) => ended.site === 'site-7.example');
    expect(bansIn(gateway)).toEqual([]);
  });
});

describe('R06 a body that breaks while it is held', () => {
  const bodies = (): Promise<TestGateway> =>
    Promise.all([stage.exit(cutting('text/html')), stage.good('whole')]).then((exits) =>
      stage.gateway(exits),
    );

  it('is tried elsewhere, since nothing of it went on', async () => {
    const answer = await ask(await bodies(), page);
    expect([answer.status, answer.body.toString()]).toEqual([200, 'whole']);
    expect(answer.field('x-turnpike-attempts')).toBe('2');
  });

  it('is 502 where the request may not be repeated, and nothing of it is passed off as a page', async () => {
    const answer = await ask(await bodies(), page, { method: 'POST', body: 'order' });
    expect([answer.status, answer.problem().code]).toEqual([502, 'upstream_closed']);
    expect(answer.field('x-turnpike-attempts')).toBe('1');
    expect(answer.body.toString()).not.toContain('half of it');
  });
});
