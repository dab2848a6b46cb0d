/** `/events`: what happens is told as it happens, and who does not read is let go. */
import http from 'node:http';
import { onTestFinished, describe, expect, it } from 'vitest';
import { adminSection, askAdmin, tokens } from '../support/admin.js';
import { ask } from '../support/ask.js';
import type { TestGateway } from '../support/gateway.js';
import { createStage } from '../support/stage.js';
import { waitFor } from '../support/wait.js';

const stage = createStage();

interface Listening {
  readonly type: string;
  text(): string;
  events(): Record<string, unknown>[];
  readonly answer: http.IncomingMessage;
}

function listen(gateway: TestGateway, query = ''): Promise<Listening> {
  const headers = { authorization: `Bearer ${tokens.read}` };
  const options = { host: '127.0.0.1', port: gateway.adminPort, path: `/api/v1/events${query}`, headers };
  return new Promise((resolve, reject) => {
    const request = http.get({ ...options, agent: false }, (answer) => {
      let text = '';
      answer.on('data', (chunk: Buffer) => (text += chunk.toString('utf8'))).on('error', () => undefined);
      resolve({
        type: answer.headers['content-type'] ?? '',
        text: () => text,
        events: () => [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? '')),
        answer,
      });
    });
    request.once('error', reject);
    onTestFinished(() => void request.destroy());
  });
}

describe('events', () => {
  it('come as they happen, those that are wanted', async () => {
    const gateway = await stage.gateway([await stage.good('exit')], { admin: adminSection });
    const all = await listen(gateway);
    const some = await listen(gateway, '?types=session_pinned,note');
    expect(all.type).toBe('text/event-stream');
    await ask(gateway, 'http://site.example/secret?CANARY', { fields: ['X-Session-Id: s1'] });
    const ended = await waitFor('the end', () => all.events().find(({ type }) => type === 'exchange_ended'));
    expect(ended).toMatchObject({ session: 's1', status: 200, path: '/secret', time: expect.any(Number) });
    await waitFor('the pin', () => some.events().length > 0);
    expect(some.events().map(({ type }) => type)).toEqual(['session_pinned']);
    expect(all.text()).not.toContain('CANARY');
    expect(await gateway.metrics()).toContain('turnpike_event_listeners 2\n');
    for (const { answer } of [all, some]) answer.destroy();
    await waitFor('nobody to listen', () => all.answer.destroyed);
    let left = '';
    while (!left.includes('turnpike_event_listeners 0\n')) left = await gateway.metrics();
  });

  it('of other kinds than there are can not be asked for', async () => {
    const gateway = await stage.gateway([], { admin: adminSection });
    expect((await askAdmin(gateway.adminPort, '/api/v1/events?types=note,nothing')).status).toBe(400);
    expect((await askAdmin(gateway.adminPort, '/api/v1/events', { token: null })).status).toBe(401);
  });

  it('do not keep a gateway from stopping', async () => {
    const gateway = await stage.gateway([], { admin: adminSection });
    const { answer } = await listen(gateway);
    await gateway.app.stop('the test is over');
    await waitFor('the end', () => answer.destroyed || answer.readableEnded);
  });
});
