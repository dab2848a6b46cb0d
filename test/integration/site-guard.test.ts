/** A site that is down, or a page that is 403 for everybody, costs nobody an exit. */
import { describe, expect, it } from 'vitest';
import { adminSection, askAdmin, exitsOf } from '../support/admin.js';
import { ask, connect } from '../support/ask.js';
import type { TestGateway } from '../support/gateway.js';
import { jumpingClock } from '../support/jumping-clock.js';
import type { Peer, ScriptedUpstream } from '../support/scripted-upstream.js';
import { createStage } from '../support/stage.js';

const stage = createStage();
const page = 'http://site.example/';
const bansOf = async (gateway: TestGateway) =>
  (await askAdmin(gateway.adminPort, '/api/v1/bans')).body.items as Record<string, unknown>[];
const sitesOf = async (gateway: TestGateway) =>
  (await askAdmin(gateway.adminPort, '/api/v1/sites')).body.items as Record<string, unknown>[];
const guarded = (gateway: TestGateway) => gateway.events.filter((event) => event.type === 'site_guarded');

/** So many exits that all behave alike. */
const exits = (
  count: number,
  respond: (peer: Peer, request: { head: string }) => void,
): Promise<ScriptedUpstream[]> => Promise.all(Array.from({ length: count }, () => stage.exit(respond)));

describe('S7 a page that is 403 for everybody', () => {
  it('is delivered when two exits agree, and bans nobody, however often it is asked', async () => {
    const upstreams = await exits(6, (peer) => void peer.answer('members only', '403 Forbidden'));
    const gateway = await stage.gateway(upstreams, { admin: adminSection });
    for (let n = 0; n < 30; n++) {
      const answer = await ask(gateway, page);
      expect([answer.status, answer.body.toString()]).toEqual([403, 'members only']);
      expect([answer.field('x-turnpike-verdict'), answer.field('x-turnpike-attempts')]).toEqual([
        'suspect',
        '2',
      ]);
    }
    expect([await bansOf(gateway), guarded(gateway)]).toEqual([[], []]);
  });

  it('does not empty a pool of one', async () => {
    const gateway = await stage.gateway(await exits(1, (peer) => void peer.answer('no', '403 Forbidden')), {
      admin: adminSection,
    });
    for (let n = 0; n < 5; n++) expect((await ask(gateway, page)).status).toBe(403);
    expect(await bansOf(gateway)).toEqual([]);
    expect(await gateway.event('ban_spared')).toMatchObject({ reason: 'suspect', pool: 'main' });
    expect(await gateway.metrics()).toContain('turnpike_bans_spared_total{pool="main",scope="site"} 4');
  });
});

