/** Sessions over several pools and at full exits: a session does not wander, and a full exit is not a lost one. */
import { describe, expect, it } from 'vitest';
import { ask } from '../support/ask.js';
import { createStage } from '../support/stage.js';
import { waitFor } from '../support/wait.js';

const stage = createStage();
const page = 'http://site.example/';
const session = { fields: ['X-Session-Id: s'] };

describe('K01 a session stays where it is', () => {
  it('in the pool of its exit, though a pool before it has exits again', async () => {
    const cheap = await stage.good('cheap');
    const dear = await stage.good('dear');
    const gateway = await stage.gateway([cheap], {
      pools: {
        cheap: { upstreams: [{ url: `http://127.0.0.1:${cheap.port}` }] },
        dear: { upstreams: [{ url: `http://127.0.0.1:${dear.port}` }] },
      },
      routes: [{ match: {}, pools: ['cheap', 'dear'] }],
    });
    const first = await ask(gateway, page, { fields: [...session.fields, 'X-Turnpike-Pool: dear'] });
    expect([first.body.toString(), first.field('x-turnpike-session')]).toEqual(['dear', 's;1']);
    const second = await ask(gateway, page, session);
    expect([second.body.toString(), second.field('x-turnpike-session')]).toEqual(['dear', 's;1']);
    expect((await ask(gateway, page)).body.toString()).toBe('cheap');
  });

  it.each(['soft', 'hard'])('at an exit that is full, and waits for a slot (%s)', async (mode) => {
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    let requests = 0;
    const slow = () =>
      stage.exit(async (peer) => {
        if (++requests === 1) await held;
        peer.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nslow');
      });
    const exits = [await slow(), await slow()];
    const gateway = await stage.gateway(exits, {
      pools: {
        main: {
          upstreams: exits.map(({ port }) => ({ url: `http://127.0.0.1:${port}` })),
          limits: { slots: 1 },
        },
      },
    });
    const fields = [...session.fields, `X-Turnpike-Session-Mode: ${mode}`];
    const first = ask(gateway, page, { fields });
    await waitFor('the first request at its exit', () => requests === 1);
    const second = ask(gateway, page, { fields });
    await ask(gateway, page);
    letGo();
    const answers = await Promise.all([first, second]);
    expect(answers.map((answer) => answer.field('x-turnpike-session'))).toEqual(['s;1', 's;1']);
    expect(new Set(answers.map((answer) => answer.field('x-turnpike-upstream'))).size).toBe(1);
  });
});
