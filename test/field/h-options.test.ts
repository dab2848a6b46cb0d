/** OPTIONS about the server as a whole: `*` where we are the last proxy, an empty path where another is (RFC 9112, section 3.2.4). */
import { describe, expect, it } from 'vitest';
import { requestHead, startRig, type Rig } from '../support/rig.js';
import { answerSocks } from '../support/scripted-socks.js';
import { serveEach, type Script } from '../support/scripted-upstream.js';

const page = serveEach((peer) => void peer.answer('page'));
const behindSocks: Script = async (peer, nth) => {
  await answerSocks(peer);
  await page(peer, nth);
};

/** A gateway whose exit is by this protocol, in front of a peer that plays the exit or the target. */
function startBy(protocol: string): Promise<Rig> {
  const exitOf = ({ port }: { port: number }): string =>
    protocol === 'direct' ? 'direct://' : `${protocol}://127.0.0.1:${port}`;
  return startRig(protocol.startsWith('socks') ? behindSocks : page, {
    upstreams: (scripted) => [exitOf(scripted)],
  });
}

/** The targets as they arrived, when these were asked. */
async function arrived({ client, upstream }: Rig, asked: readonly string[]): Promise<string[]> {
  const c = await client();
  const host = `127.0.0.1:${upstream.port}`;
  for (const ask of asked) {
    const [method = '', path = ''] = ask.split(' ');
    expect(
      (await c.write(requestHead(`${method} http://${host}${path}`, `Host: ${host}`)).answer()).status,
    ).toBe(200);
  }
  return upstream.heads.map((head) => head.split(' ', 2).join(' ').replace(host, 'HOST'));
}

const asked = ['OPTIONS ', 'OPTIONS /', 'OPTIONS ?', 'OPTIONS /x', 'GET ', 'OPTIONS '];

describe('H OPTIONS with an empty path', () => {
  it.each(['direct', 'socks5', 'socks4a'])('reaches the target as OPTIONS * (%s)', async (protocol) => {
    expect(await arrived(await startBy(protocol), asked)).toEqual([
      'OPTIONS *',
      'OPTIONS /',
      'OPTIONS /?',
      'OPTIONS /x',
      'GET /',
      'OPTIONS *',
    ]);
  });

  it('stays as it is on the way to another proxy', async () => {
    expect(await arrived(await startBy('http'), asked)).toEqual([
      'OPTIONS http://HOST',
      'OPTIONS http://HOST/',
      'OPTIONS http://HOST/?',
      'OPTIONS http://HOST/x',
      'GET http://HOST/',
      'OPTIONS http://HOST',
    ]);
  });
});
