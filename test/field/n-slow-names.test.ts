/** N and X07: names whose servers never answer keep nobody else waiting. */
import { expect, it } from 'vitest';
import { answerOf } from '../support/ask.js';
import { serveNames } from '../support/name-server.js';
import { startNetwork } from '../support/own-network.js';
import { RawClient } from '../support/raw-client.js';
import { getHead } from '../support/rig.js';
import { serveEach, startScripted } from '../support/scripted-upstream.js';
import { startServe } from '../support/serve-process.js';
import { createStage } from '../support/stage.js';
import { waitFor } from '../support/wait.js';

const stage = createStage();

it('N X07 20 names without an answer, and a page by another name in between', async () => {
  const network = stage.keep(await startNetwork({ resolvConf: 'nameserver 127.0.0.1\n' }));
  const asked = new Set<string>();
  serveNames(await network.datagrams(53), (name) => {
    asked.add(name);
    return name.startsWith('silent') ? 'silence' : { addresses: ['127.0.0.2'] };
  });
  const target = stage.keep(
    await startScripted(
      serveEach((peer) => void peer.answer('page')),
      await network.listen({ host: '127.0.0.2' }),
    ),
  );
  const gateway = stage.keep(
    await startServe(['direct://'], { targets: { allow: ['127.0.0.2'] } }, { inside: network.inside }),
  );
  const clients = await Promise.all(
    Array.from({ length: 20 }, async (_, nth) => {
      const client = new RawClient(await network.connect(gateway.port));
      client.resume();
      return client.write(getHead(`http://silent${nth}.test/`));
    }),
  );
  await waitFor('all those names to be asked for', () => asked.size === 20);
  const client = new RawClient(await network.connect(gateway.port));
  client.resume();
  const answer = answerOf(await client.write(getHead(`http://good.test:${target.port}/`)).answer());
  expect(answer.body.toString()).toBe('page');
  expect(clients.map(({ text }) => text).join('')).toBe('');
  for (const each of [client, ...clients]) each.reset();
});
