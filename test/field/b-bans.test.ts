/** Bans that spread, and sessions whose exit fails without a word. */
import { describe, expect, it } from 'vitest';
import { adminSection, askAdmin } from '../support/admin.js';
import { ask } from '../support/ask.js';
import { createStage } from '../support/stage.js';

const stage = createStage();

/** Opens for good when so many have come. */
function newBarrier(count: number): { pass(): Promise<void> } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  let come = 0;
  return {
    pass: () => {
      if (++come === count) open();
      return opened;
    },
  };
}

describe('B09 the load of an exit that goes', () => {
  it('spreads over all others, none of which gets more than it bears', async () => {
    const BEARS = 20;
    const busiest = new Map<number, number>();
    // Answers wait until two thirds of a round are there, so that exits are as full as they get.
    const CROWD = 100;
    let barrier = newBarrier(CROWD);
    const exits = await Promise.all(
      Array.from({ length: 10 }, (_, index) => {
        let busy = 0;
        return stage.exit(async (peer) => {
          busy++;
          busiest.set(index, Math.max(busiest.get(index) ?? 0, busy));
          await barrier.pass();
          if (busy > BEARS) peer.answer('too much', '429 Too Many Requests', ['Retry-After: 60']);
          else peer.answer('page');
          busy--;
        });
      }),
    );
    const upstreams = exits.map(({ url }) => ({ url }));
    const gateway = await stage.gateway([], {
      admin: adminSection,
      pools: { main: { upstreams, limits: { slots: BEARS } } },
    });
    const round = () =>
      Promise.all(
        Array.from({ length: 150 }, (_, n) =>
          ask(gateway, 'http://site.example/', { fields: [`X-Session-Id: s${n}`] }),
        ),
      );
    const first = await round();
    expect(new Set(first.map(({ status }) => status))).toEqual(new Set([200]));
    const lost = first[0]?.field('x-turnpike-upstream') ?? '';
    const body = { exit: lost, reason: 'a test', ttl: '1h' };
    await askAdmin(gateway.adminPort, '/api/v1/bans', { method: 'POST', body });
    const moved = first
      .map((answer, n) => ({ answer, n }))
      .filter(({ answer }) => answer.field('x-turnpike-upstream') === lost);
    barrier = newBarrier(CROWD);
    const second = await round();
    expect(new Set(second.map(({ status }) => status))).toEqual(new Set([200]));
    const taken = new Set(moved.map(({ n }) => second[n]?.field('x-turnpike-upstream')));
    expect(taken.has(lost)).toBe(false);
    expect(taken.size).toBeGreaterThan(2);
    expect(Math.max(...busiest.values())).toBeLessThanOrEqual(BEARS);
    expect(gateway.events.filter((event) => event.type === 'exit_banned').length).toBe(1);
  });
});

describe('B13 a session whose exit fails without an answer', () => {
  it('is moved, and the failures count against the exit', async () => {
    let isDown = false;
    const flaky = await stage.exit((peer) => (isDown ? peer.reset() : void peer.answer('flaky')));
    const gateway = await stage.gateway([flaky, await stage.good('good')]);
    const ofSession = (site: string, session: string) =>
      ask(gateway, `http://${site}.example/`, { fields: [`X-Session-Id: ${session}`] });
    const names = Array.from({ length: 20 }, (_, n) => `s${n}`);
    const firsts = await Promise.all(names.map((name) => ofSession('a', name)));
    const theirs = names.filter((_, n) => firsts[n]?.body.toString() === 'flaky');
    isDown = true;
    for (const [n, session] of theirs.slice(0, 2).entries()) {
      for (let again = 0; again < 5; again++) {
        const answer = await ofSession(`site-${n}`, session);
        expect([answer.status, answer.body.toString(), answer.field('x-turnpike-session')]).toEqual([
          200,
          'good',
          `${session};2`,
        ]);
      }
    }
    expect(await gateway.event('exit_banned')).toMatchObject({ site: null, reason: 'silent' });
    // Twice for each session, since one fault moves none, and the second of other sites takes the exit out.
    expect(flaky.heads.length).toBeLessThanOrEqual(firsts.length + 4);
  });
});
