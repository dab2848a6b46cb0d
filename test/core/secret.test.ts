import { format, inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/core/secret.js';

describe('Z08 a secret', () => {
  const secret = new Secret('hunter2');

  it('gives its value only when asked', () => {
    expect(secret.reveal()).toBe('hunter2');
  });

  it.each([
    ['text', String(secret)],
    ['concatenation', ''.concat(secret as unknown as string)],
    ['JSON', JSON.stringify({ secret })],
    ['inspect', inspect({ secret }, { depth: 9, showHidden: true })],
    ['format', format('%s %o %j', secret, secret, secret)],
    ['keys', Object.keys(secret).join() + Object.values(secret).join()],
    ['an error', new Error('with', { cause: secret }).stack ?? ''],
  ])('does not show in %s', (_way, text) => {
    expect(text).not.toContain('hunter2');
  });
});
