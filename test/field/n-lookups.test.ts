/** N03, N04: look-ups that fail, of upstreams and of targets without a proxy; and H35, addresses in brackets. */
import { describe, expect, it } from 'vitest';
import type { LookUp } from '../../src/open/resolver.js';
import { answerOf } from '../support/ask.js';
import { jumpingClock } from '../support/jumping-clock.js';
import { fieldsOf } from '../support/raw-client.js';
import { alsoScripted, connectHead, getHead, startRig } from '../support/rig.js';
import { refusedPort, serveEach } from '../support/scripted-upstream.js';
import { socksServer } from '../support/scripted-socks.js';

const page = serveEach((peer, { head }) => {
  if (head.startsWith('CONNECT ')) peer.write('HTTP/1.1 200 OK\r\n\r\n');
  else peer.answer('page');
});

function failing(code: string): LookUp {
  return () => Promise.reject(Object.assign(new Error('no address'), { code }));
}

describe('N03 the name of an upstream that does not resolve', () => {
  it('is upstream_dns when there is no other', async () => {
    const { client } = await startRig(page, {
      upstreams: () => ['http://gone.test:1', 'socks5://gone.test:1'],
      parts: { lookUp: failing('ENOTFOUND') },
    });
    const answer = answerOf(await (await client()).write(connectHead()).answer());
    expect(answer.problem()).toMatchObject({ code: 'upstream_dns', status: 502, blame: 'upstream' });
    expect(answer.problem().detail).toContain('ENOTFOUND');
  });

  it('a look-up that never ends is given up at the dial deadline', async () => {
    const { client } = await startRig(page, {
      upstreams: () => ['http://slow.test:1'],
      config: { timeouts: { dial: '100ms' }, retry: { retries: 0 } },
      parts: { lookUp: () => new Promise(() => undefined) },
    });
    const answer = answerOf(await (await client()).write(connectHead()).answer());
    expect(answer.problem()).toMatchObject({ code: 'upstream_dns', status: 502 });
  });

  it('look-up, dial and handshake together keep to the deadline of the exchange', async () => {
    const clock = jumpingClock();
    const { client, upstream } = await startRig((peer) => peer.gone(), {
      upstreams: ({ port }) => [`socks5://late.test:${port}`],
      config: { timeouts: { dial: '60s', exchange: '30s', first_byte: '60s' }, retry: { retries: 0 } },
      parts: {
        clock,
        lookUp: () => {
          // The look-up takes nearly all of the 30 seconds, less than the dial may.
          clock.jump(29_900);
          return Promise.resolve(['127.0.0.1']);
        },
      },
    });
    const answer = answerOf(await (await client()).write(connectHead()).answer(2000));
    expect(answer.problem()).toMatchObject({ code: 'exchange_timeout', status: 504 });
    expect(upstream.accepts).toBe(1);
  });

  it('one that leads to the gateway itself is a loop', async () => {
    const port = await refusedPort();
    const { client } = await startRig(page, {
      upstreams: () => [`http://me.test:${port}`, `socks5://me.test:${port}`],
      config: { listen: { proxy: `127.0.0.1:${port}`, admin: '127.0.0.1:0' } },
      parts: { lookUp: () => Promise.resolve(['127.0.0.1']) },
    });
    const answer = answerOf(await (await client()).write(connectHead()).answer());
    expect(answer.problem()).toMatchObject({ code: 'loop_detected', status: 508 });
  });
});

describe('N04 the name of a target that does not resolve, without a proxy', () => {
  it.each([
    ['ENOTFOUND', false],
    ['EAI_AGAIN', true],
    ['EAI_FAIL', true],
  ])('%s: 502 target_dns for 100 at once, by one look-up; retryable %s', async (code, retryable) => {
    let lookUps = 0;
    const fail = failing(code);
    const { gateway, client } = await startRig(page, {
      upstreams: () => ['direct://'],
      config: { retry: { retries: 0 } },
      parts: {
        lookUp: (host) => {
          lookUps++;
          return fail(host);
        },
      },
    });
    const answers = await Promise.all(
      Array.from({ length: 100 }, async (_, nth) => {
        const head = nth % 2 === 0 ? connectHead('nx.invalid:443') : getHead('http://nx.invalid/');
        return answerOf(await (await client()).write(head).answer());
      }),
    );
    for (const answer of answers) {
      expect(answer.problem()).toMatchObject({
        ...{ code: 'target_dns', status: 502, blame: 'target', retryable },
      });
      expect(answer.problem().detail).toContain(code);
      expect(fieldsOf(answer.head, 'proxy-status')[0]).toContain('error=dns_error');
    }
    expect(lookUps).toBe(1);
    expect(gateway.events.filter(({ type }) => type === 'exit_banned')).toEqual([]);
  });

  it('a name that does not exist is not asked for by other exits; one that may resolve later is', async () => {
    const asked: Record<string, number> = {};
    for (const code of ['ENOTFOUND', 'EAI_AGAIN']) {
      const { client, upstream } = await startRig(page, {
        upstreams: ({ url }) => ['direct://', url],
        parts: { lookUp: failing(code) },
      });
      const answer = await (await client()).write(getHead('http://nx.invalid/')).answer();
      asked[code] = upstream.accepts;
      expect(answer.status).toBe(code === 'ENOTFOUND' ? 502 : 200);
    }
    expect(asked).toEqual({ ENOTFOUND: 0, EAI_AGAIN: 1 });
  });

  it('with the machine’s own resolver too', async () => {
    const { client } = await startRig(page, { upstreams: () => ['direct://'] });
    const answer = answerOf(await (await client()).write(getHead('http://nx.invalid/')).answer());
    expect(answer.problem()).toMatchObject({ code: 'target_dns', status: 502 });
  });
});

describe('H35 addresses in brackets', () => {
  const config = { targets: { allow: ['::1/128'] } };

  it('as upstream, of every kind', async () => {
    const http = await alsoScripted(page, '::1');
    const socks = await alsoScripted(socksServer([], page), '::1');
    for (const url of [http.url, socks.url.replace('http', 'socks5')]) {
      const { client } = await startRig(page, { upstreams: () => [url] });
      expect((await (await client()).write(getHead()).answer()).body.toString()).toBe('page');
      expect(await (await client()).write(connectHead()).head()).toMatch(/ 200 /);
    }
    expect([http.accepts, socks.accepts]).toEqual([2, 2]);
  });

  it('as target, without a proxy', async () => {
    const target = await alsoScripted(page, '::1');
    const { client } = await startRig(page, { upstreams: () => ['direct://'], config });
    const plain = await (await client()).write(getHead(`http://[::1]:${target.port}/x`)).answer();
    expect(plain.body.toString()).toBe('page');
    expect(target.heads).toEqual([`GET /x HTTP/1.1\r\nHost: [::1]:${target.port}\r\n\r\n`]);
    const tunnel = await client();
    await tunnel.write(connectHead(`[::1]:${target.port}`)).head();
    tunnel.take();
    tunnel.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect((await tunnel.answer()).body.toString()).toBe('page');
  });
});
