/** C22, A10: crawlers that speak TLS to the gateway, and logins for proxies that they put inside TLS. */
import { describe, expect, it } from 'vitest';
import { connect } from '../support/ask.js';
import { login } from '../support/rig.js';
import { listenWith, securedStage } from '../support/secured.js';
import { createStage } from '../support/stage.js';
import { waitFor } from '../support/wait.js';

const stage = createStage();
const { certified, connectTls } = securedStage(stage);

describe('C22 a browser that would like h2', () => {
  it('is offered http/1.1 only, and a client that knows h2 alone is refused', async () => {
    const certificate = await certified();
    const gateway = await stage.gateway([await stage.good('page')], listenWith(certificate));
    const both = connectTls(gateway, certificate, ['h2', 'http/1.1']);
    await waitFor('TLS', () => both.socket.alpnProtocol !== null);
    expect(both.socket.alpnProtocol).toBe('http/1.1');
    const only = connectTls(gateway, certificate, ['h2']);
    expect(await waitFor('the refusal', () => only.failure())).toMatch(/NO_APPLICATION_PROTOCOL/);
    const { reason, detail } = await gateway.event('connection_refused');
    expect([reason, detail]).toEqual(['tls_failed', expect.stringContaining('NO_APPLICATION_PROTOCOL')]);
  });
});

describe('A10 a login for the proxy that goes on inside TLS', () => {
  const clients = [{ name: 'u', password: 'p' }];

  it('is taken away from plain requests inside TLS to the gateway, on the way to a redirect too', async () => {
    const certificate = await certified();
    const exit = await stage.exit((peer, { head }) => {
      if (head.includes('/moved')) peer.answer('page');
      else peer.answer('', '302 Found', ['Location: http://b.test/moved']);
    });
    const gateway = await stage.gateway([exit], { ...listenWith(certificate), clients });
    const { socket, text } = connectTls(gateway, certificate);
    for (const [url, seen] of [
      ['a.test/', '302 Found'],
      ['b.test/moved', 'page'],
    ] as const) {
      socket.write(`GET http://${url} HTTP/1.1\r\nHost: a.test\r\n${login('u', 'p')}\r\n\r\n`);
      await waitFor(seen, () => text().includes(seen));
    }
    expect(exit.heads).toHaveLength(2);
    expect(exit.heads.join('')).not.toMatch(/proxy-authorization/i);
  });

  it('inside an opaque tunnel is neither read nor counted as a login', async () => {
    const exit = await stage.good('exit');
    const gateway = await stage.gateway([exit], { clients });
    const { client, answer } = await connect(gateway, 'a.test:443', { fields: [login('u', 'p')] });
    expect(answer.status).toBe(200);
    const inner = `GET / HTTP/1.1\r\nHost: a.test\r\n${login('u', 'wrong')}\r\n\r\n`;
    // The exit echoes, and then answers what it takes for a request.
    expect((await client.write(inner).until(inner)).slice(0, inner.length)).toBe(inner);
    expect(await gateway.metrics()).toMatch(/^turnpike_tunnels_open(\{[^}]*\})? 1$/m);
    client.destroy();
  });
});
