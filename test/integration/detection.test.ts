/** Blocks are seen before the client sees them, and what is no block passes untouched and at once. */
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ask } from '../support/ask.js';
import type { TestGateway } from '../support/gateway.js';
import { RawClient } from '../support/raw-client.js';
import type { Peer } from '../support/scripted-upstream.js';
import { createStage } from '../support/stage.js';

const stage = createStage();
const page = 'http://shop.example/p/1';
const html = 'Content-Type: text/html; charset=utf-8';
const robotCheck = { name: 'robot-check', when: { status: 200, body: { contains: 'captcha-zxq' } } };
const blockPage = '<html><title>hm</title><p>Please solve CAPTCHA-ZXQ</p></html>';
const goodPage = '<html><title>shop</title><p>Shoes</p></html>';

/** Writes an answer with these body bytes. */
function send(peer: Peer, body: Buffer | string, fields: readonly string[] = [html]): void {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  peer.write(`HTTP/1.1 200 OK\r\n${fields.join('\r\n')}\r\nContent-Length: ${bytes.length}\r\n\r\n`);
  peer.write(bytes);
}

const blocked = () => stage.exit((peer) => void send(peer, blockPage));
const good = () => stage.exit((peer) => void send(peer, goodPage));

const matchesIn = (gateway: TestGateway): string[] =>
  gateway.events.flatMap((event) => (event.type === 'rule_matched' ? [event.rule] : []));
const verdictsIn = (gateway: TestGateway): string[] =>
  gateway.events.flatMap((event) => (event.type === 'attempt_ended' ? [event.verdict] : []));

describe('G7 a block at 200', () => {
  it('is tried elsewhere before the client sees it', async () => {
    const gateway = await stage.gateway([await blocked(), await good()], { rules: [robotCheck] });
    const answer = await ask(gateway, page);
    expect(answer.body.toString()).toBe(goodPage);
    expect(answer.field('x-turnpike-attempts')).toBe('2');
    expect(answer.field('x-turnpike-verdict')).toBe('ok');
    expect(verdictsIn(gateway)).toEqual(['blocked', 'ok']);
    expect(matchesIn(gateway)).toEqual(['robot-check']);
    expect(await gateway.metrics()).toMatch(
      /turnpike_rule_matches_total\{rule="robot-check",shadow="false"\} 1/,
    );
  });

  it('B14 is delivered as it is when nothing better came, and marked', async () => {
    const gateway = await stage.gateway([await blocked(), await blocked()], { rules: [robotCheck] });
    const answer = await ask(gateway, page);
    expect(answer.status).toBe(200);
    expect(answer.body.toString()).toBe(blockPage);
    expect(answer.field('x-turnpike-verdict')).toBe('blocked');
    expect(answer.field('x-turnpike-attempts')).toBe('2');
  });

  it('is delivered where the client wants no judgement', async () => {
    const gateway = await stage.gateway([await blocked(), await good()], { rules: [robotCheck] });
    const answer = await ask(gateway, page, { fields: ['X-Turnpike-Detect: off'] });
    expect(answer.body.toString()).toBe(blockPage);
    expect(matchesIn(gateway)).toEqual([]);
  });

  it('is seen by a shipped fingerprint without any rule', async () => {
    const challenge = await stage.exit(
      (peer) => void send(peer, '<html>hm</html>', [html, 'cf-mitigated: challenge', 'Server: cloudflare']),
    );
    const gateway = await stage.gateway([challenge, await good()]);
    expect((await ask(gateway, page)).body.toString()).toBe(goodPage);
    expect(matchesIn(gateway)).toEqual(['cloudflare-challenge', 'cloudflare-present']);
    const off = await stage.gateway([challenge], { detection: { fingerprints: false } });
    expect((await ask(off, page)).field('x-turnpike-verdict')).toBe('ok');
  });
});

describe('B18 a block in a coded body, or in pieces', () => {
  it.each([
    ['gzip', gzipSync(blockPage)],
    ['br', brotliCompressSync(blockPage)],
    // 16 bytes of frame round the same text: a raw block (RFC 8878, section 3.1.1.2).
    ['zstd', zstdOf(blockPage)],
  ])('%s is read, and the original bytes are delivered', async (coding, body) => {
    const exits = [await stage.exit((peer) => void send(peer, body, [html, `Content-Encoding: ${coding}`]))];
    const gateway = await stage.gateway(exits, { rules: [robotCheck], retry: { retries: 0 } });
    const answer = await ask(gateway, page);
    expect(answer.field('x-turnpike-verdict')).toBe('blocked');
    expect(answer.body.equals(body)).toBe(true);
    expect(answer.field('content-encoding')).toBe(coding);
  });

  it('chunks of three bytes', async () => {
    const exit = await stage.exit(async (peer) => {
      peer.write(`HTTP/1.1 200 OK\r\n${html}\r\nTransfer-Encoding: chunked\r\n\r\n`);
      for (let at = 0; at < blockPage.length; at += 3) {
        const piece = blockPage.slice(at, at + 3);
        peer.write(`${piece.length.toString(16)}\r\n${piece}\r\n`);
        await new Promise((resolve) => setImmediate(resolve));
      }
      peer.write('0\r\n\r\n');
    });
    const gateway = await stage.gateway([exit, await good()], { rules: [robotCheck] });
    expect((await ask(gateway, page)).body.toString()).toBe(goodPage);
  });

  it.each(['application/problem+json', 'application/VND.shop+json; charset=utf-8'])(
    '%s is JSON',
    async (type) => {
      const exit = await stage.exit(
        (peer) => void send(peer, '{"url":"/captcha-zxq"}', [`Content-Type: ${type}`]),
      );
      const gateway = await stage.gateway([exit, await good()], { rules: [robotCheck] });
      expect((await ask(gateway, page)).body.toString()).toBe(goodPage);
    },
  );

  it('a marker beyond the bound is not waited for', async () => {
    const long = `${'x'.repeat(20_000)}captcha-zxq${'y'.repeat(100_000)}`;
    const exit = await stage.exit((peer) => void send(peer, long));
    const gateway = await stage.gateway([exit], { rules: [robotCheck], detection: { look_at: '4KiB' } });
    const answer = await ask(gateway, page);
    expect(answer.field('x-turnpike-verdict')).toBe('ok');
    expect(answer.body.toString()).toBe(long);
  });
});

