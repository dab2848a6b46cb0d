/** X06 with a process that is really out of ports: it says so and when to come back, blames no exit, and serves again. */
import { describe, expect, it } from 'vitest';
import { answerOf, answering, headFor } from '../support/ask.js';
import { startNetwork, type OwnNetwork } from '../support/own-network.js';
import { sumOf } from '../support/process-figures.js';
import { RawClient } from '../support/raw-client.js';
import { serveEach, startScripted } from '../support/scripted-upstream.js';
import { startServe } from '../support/serve-process.js';
import { createStage } from '../support/stage.js';
import { eventually } from '../support/wait.js';

const stage = createStage();
const FIRST_PORT = 40_000;
const PORTS = 24;
const CLIENTS = 60;
const page = headFor('http://site.example/');
const tunnel = headFor('site.example:443', { method: 'CONNECT' });

async function clientOf(network: OwnNetwork, port: number): Promise<RawClient> {
  const client = new RawClient(await network.connect(port));
  client.resume();
  return client;
}

/** One question on a connection of its own. */
async function askOnce(network: OwnNetwork, port: number, head: string) {
  const client = await clientOf(network, port);
  const answer = answerOf(await client.write(head).answer());
  client.reset();
  return answer;
}

describe('X06 a machine with 24 ports and 60 clients', () => {
  it.each([
    ['tunnels', tunnel],
    ['requests without an answer yet', headFor('http://site.example/slow')],
  ])(
    '%s: 503 with Retry-After for who finds none, no exit set aside, service when they left',
    async (_, ask) => {
      const network = stage.keep(await startNetwork({ ports: [FIRST_PORT, FIRST_PORT + PORTS - 1] }));
      const serve = answering('page');
      const exit = stage.keep(
        await startScripted(
          serveEach((peer, request) => (request.head.includes('/slow') ? peer.gone() : serve(peer, request))),
          await network.listen({ port: FIRST_PORT - 1 }),
        ),
      );
      const gateway = stage.keep(await startServe([exit.url], {}, { inside: network.inside }));
      const metricsHead = headFor(`${gateway.admin}/metrics`).replace(gateway.admin, '');
      const metrics = async (): Promise<string> =>
        (await askOnce(network, Number(new URL(gateway.admin).port), metricsHead)).body.toString();

      const clients = await Promise.all(
        Array.from({ length: CLIENTS }, async () => (await clientOf(network, gateway.port)).write(ask)),
      );
      // Its own two listeners stand on ports of the range too.
      await eventually('all ports to be used', async () => exit.accepts === PORTS - 2);
      const refused = (): RawClient[] => clients.filter(({ text }) => text.startsWith('HTTP/1.1 503 '));
      await eventually('all others to be refused', async () => refused().length === CLIENTS - exit.accepts);
      for (const client of refused()) {
        const answer = answerOf(await client.answer());
        expect(answer.problem()).toMatchObject({
          code: 'local_resources',
          blame: 'gateway',
          retryable: true,
        });
        expect(answer.field('retry-after')).toBe('1');
      }
      const told = await metrics();
      expect(sumOf(told, 'turnpike_errors_total', 'local_resources')).toBe(CLIENTS - exit.accepts);
      expect(sumOf(told, 'turnpike_bans_total')).toBe(0);

      for (const client of clients) client.reset();
      await eventually('a page', async () => (await askOnce(network, gateway.port, page)).status === 200);
      expect(gateway.child.exitCode).toBe(null);
    },
  );
});