describe('S7 a site that is down', () => {
  it('costs no exit: bans are rolled back, others are told to wait, one canary finds it up again', async () => {
    let isDown = false;
    const upstreams = await exits(8, (peer, { head }) => {
      if (!isDown || head.includes('other.example')) peer.answer('page');
      // Some of it looks like a block of the exit.
      else if (head.includes('POST')) peer.answer('down', '403 Forbidden');
      else peer.answer('down', '503 Service Unavailable');
    });
    const clock = jumpingClock();
    const gateway = await stage.gateway(upstreams, { admin: adminSection }, { parts: { clock } });
    const named = (await exitsOf(gateway)).slice(0, 2).map(({ id }) => `X-Turnpike-Upstream: ${id}`);
    isDown = true;
    for (const field of [...named, ...named])
      await ask(gateway, page, { method: 'POST', body: 'x', fields: [field] });
    expect(await bansOf(gateway)).toMatchObject([
      { reason: 'suspect', evidence: { status: 403, field: 'status', rule: null } },
      { reason: 'suspect' },
    ]);
    for (let n = 0; n < 3; n++) await ask(gateway, page);
    const down = await gateway.event('site_guarded');
    expect(down).toMatchObject({ change: 'site_down', site: 'site.example', lifted: 2 });
    expect(await bansOf(gateway)).toEqual([]);
    expect(await sitesOf(gateway)).toMatchObject([{ site: 'site.example', state: 'down', rule: null }]);
    const told = await ask(gateway, page);
    expect(told.problem()).toMatchObject({
      code: 'target_failed',
      blame: 'target',
      retryable: true,
      title: 'The site is down.',
    });
    expect(Number(told.field('retry-after'))).toBeLessThanOrEqual(5);
    expect((await connect(gateway, 'site.example:443')).answer.problem().code).toBe('target_failed');
    expect((await ask(gateway, 'http://other.example/')).status).toBe(200);
    const before = upstreams.reduce((sum, { heads }) => sum + heads.length, 0);
    clock.jump(5001);
    const tries = await Promise.all(Array.from({ length: 10 }, () => ask(gateway, page)));
    expect(tries.filter(({ status }) => status === 503).length).toBe(1);
    expect(upstreams.reduce((sum, { heads }) => sum + heads.length, 0) - before).toBe(1);
    isDown = false;
    clock.jump(5001);
    expect((await ask(gateway, page)).body.toString()).toBe('page');
    expect((await ask(gateway, page)).body.toString()).toBe('page');
    expect(
      guarded(gateway)
        .map(({ change }) => change)
        .slice(-1),
    ).toEqual(['site_up']);
    const metrics = await gateway.metrics();
    expect(metrics).toContain('turnpike_site_guard_total{change="site_up"} 1');
    expect(metrics).toContain('turnpike_sites_guarded{state="down"} 0');
    expect(await bansOf(gateway)).toEqual([]);
  });

  it('takes back bans for silence too', async () => {
    let isDown = true;
    const upstreams = await exits(6, (peer, { head }) => {
      if (isDown && head.includes('site.example')) peer.end();
      else peer.answer('page');
    });
    const gateway = await stage.gateway(upstreams, {
      admin: adminSection,
      retry: { retries: 0 },
      guard: { exits: 6 },
    });
    const first = (await ask(gateway, 'http://other.example/')).field('x-turnpike-upstream') ?? '';
    for (let n = 0; n < 5; n++) await ask(gateway, page, { fields: [`X-Turnpike-Upstream: ${first}`] });
    expect(await bansOf(gateway)).toMatchObject([{ exit: first, site: null, evidence: { field: 'closed' } }]);
    for (let n = 0; n < 5; n++) await ask(gateway, page);
    expect(await gateway.event('site_guarded')).toMatchObject({ change: 'site_down', lifted: 1 });
    expect(await bansOf(gateway)).toEqual([]);
    isDown = false;
  });

  it('is not looked for when the guard is off', async () => {
    const upstreams = await exits(6, (peer) => void peer.answer('down', '503 Service Unavailable'));
    const gateway = await stage.gateway(upstreams, { admin: adminSection, guard: { enabled: false } });
    for (let n = 0; n < 12; n++) expect((await ask(gateway, page)).status).toBe(503);
    expect(guarded(gateway)).toEqual([]);
  });
});

describe('B01 a status that says block on everything', () => {
  it('is suspended: pages are delivered, bans taken back, and it resumes when pages are good again', async () => {
    let isWrong = true;
    const upstreams = await exits(8, (peer) => {
      if (isWrong) peer.answer('fine page', '403 Forbidden');
      else peer.answer('fine page');
    });
    const gateway = await stage.gateway(upstreams, { admin: adminSection, retry: { retries: 0 } });
    for (let n = 0; n < 12; n++) expect((await ask(gateway, page)).body.toString()).toBe('fine page');
    expect(await gateway.event('site_guarded')).toMatchObject({
      change: 'rule_suspended',
      rule: 'status_403',
    });
    expect(await bansOf(gateway)).toEqual([]);
    expect(await sitesOf(gateway)).toMatchObject([{ state: 'suspended', rule: 'status_403' }]);
    isWrong = false;
    for (let n = 0; n < 8; n++) await ask(gateway, page);
    expect(guarded(gateway).map(({ change }) => change)).toEqual(['rule_suspended', 'rule_resumed']);
  });
});