describe('what is no block', () => {
  it('a page that only shows a vendor is delivered at once', async () => {
    const login = '<form><input type="password"><div class="g-recaptcha"></div></form>';
    const exit = await stage.exit(
      (peer) => void send(peer, login, [html, 'CF-RAY: 1', 'Server: cloudflare']),
    );
    const gateway = await stage.gateway([exit, await good()]);
    const answer = await ask(gateway, page);
    expect(answer.body.toString()).toBe(login);
    expect(answer.field('x-turnpike-attempts')).toBe('1');
    expect(matchesIn(gateway).sort()).toEqual(['captcha-widget-present', 'cloudflare-present']);
  });

  it('other types stream from their first byte', async () => {
    const exit = await stage.exit(async (peer) => {
      peer.write(
        'HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n',
      );
      await peer.gone();
    });
    const gateway = await stage.gateway([exit], { rules: [robotCheck] });
    const client = await RawClient.connect(gateway.port);
    client.write(`GET ${page} HTTP/1.1\r\nHost: shop.example\r\n\r\n`);
    await client.until('abc');
    client.destroy();
  });

  it('a page that comes too slowly is judged by what is there', async () => {
    const exit = await stage.exit(async (peer) => {
      peer.write(`HTTP/1.1 200 OK\r\n${html}\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`);
      await peer.gone();
    });
    const gateway = await stage.gateway([exit], { rules: [robotCheck], detection: { hold: '100ms' } });
    const client = await RawClient.connect(gateway.port);
    client.write(`GET ${page} HTTP/1.1\r\nHost: shop.example\r\n\r\n`);
    await client.until('abc');
    client.destroy();
  });

  it('an origin that Cloudflare can not reach is the target’s fault', async () => {
    const exit = await stage.exit((peer) => void peer.answer('down', '522 ', [html, 'CF-RAY: 1']));
    const gateway = await stage.gateway([exit], { retry: { retries: 0 } });
    const answer = await ask(gateway, page);
    expect([answer.status, answer.field('x-turnpike-verdict')]).toEqual([522, 'target_failed']);
  });
});

describe('a page that is smaller than the site’s usual ones', () => {
  it('is a block once the site is known, and blocks are not learnt', async () => {
    let isSmall = false;
    const exit = await stage.exit((peer) => void send(peer, isSmall ? 'hm' : 'x'.repeat(5000)));
    const rule = { name: 'shrunk', when: { size_below: '30%' }, then: 'retry_only' };
    const gateway = await stage.gateway([exit], { rules: [rule], retry: { retries: 0 } });
    for (let n = 0; n < 9; n++) await ask(gateway, `http://shop.example/p/${n}`);
    isSmall = true;
    for (let n = 0; n < 9; n++) {
      const answer = await ask(gateway, `http://shop.example/p/${n}`);
      expect(answer.field('x-turnpike-verdict')).toBe('blocked');
    }
  });
});

describe('what takes long', () => {
  it('a selector on a large page is asked in a thread of its own', async () => {
    const large = (middle: string): string => `<main>${'<p>shoe</p>'.repeat(2000)}${middle}</main>`;
    const rule = { name: 'no-price', when: { missing: { selector: 'main .price' } } };
    const exits = [
      await stage.exit((peer) => void send(peer, large(''))),
      await stage.exit((peer) => void send(peer, large('<b class="price">1</b>'))),
    ];
    const gateway = await stage.gateway(exits, { rules: [rule], detection: { fingerprints: false } });
    const answer = await ask(gateway, page);
    expect(answer.body.toString()).toContain('class="price"');
    expect(verdictsIn(gateway)).toEqual(['blocked', 'ok']);
  });

  it('a bomb is delivered, not inflated', async () => {
    const bomb = gzipSync(Buffer.alloc(32 * 1024 * 1024));
    const exit = await stage.exit((peer) => void send(peer, bomb, [html, 'Content-Encoding: gzip']));
    const gateway = await stage.gateway([exit], { rules: [robotCheck] });
    const answer = await ask(gateway, page);
    expect(answer.body.equals(bomb)).toBe(true);
    expect(gateway.events).toContainEqual(
      expect.objectContaining({ type: 'body_not_inspected', reason: 'swells' }),
    );
  });
});

/** A frame with one raw block. */
function zstdOf(text: string): Buffer {
  const body = Buffer.from(text);
  const size = Buffer.of(body.length & 255);
  const block = (body.length << 3) | 1;
  const head = Buffer.of(0x28, 0xb5, 0x2f, 0xfd, 0x20, ...size, block & 255, (block >> 8) & 255, block >> 16);
  return Buffer.concat([head, body]);
}
