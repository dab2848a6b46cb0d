/** Z05: a name that is checked at one look-up and dialled at another; and what direct:// refuses to dial. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { LookUp } from '../../src/open/resolver.js';
import { answerOf, type Answer } from '../support/ask.js';
import { connectHead, getHead, startRig, type Rig } from '../support/rig.js';
import { serveEach, startScripted } from '../support/scripted-upstream.js';

const page = serveEach((peer) => {
  peer.answer('page');
});

/** A gateway that goes out directly and knows names by this look-up; targets only where `allow` lets it. */
function startDirect(lookUp: LookUp, allow: string[] = []): Promise<Rig> {
  return startRig(page, {
    upstreams: () => ['direct://'],
    config: { targets: { allow }, retry: { retries: 0 } },
    parts: { lookUp },
  });
}

async function ask(rig: Rig, head: string): Promise<Answer> {
  return answerOf(await (await rig.client()).write(head).answer());
}

const both = (port: number, host = 'name.test'): string[] => [
  getHead(`http://${host}:${port}/`),
  connectHead(`${host}:${port}`),
];

describe('Z05 what a name leads to', () => {
  it.each([
    ['loopback', ['127.0.0.1']],
    ['loopback as IPv6', ['::1']],
    ['loopback mapped', ['::ffff:127.0.0.1']],
    ['private', ['10.0.0.1']],
    ['metadata', ['169.254.169.254']],
    ['carrier', ['100.64.0.1']],
    ['unspecified', ['0.0.0.0']],
    ['NAT64 of loopback', ['64:ff9b::7f00:1']],
    ['mixed, the public one first', ['93.184.216.34', '127.0.0.1']],
    ['mixed, the public one last', ['127.0.0.1', '93.184.216.34']],
    ['no address at all', ['nonsense']],
  ])('%s: refused, nothing dialled', async (_, addresses) => {
    const rig = await startDirect(() => Promise.resolve(addresses));
    for (const head of both(rig.upstream.port)) {
      const answer = await ask(rig, head);
      expect(answer.problem()).toMatchObject({ code: 'target_refused', status: 403, blame: 'client' });
    }
    expect(rig.upstream.accepts).toBe(0);
    expect(rig.gateway.events.filter(({ type }) => type === 'exit_banned')).toEqual([]);
  });

  it('our own port is a loop, even where the range is allowed', async () => {
    const rig = await startDirect(() => Promise.resolve(['127.0.0.1']), ['127.0.0.0/8']);
    for (const head of both(rig.gateway.port)) {
      expect((await ask(rig, head)).problem()).toMatchObject({ code: 'loop_detected', status: 508 });
    }
  });

  it('an allowed address is dialled, and an allowed name', async () => {
    for (const allow of ['127.0.0.0/8', 'name.test']) {
      const rig = await startDirect(() => Promise.resolve(['127.0.0.1']), [allow]);
      const [plain = ''] = both(rig.upstream.port);
      expect((await ask(rig, plain)).body.toString()).toBe('page');
      expect(rig.upstream.accepts).toBe(1);
    }
  });

  it('a resolver that answers otherwise every time never gets an unchecked address dialled', async () => {
    // 127.0.0.2 is allowed and refuses; 127.0.0.1 is forbidden and would answer.
    let lookUps = 0;
    const trap = await startScripted(page);
    onTestFinished(() => trap.close());
    const names = new Set<string>();
    const rig = await startDirect(
      (host) => {
        names.add(host);
        return Promise.resolve([lookUps++ % 2 === 0 ? '127.0.0.2' : '127.0.0.1']);
      },
      ['127.0.0.2'],
    );
    const codes = new Map<string, number>();
    for (let nth = 0; nth < 1000; nth++) {
      // A new name each time, so that no memory helps; twice each, so that a second look-up would show.
      const head = both(trap.port, `n${nth >> 1}.test`)[nth % 2] ?? '';
      const { code } = (await ask(rig, head)).problem();
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    expect(trap.accepts).toBe(0);
    expect(names.size).toBe(500);
    expect(lookUps).toBe(500);
    expect([...codes.keys()].sort()).toEqual(['target_refused', 'target_unreachable']);
  });

  it('names that stand for the machine are refused before any look-up', async () => {
    let lookUps = 0;
    const rig = await startDirect(() => {
      lookUps++;
      return Promise.resolve(['93.184.216.34']);
    });
    for (const host of ['localhost', 'x.localhost', 'metadata.google.internal', '2130706433']) {
      expect((await ask(rig, connectHead(`${host}:80`))).problem()).toMatchObject({ code: 'target_refused' });
    }
    expect(lookUps).toBe(0);
  });
});

describe('direct:// is like any exit otherwise', () => {
  const allow = ['127.0.0.0/8', '::1/128'];

  it('sends origin-form, keeps connections per target, and dials the next address when one refuses', async () => {
    const rig = await startDirect(
      (host) => Promise.resolve(host === 'two.test' ? ['::1', '127.0.0.1'] : ['127.0.0.1']),
      allow,
    );
    const c = await rig.client();
    const { port } = rig.upstream;
    for (const host of ['one.test', 'one.test', 'two.test', 'two.test', 'one.test']) {
      const answer = await c.write(getHead(`http://${host}:${port}/p?q`, 'X-Session-Id: s')).answer();
      expect(answer.body.toString()).toBe('page');
    }
    expect(rig.upstream.accepts).toBe(2);
    expect(new Set(rig.upstream.heads)).toEqual(
      new Set(['one', 'two'].map((name) => `GET /p?q HTTP/1.1\r\nHost: ${name}.test:${port}\r\n\r\n`)),
    );
  });

  it('nothing that goes wrong on the way is held against it', async () => {
    const rig = await startRig(
      (peer) => {
        peer.reset();
      },
      { upstreams: () => ['direct://'], config: { targets: { allow }, retry: { retries: 0 } } },
    );
    const { port } = rig.upstream;
    for (let nth = 0; nth < 12; nth++) {
      const answer = await ask(rig, getHead(`http://127.0.0.${(nth % 2) + 1}:${nth % 2 === 0 ? port : 1}/`));
      const code = nth % 2 === 0 ? 'target_failed' : 'target_unreachable';
      expect(answer.problem()).toMatchObject({ code, status: 502, blame: 'target' });
    }
    expect(rig.gateway.events.filter(({ type }) => type === 'exit_banned')).toEqual([]);
  });

  it('a target that takes too long is a target_timeout', async () => {
    const rig = await startRig((peer) => peer.gone(), {
      upstreams: () => ['direct://'],
      config: { targets: { allow }, timeouts: { first_byte: '100ms' }, retry: { retries: 0 } },
    });
    const answer = await ask(rig, getHead(`http://127.0.0.1:${rig.upstream.port}/`));
    expect(answer.problem()).toMatchObject({ code: 'target_timeout', status: 504, blame: 'target' });
  });

  it('N12 it is never a fallback: a pool without it never dials a target', async () => {
    const target = await startScripted(page);
    onTestFinished(() => target.close());
    const rig = await startRig((peer) => peer.reset(), {
      config: { targets: { allow }, timeouts: { acquire: '50ms' } },
    });
    for (let nth = 0; nth < 8; nth++) {
      for (const head of both(target.port, '127.0.0.1')) {
        expect([502, 503]).toContain((await ask(rig, head)).status);
      }
    }
    expect(target.accepts).toBe(0);
  });
});
