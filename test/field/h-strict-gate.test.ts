/** H01 and its kind: the strict gate. Every row of the table of refusals on every path on which a client's bytes are read. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { RawClient } from '../support/raw-client.js';
import { refusals, type Refusal } from '../support/refusals.js';
import { connectHead, getHead } from '../support/rig.js';
import { serveEach, startScripted, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { waitFor } from '../support/wait.js';

const behind = 'GET http://evil.test/behind HTTP/1.1\r\nHost: evil.test\r\n\r\n';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await startScripted(
    serveEach(async (peer, { head }) => {
      if (!head.startsWith('CONNECT ')) peer.answer('page');
      else if (head.includes('refused.test')) peer.answer('no', '403 No');
      else {
        peer.write('HTTP/1.1 200 OK\r\n\r\n');
        peer.echo();
        await peer.gone();
      }
    }),
  );
  const config = { targets: { allow: [] }, retry: { retries: 0 } };
  gateway = await startGateway({ upstreams: [upstream.url], config });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

/** What a client got for bytes: status, code and how it ended, as one text. */
async function heard(client: RawClient): Promise<string> {
  const { status, body } = await client.answer();
  const { code } = JSON.parse(body.toString()) as { code: string };
  return `${status} ${code}`;
}

/** Compares what each row got with what it should have got, all at once. */
async function everyRow(
  look: (row: Refusal) => Promise<string>,
  wanted: (row: Refusal) => string,
): Promise<void> {
  const found: [string, string][] = [];
  for (const row of refusals)
    found.push([row.what, await look(row).catch((error: unknown) => String(error))]);
  expect(found).toEqual(refusals.map((row) => [row.what, wanted(row)]));
}

const askedFor = (): string => upstream.peers.map((peer) => peer.text).join('');
const answerTo = ({ status, code }: Refusal): string => `${status} ${code}`;
describe('the strict gate', () => {
  it('has more than sixty rows, none twice', () => {
    expect(refusals.length).toBeGreaterThan(60);
    expect(new Set(refusals.map(({ what }) => what)).size).toBe(refusals.length);
  });

  it('refuses each on a new connection, and nothing of it reaches the upstream', async () => {
    await everyRow(async ({ bytes }) => {
      const client = await RawClient.connect(gateway.port);
      const text = await heard(client.write(bytes));
      client.destroy();
      return text;
    }, answerTo);
    expect(askedFor()).not.toMatch(/evil|\r\n0\r\n\r\n/);
  });

  it('refuses each as the second request of a kept connection', async () => {
    await everyRow(async ({ bytes }) => {
      const client = await RawClient.connect(gateway.port);
      await client.write(getHead()).answer();
      const text = await heard(client.write(bytes));
      client.destroy();
      return text;
    }, answerTo);
  });

  it('reads nothing behind one that leaves a doubt', async () => {
    await everyRow(
      async (row) => {
        const client = await RawClient.connect(gateway.port);
        const text = await heard(client.write(row.bytes + behind));
        const next = row.isKept ? (await client.answer()).body.toString() : await client.ended();
        client.destroy();
        return `${text}, ${next}`;
      },
      (row) => `${answerTo(row)}, ${row.isKept ? 'page' : 'fin'}`,
    );
  });

  it('passes each on as bytes behind a CONNECT, once the tunnel stands', async () => {
    await everyRow(
      async ({ bytes }) => {
        const client = await RawClient.connect(gateway.port);
        client.write(connectHead('tunnel.test:443') + bytes);
        const head = await client.head();
        await client.untilBytes(head.length + bytes.length);
        client.destroy();
        return client.text.slice(head.length) === bytes ? 'as it was' : client.text.slice(head.length);
      },
      () => 'as it was',
    );
  });

  it('drops each behind a CONNECT that the upstream refuses', async () => {
    const before = upstream.accepts;
    await everyRow(
      async ({ bytes }) => {
        const client = await RawClient.connect(gateway.port);
        client.write(connectHead('refused.test:443') + bytes + behind);
        await client.ended();
        client.destroy();
        return String(client.text.split('HTTP/1.1 ').length - 1);
      },
      () => '1',
    );
    await waitFor('one try each', () => upstream.accepts >= before + refusals.length);
    expect(askedFor()).not.toContain('evil.test/behind HTTP/1.1\r\nHost: evil.test\r\n\r\nHTTP');
  });
});
