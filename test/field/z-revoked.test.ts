/** Z09: who is no longer a client has no tunnels either. */
import { describe, expect, it } from 'vitest';
import { ask, connect } from '../support/ask.js';
import { login } from '../support/rig.js';
import { createStage } from '../support/stage.js';

const stage = createStage();

describe('Z09 a client that is no more', () => {
  it('loses its tunnels and its login at once, while the tunnels of others go on', async () => {
    const [revoked, kept] = [
      { name: 'revoked', password: 'p' },
      { name: 'kept', password: 'p' },
    ];
    const gateway = await stage.gateway([await stage.good('good')], { clients: [revoked, kept] });
    const tunnels = await Promise.all(
      ['revoked', 'kept'].map((name) => connect(gateway, 'a.test:443', { fields: [login(name, 'p')] })),
    );
    expect(tunnels.map(({ answer }) => answer.status)).toEqual([200, 200]);
    await gateway.apply({ config: { clients: [kept] } });
    expect(await tunnels[0]?.client.ended()).toBe('fin');
    const { end } = await gateway.event('exchange_ended', ({ client }) => client === 'revoked');
    expect(end).toBe('cut_by_policy');
    tunnels[1]?.client.write('still here');
    await tunnels[1]?.client.until('still here');
    expect((await ask(gateway, 'http://a.test/', { fields: [login('revoked', 'p')] })).status).toBe(407);
    for (const { client } of tunnels) client.destroy();
  });
});
