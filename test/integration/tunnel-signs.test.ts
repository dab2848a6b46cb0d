/** What tunnels show without being looked into: weak signs, which count together. */
import { describe, expect, it } from 'vitest';
import { adminSection, askAdmin, exitsOf } from '../support/admin.js';
import { connect } from '../support/ask.js';
import type { TestGateway } from '../support/gateway.js';
import { createStage } from '../support/stage.js';
import type { Peer, ScriptedUpstream } from '../support/scripted-upstream.js';

const stage = createStage();
const HELLO = '\x16\x03\x01';

/** Opens the tunnel; then, when the client has spoken, does this. */
const exitThat = (act: (peer: Peer) => void): Promise<ScriptedUpstream> =>
  stage.scripted(async (peer) => {
    await peer.openTunnel();
    await peer.until(HELLO);
    act(peer);
  });
const answers = (peer: Peer): void => void peer.write('\x16\x03\x03 a good answer');
const alerts = (peer: Peer): void => {
  peer.write('\x15\x03\x03\x00\x02\x02\x28');
  peer.end();
};

async function speak(gateway: TestGateway, exit: string, until: string | null): Promise<void> {
  const fields = [`X-Turnpike-Upstream: ${exit}`];
  const { client, answer } = await connect(gateway, 'site.example:443', { fields });
  expect(answer.status).toBe(200);
  client.write(HELLO);
  if (until === null) await client.ended();
  else await client.until(until);
  client.destroy();
}

async function gatewayOf(...exits: ScriptedUpstream[]) {
  const gateway = await stage.gateway(exits, { admin: adminSection });
  const ids = (await exitsOf(gateway)) as { id: string; label: string }[];
  const idOf = ({ port }: ScriptedUpstream): string =>
    ids.find(({ label }) => label.endsWith(`:${port}`))?.id ?? '';
  return { gateway, ids: exits.map(idOf) };
}

const endsOf = (gateway: TestGateway, count: number) =>
  gateway.event(
    'exchange_ended',
    () => gateway.events.filter(({ type }) => type === 'exchange_ended').length >= count,
  );

describe('S8 an exit whose hellos are answered by alerts', () => {
  it('is banned for the site when three agree and another exit is good there', async () => {
    const { gateway, ids } = await gatewayOf(await exitThat(alerts), await exitThat(answers));
    const [bad = '', good = ''] = ids;
    await speak(gateway, good, 'a good answer');
    await endsOf(gateway, 1);
    for (let n = 2; n < 4; n++) {
      await speak(gateway, bad, null);
      await endsOf(gateway, n);
    }
    expect(gateway.events.filter(({ type }) => type === 'exit_banned')).toEqual([]);
    await speak(gateway, bad, null);
    expect(await gateway.event('exit_banned')).toMatchObject({
      ...{ upstream: bad, site: 'site.example', reason: 'tunnel_signs' },
      evidence: { field: 'tunnel signs', found: '3 times: alert' },
    });
    const { body } = await askAdmin(gateway.adminPort, '/api/v1/bans');
    expect(body.items).toMatchObject([{ exit: bad, evidence: { found: '3 times: alert' } }]);
  });

  it('is not banned where all exits get them', async () => {
    const { gateway, ids } = await gatewayOf(await exitThat(alerts), await exitThat(alerts));
    for (let n = 0; n < 4; n++) for (const id of ids) await speak(gateway, id, null);
    await endsOf(gateway, 8);
    expect(gateway.events.filter(({ type }) => type === 'exit_banned')).toEqual([]);
  });
});
