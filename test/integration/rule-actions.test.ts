/** What the rules of an operator do to the exit that met one: exactly what their actions and scope say. */
import { describe, expect, it } from 'vitest';
import { adminSection, askAdmin } from '../support/admin.js';
import { ask } from '../support/ask.js';
import type { TestGateway } from '../support/gateway.js';
import type { ScriptedUpstream } from '../support/scripted-upstream.js';
import { createStage } from '../support/stage.js';

const stage = createStage();
const page = 'http://shop.example/p/1';

/** The answer for the first of two exits, which meets a rule with these actions; the second gives a good page. */
async function meet(rule: object): Promise<{ gateway: TestGateway; body: string }> {
  const bad = await stage.exit((peer) => void peer.write(answerOf('sorry-zxq')));
  const good = await stage.exit((peer) => void peer.write(answerOf('shoes')));
  const gateway = await stage.gateway([bad, good], {
    rules: [{ name: 'sorry', when: { body: { contains: 'sorry-zxq' } }, ...rule }],
  });
  const body = (await ask(gateway, page)).body.toString();
  return { gateway, body };
}

function answerOf(text: string): string {
  return `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
}

const bansIn = (gateway: TestGateway): (string | null)[] =>
  gateway.events.flatMap((event) => (event.type === 'exit_banned' ? [event.site] : []));
const notesIn = (gateway: TestGateway): string[] =>
  gateway.events.flatMap((event) => (event.type === 'note' ? [event.what] : []));

describe('N5 the actions of a rule', () => {
  it.each([
    ['ban and retry, by default', {}, { body: 'shoes', bans: ['shop.example'] }],
    [
      'ban for all sites',
      { then: ['ban', 'retry'], scope: 'exit' },
      { body: 'shoes', bans: [null] as (string | null)[] },
    ],
    ['ban without a retry', { then: 'ban' }, { body: 'sorry-zxq', bans: ['shop.example'] }],
    ['retry_only holds nothing against the exit', { then: 'retry_only' }, { body: 'shoes', bans: [] }],
    ['deliver', { then: 'deliver' }, { body: 'sorry-zxq', bans: [] }],
    ['exhaust is for all sites', { then: ['exhaust', 'retry'] }, { body: 'shoes', bans: [null] }],
    ['throttle is a pause there', { then: ['throttle', 'retry'] }, { body: 'shoes', bans: ['shop.example'] }],
    [
      'N1 who blames the account clears the exit',
      { then: ['ban', 'retry'], scope: 'credential' },
      { body: 'shoes', bans: [] },
    ],
  ])('%s', async (_, rule, expected) => {
    const { gateway, body } = await meet(rule);
    expect({ body, bans: bansIn(gateway) }).toEqual(expected);
  });

  it('N14 freeze takes the exit out until somebody thaws it', async () => {
    const { gateway, body } = await meet({ then: ['freeze', 'retry'] });
    expect({ body, bans: bansIn(gateway) }).toEqual({ body: 'shoes', bans: [] });
    expect(notesIn(gateway)).toContain('exit_frozen');
    expect(await gateway.metrics()).toMatch(/turnpike_exits\{pool="[a-z]+",state="frozen"\} 1/);
  });

  it('N1 sets aside at the site all exits that share the blamed login, and shows it', async () => {
    const sorry = (): Promise<ScriptedUpstream> =>
      stage.exit((peer) => void peer.write(answerOf('sorry-zxq')));
    const [first, second, other] = [await sorry(), await sorry(), await stage.good('other')];
    const logins = [
      first.loginUrl('bob', 'CANARY'),
      second.loginUrl('bob', 'CANARY'),
      other.loginUrl('eve', 'x'),
    ];
    const gateway = await stage.gateway(logins, {
      admin: adminSection,
      rules: [
        {
          name: 'sorry',
          when: { body: { contains: 'sorry-zxq' } },
          then: ['ban', 'retry'],
          scope: 'credential',
        },
      ],
    });
    expect((await ask(gateway, page)).body.toString()).toBe('other');
    for (let i = 0; i < 4; i++) expect((await ask(gateway, page)).body.toString()).toBe('other');
    expect([first.heads.length, second.heads.length]).toEqual([1, 0]);
    expect(await gateway.event('credential_banned')).toMatchObject({
      ...{ site: 'shop.example', reason: 'rule sorry', strikes: 1, evidence: { rule: 'sorry', status: 200 } },
    });
    const [ban] = (await askAdmin(gateway.adminPort, '/api/v1/bans')).body.items;
    expect(ban).toMatchObject({ exit: null, site: 'shop.example', reason: 'rule sorry', phase: 'out' });
    const { items } = (await askAdmin(gateway.adminPort, '/api/v1/upstreams')).body;
    expect(items.map(({ credential }: { credential: string }) => credential === ban.credential)).toEqual([
      ...[true, true, false],
    ]);
    expect(await gateway.metrics()).toMatch(/turnpike_bans_total\{scope="credential",site="[^"]+"\} 1/);
    const lifted = await askAdmin(gateway.adminPort, `/api/v1/bans/${ban.id}`, { method: 'DELETE' });
    expect([lifted.status, JSON.stringify([ban, items]).includes('CANARY')]).toEqual([200, false]);
    for (let i = 0; i < 3; i++) await ask(gateway, page);
    expect(first.heads.length + second.heads.length).toBe(2);
  });
});
