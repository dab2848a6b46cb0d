import { describe, expect, it } from 'vitest';
import { readStoredClient } from '../../src/config/stored-client.js';
import { Secret } from '../../src/core/secret.js';

const mark = new Secret('a hash');

function problemsOf(name: string, settings: Record<string, unknown>, password: Secret | null = mark): string {
  const read = readStoredClient(name, settings, password);
  return read.kind === 'bad' ? read.problems.join('; ') : '';
}

describe('K9 the settings of a stored client', () => {
  it('are those of a client of the configuration', () => {
    const settings = {
      allow_from: '10.0.0.0/8',
      tags: ['bulk'],
      limits: { requests: '600/min', tunnels: 20 },
      targets: ['*.shop.example'],
      defaults: { country: 'DE', ttl: '10m' },
    };
    expect(readStoredClient('crawler', settings, mark)).toEqual({
      kind: 'client',
      client: {
        name: 'crawler',
        password: mark,
        allowFrom: ['10.0.0.0/8'],
        tags: ['bulk'],
        limits: {
          requests: { count: 600, perMs: 60_000 },
          ...{ tunnels: 20, connections: null, exchanges: null, bytes: null, cutsTunnels: false },
        },
        targets: ['*.shop.example'],
        defaults: expect.objectContaining({ ttlMs: 600_000 }) as unknown,
      },
    });
  });

  it('are judged in the same words, each by its path', () => {
    expect(problemsOf('a', { limits: { requests: 'many' } })).toMatch(/^limits\.requests: expected/);
    expect(problemsOf('a', { limit: {} })).toBe('limit: unknown setting; did you mean limits?');
    expect(problemsOf('a+b', {})).toMatch(/^name: expected/);
    expect(problemsOf('anonymous', {})).toMatch(/^name: anonymous is the name of requests without a login/);
  });

  it('hold no password', () => {
    const found = problemsOf('a', { password: 'hush-hush' });
    expect(found).toContain('password: unknown setting');
    expect(found).not.toContain('hush');
  });

  it('let nobody in whom no password and no narrow range keeps out', () => {
    expect(problemsOf('a', {}, null)).toBe('needs a password, or allow_from, or both');
    expect(problemsOf('a', { allow_from: ['0.0.0.0/0'] }, null)).toMatch(/^allow_from: everybody could use/);
    expect(problemsOf('a', { allow_from: ['10.0.0.0/8'] }, null)).toBe('');
  });
});
