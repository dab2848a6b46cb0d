import { describe, expect, it } from 'vitest';
import type { App } from '../../src/app.js';
import { serve } from '../../src/cli/serve.js';
import type { ServeParts } from '../../src/cli/serve.js';
import { startTrouble } from '../../src/cli/start-trouble.js';
import type { Config } from '../../src/config/config.js';
import { keptOutput } from './support.js';

interface World extends ServeParts {
  readonly stops: string[];
  config: Config | null;
  signal(name: 'SIGTERM' | 'SIGINT' | 'SIGHUP'): void;
  /** The file that is watched, and how to say that it changed. */
  watched: { file: string; changed: () => void } | null;
  fault(error: unknown): void;
}

/** A process and a gateway that do nothing but tell what was asked of them. */
function world(changes: Partial<App> & { cut?: number } = {}): World {
  const { cut = 0, ...app } = changes;
  const signals = new Map<string, () => void>();
  let onFault: (error: unknown) => void = () => undefined;
  const made: World = {
    stops: [],
    config: null,
    watched: null,
    buildApp: async (config) => {
      made.config = config;
      return {
        upstreamCount: 2,
        exits: () => [],
        start: async () => ({
          proxy: [{ host: '0.0.0.0', port: 4000 }],
          admin: { host: '127.0.0.1', port: 4001 },
        }),
        stop: async (reason) => {
          made.stops.push(reason);
          return { cut };
        },
        apply: () => Promise.reject(new Error('nobody asks for it here')),
        reload: async () => ({ kind: 'applied', upstreams: 2, changed: [], needsRestart: [] }),
        ...app,
      };
    },
    onSignal: (name, heard) => void signals.set(name, heard),
    watch: (file, changed) => {
      made.watched = { file, changed };
      return () => (made.watched = null);
    },
    onFault: (heard) => (onFault = heard),
    signal: (name) => signals.get(name)?.(),
    fault: (error) => onFault(error),
  };
  return made;
}

describe('serve', () => {
  it('tells where it listens and a line to try, drains on a signal, and ends with 0', async () => {
    const parts = world();
    const output = keptOutput();
    const done = serve({ listen: '127.0.0.1:4000' }, output, parts);
    await new Promise(setImmediate);
    const told = output.told.join('\n');
    expect(told).toContain('proxy  http://0.0.0.0:4000');
    expect(told).toContain('admin  http://127.0.0.1:4001');
    expect(told).toContain('exits  2 in default');
    expect(told).toContain('curl -i -x http://127.0.0.1:4000 http://example.com/');
    parts.signal('SIGTERM');
    expect(await done).toBe(0);
    expect(parts.stops).toEqual(['SIGTERM']);
    expect(output.printed).toEqual([]);
  });

  it('ends with 1 when something was cut, and says how much', async () => {
    const parts = world({ cut: 3 });
    const output = keptOutput();
    const done = serve({}, output, parts);
    parts.signal('SIGINT');
    expect(await done).toBe(1);
    expect(output.told.at(-1)).toContain('3 exchanges were cut');
  });

  it('ends at once on a second signal', async () => {
    const parts = world({ stop: () => new Promise(() => undefined) });
    const done = serve({}, keptOutput(), parts);
    parts.signal('SIGTERM');
    await new Promise(setImmediate);
    parts.signal('SIGINT');
    expect(await done).toBe(1);
  });

  it('tells how to add exits when there are none', async () => {
    const output = keptOutput();
    void serve({}, output, world({ upstreamCount: 0 }));
    await new Promise(setImmediate);
    expect(output.told.join('\n')).toMatch(
      /no upstreams yet[^]*--upstreams proxies\.txt[^]*turnpike\.example\.yaml/,
    );
  });

  it('says in one line why it can not start, and ends with 2', async () => {
    const inUse = Object.assign(new Error('listen EADDRINUSE'), {
      code: 'EADDRINUSE',
      address: '127.0.0.1',
      port: 8080,
    });
    const output = keptOutput();
    const code = await serve({}, output, world({ start: () => Promise.reject(inUse) }));
    expect(code).toBe(2);
    expect(output.told.at(-1)).toBe(
      'turnpike: can not start: 127.0.0.1:8080 is in use by another program; choose another with --listen or --admin',
    );
    expect(output.told.join('\n')).not.toMatch(/\n\s+at /);
  });

  it('does not begin with a bad configuration', async () => {
    const parts = world();
    const output = keptOutput();
    expect(await serve({ listen: '0.0.0.0:1' }, output, parts)).toBe(2);
    expect(parts.config).toBeNull();
    expect(output.told.join('\n')).toMatch(/one problem:\n {2}listen\.proxy: would be an open proxy/);
  });

  it.each([new Error('dial http://u:CANARY@h failed'), 'text', undefined])(
    'ends with 70 after a fault that nobody caught (%s), with a line that holds no secret',
    async (fault) => {
      const parts = world();
      const output = keptOutput();
      const done = serve({}, output, parts);
      await new Promise(setImmediate);
      parts.fault(fault);
      expect(await done).toBe(70);
      expect(JSON.parse(output.told.at(-1) ?? '')).toMatchObject({ level: 60, event: 'fatal' });
      expect(output.told.join()).not.toContain('CANARY');
      if (fault instanceof Error) expect(output.told.at(-1)).toContain('dial http://[secret]@h failed');
    },
  );

  it('asks curl for the password of a client, and shows none', async () => {
    const output = keptOutput();
    process.env['TURNPIKE_CLIENT_PASSWORD'] = 'CANARY';
    try {
      void serve({ client: 'me' }, output, world());
      await new Promise(setImmediate);
    } finally {
      delete process.env['TURNPIKE_CLIENT_PASSWORD'];
    }
    expect(output.told.join('\n')).toContain('--proxy-user me http://');
    expect(output.told.join('\n')).not.toContain('CANARY');
  });
});

describe('why it can not start', () => {
  const error = (fields: object): Error => Object.assign(new Error('raw message'), fields);

  it.each([
    [error({ code: 'EADDRINUSE', address: '::1', port: 80 }), /^\[::1\]:80 is in use/],
    [error({ code: 'EACCES', address: '127.0.0.1', port: 80 }), /^127\.0\.0\.1:80 may not be opened/],
    [error({ code: 'ENOENT', path: '/no/such' }), /^\/no\/such does not exist$/],
    [error({ code: 'ENOTFOUND', hostname: 'no.example' }), /^no\.example does not resolve$/],
    [error({ code: 'EODD' }), /^raw message$/],
    [new Error('http://u:p@h'), /^http:\/\/\[secret\]@h$/],
    ['text', /^can not start$/],
  ])('%s', (fault, line) => expect(startTrouble(fault)).toMatch(line));
});
