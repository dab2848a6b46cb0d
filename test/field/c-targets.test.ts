/** Field cases of kind C: targets and bytes that make no CONNECT. */
import { describe, expect, it } from 'vitest';
import { messageOf } from '../support/raw-client.js';
import { connectHead, requestHead, startRig } from '../support/rig.js';
import { echoTunnel } from '../support/scripted-upstream.js';

describe('C12 C13 C14 odd targets', () => {
  it('C12 an underscore is passed on', async () => {
    const { client, upstream } = await startRig(echoTunnel);
    const c = await client();
    c.write(connectHead('under_score.a.test:443'));
    expect(messageOf(await c.head()).status).toBe(200);
    expect(upstream.heads[0]).toContain('CONNECT under_score.a.test:443 ');
  });

  it.each(['Content-Length: 5', 'Transfer-Encoding: chunked'])(
    'C12 a CONNECT that announces a body (%s) is refused',
    async (field) => {
      const { client, upstream } = await startRig(echoTunnel);
      const c = await client();
      c.write(connectHead('a.test:443', field));
      expect(messageOf(await c.head()).status).toBe(400);
      expect(upstream.heads).toEqual([]);
    },
  );

  const badAuthorities = [
    'a..test:443',
    `${'x'.repeat(300)}.test:443`,
    '%7Bid%7D.a.test:443',
    '{id}.a.test:443',
    'a.test',
    'a.test:',
    ...['0', '65536', '99999', '-1', '4x3', '443 ', '+443', '0x1bb', '4e2', '٤٤٣'].map(
      (port) => `a.test:${port}`,
    ),
    ':443',
    'http://a.test:443',
    'a.test:443/path',
    'u:p@a.test:443',
    '[::1:443',
    '[::g]:443',
  ];
  it.each(badAuthorities)('C13 C14 CONNECT %j is 400, and nothing is dialled', async (authority) => {
    const { client, upstream } = await startRig(echoTunnel);
    const c = await client();
    const bytes = Buffer.from(requestHead(`CONNECT ${authority}`, 'Host: a.test:443'));
    expect((await c.write(bytes).answer()).status).toBe(400);
    expect(await c.ended()).toBe('fin');
    expect(upstream.accepts).toBe(0);
  });

  it.each(['0', '65536', '99999', '-1', '4x3', '+80', '', '080'])(
    'C14 GET with port %s is 400, and nothing is dialled',
    async (port) => {
      const { client, upstream } = await startRig(echoTunnel);
      const c = await client();
      const head = requestHead(`GET http://a.test:${port}/`, 'Host: a.test');
      expect((await c.write(head).answer()).status).toBe(400);
      expect(upstream.accepts).toBe(0);
    },
  );
});

describe('C21 TLS or noise on the plain port', () => {
  it('a ClientHello is closed at once, counted, with a hint', async () => {
    const { client, gateway } = await startRig(echoTunnel);
    const c = await client();
    c.write(Buffer.from('160301020001fc0303', 'hex'));
    await c.ended();
    const refused = await gateway.event('connection_refused');
    expect(refused).toMatchObject({ reason: 'tls_hello' });
    expect(refused.detail).toContain('http://');
  });

  it.each([0x00, 0x7f, 0x80, 0xff])('2 KB of noise from byte %i on are refused', async (first) => {
    const { client, gateway } = await startRig(echoTunnel);
    const c = await client();
    c.write(Buffer.from(Array.from({ length: 2048 }, (_, i) => (first + i * 7) % 256)));
    await c.ended();
    expect(['', '400']).toContain(/^HTTP\/1\.1 (\d+)/.exec(c.text)?.[1] ?? '');
    expect(gateway.events.filter((event) => event.type !== 'client_connected').length).toBeLessThan(4);
  });
});
