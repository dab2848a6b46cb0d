/** Field cases of kind H: sizes, and how an upstream is named. */
import { describe, expect, it } from 'vitest';
import { startGateway } from '../support/gateway.js';
import { fieldsOf, RawClient, type RawMessage } from '../support/raw-client.js';
import { alsoScripted, connectHead, getHead, requestHead, startRig } from '../support/rig.js';
import { serveEach, type Script } from '../support/scripted-upstream.js';
import { waitFor } from '../support/wait.js';

const page = serveEach((peer) => void peer.answer('page'));
const cookie = (bytes: number): string => `Cookie: ${'x'.repeat(bytes - 8)}`;

function codeOf(answer: RawMessage): string {
  return (JSON.parse(answer.body.toString()) as { code: string }).code;
}

/** Sends head lines until the other side ends; counts what it could send. */
function endlessHead(start: string, count: { bytes: number }): Script {
  return async (peer) => {
    await peer.head();
    peer.write(start);
    const line = Buffer.from(`X-Fill: ${'x'.repeat(8000)}\r\n`);
    while (!peer.isClosed && !peer.hasEnded && count.bytes < 50_000_000) {
      count.bytes += line.length;
      if (!peer.socket.write(line)) {
        await waitFor('room', () => peer.socket.writableLength === 0 || peer.isClosed || peer.hasEnded);
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
}

describe('H36 big heads', () => {
  it('20 KB and 60 KB of request are passed on whole', async () => {
    const { client, upstream } = await startRig(page);
    const c = await client();
    for (const size of [20_000, 60_000]) {
      expect((await c.write(getHead('http://a.test/', cookie(size))).answer()).status).toBe(200);
      expect(upstream.heads.at(-1)).toContain(`${cookie(size)}\r\n`);
    }
  });

  it('a request over the limit is 431 and close', async () => {
    const { client, upstream, gateway } = await startRig(page);
    const c = await client();
    const answer = await c.write(getHead('http://a.test/', cookie(200_000))).answer();
    expect(answer.status).toBe(431);
    expect(codeOf(answer)).toBe('header_too_large');
    await c.ended();
    expect(upstream.accepts).toBe(0);
    await gateway.event('exchange_ended', (event) => event.status === 431);
  });

  it('too many fields are 431', async () => {
    const { client, upstream } = await startRig(page);
    const many = Array.from({ length: 300 }, (_, i) => `X-${i}: 1`);
    expect((await (await client()).write(getHead('http://a.test/', ...many)).answer()).status).toBe(431);
    expect(upstream.accepts).toBe(0);
  });

  it('the limit is a setting', async () => {
    const { client } = await startRig(page, { config: { limits: { head: '256KiB' } } });
    const answer = await (await client()).write(getHead('http://a.test/', cookie(200_000))).answer();
    expect(answer.status).toBe(200);
  });

  it('40 KB of answer head are passed on, byte by byte too', async () => {
    const field = `X-Big: ${'y'.repeat(40_000)}`;
    const { client } = await startRig(serveEach((peer) => void peer.answer('page', '200 OK', [field])));
    const answer = await (await client()).write(getHead()).answer();
    expect(answer.head).toContain(`${field}\r\n`);
  });

  it('an answer over the limit is 502 with a cause, and no ban', async () => {
    const field = `X-Big: ${'y'.repeat(200_000)}`;
    const { client, gateway } = await startRig(
      serveEach((peer) => void peer.answer('page', '200 OK', [field])),
      { config: { retry: { retries: 0 } } },
    );
    const answer = await (await client()).write(getHead()).answer();
    expect(answer.status).toBe(502);
    expect(codeOf(answer)).toBe('target_failed');
    expect(gateway.events.filter((event) => event.type === 'exit_banned')).toEqual([]);
  });
});

describe('H37 an upstream that never stops its head', () => {
  it.each([
    ['CONNECT', connectHead()],
    ['GET', getHead()],
  ])('%s: cut at the limit, 502', async (_, head) => {
    const count = { bytes: 0 };
    const { client, upstream } = await startRig(endlessHead('HTTP/1.1 200 OK\r\n', count), {
      config: { retry: { retries: 0 } },
    });
    const answer = await (await client()).write(head).answer();
    expect(answer.status).toBe(502);
    await upstream.idle();
    // What the kernel holds in between comes on top of the limit of 64 KiB.
    expect(count.bytes).toBeLessThan(20_000_000);
  });

  it.each([
    ['CONNECT', connectHead()],
    ['GET', getHead()],
  ])('%s: a slow head is cut at the deadline, 504', async (_, head) => {
    const { client, upstream } = await startRig(
      async (peer) => {
        await peer.head();
        peer.write('HTTP/1.1 200 OK\r\n');
        while (!peer.hasEnded && !peer.isClosed) {
          peer.write('X');
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      },
      { config: { retry: { retries: 0 }, timeouts: { first_byte: '300ms' } } },
    );
    expect((await (await client()).write(head).answer()).status).toBe(504);
    await upstream.idle();
  });
});

describe('H35 how upstreams and targets are named', () => {
  it('an IPv6 literal is dialled without brackets', async () => {
    const v6 = await alsoScripted(page, '::1');
    const { client } = await startRig(page, { upstreams: () => [`http://[::1]:${v6.port}`] });
    expect((await (await client()).write(getHead()).answer()).status).toBe(200);
    expect(v6.accepts).toBe(1);
  });

  it('a literal without port gets the default of the scheme', async () => {
    const seen: string[] = [];
    const gateway = await startGateway({
      upstreams: ['http://[::1]', 'http://127.0.0.9'],
      config: { retry: { retries: 1 } },
      parts: {
        subscriber: (event) => {
          if (event.type === 'attempt_ended') seen.push(event.upstreamLabel);
        },
      },
    });
    const c = await RawClient.connect(gateway.port);
    const answer = await c.write(getHead()).answer();
    c.destroy();
    await gateway.close();
    expect(answer.status).toBe(502);
    expect(seen.sort()).toEqual(['http://127.0.0.9:80', 'http://[::1]:80']);
  });

  it('an IPv6 target goes on with its brackets', async () => {
    const { client, upstream } = await startRig(page);
    await (await client()).write(requestHead('GET http://[::1]:8080/', 'Host: [::1]:8080')).answer();
    expect(upstream.heads[0]).toMatch(/^GET http:\/\/\[::1\]:8080\/ /);
    expect(fieldsOf(upstream.heads[0] ?? '', 'host')).toEqual(['[::1]:8080']);
  });
});
