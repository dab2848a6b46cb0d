import { describe, expect, it } from 'vitest';
import { readCredential } from '../../src/credentials/credential-input.js';

const good = {
  key: 'user_account_001',
  type: 'cookie_string',
  secret: 'a=1',
  meta: { group: 'x', weight: 5 },
};
const paths = (more: object): string[] => {
  const read = readCredential({ ...good, ...more });
  return read.kind === 'invalid' ? read.problems.map(({ path }) => path) : [];
};

describe('K2 a credential', () => {
  it('is read as the article writes it', () => {
    expect(readCredential(good)).toEqual({
      kind: 'good',
      credential: { ...good, secret: undefined, status: 'active', json: '"a=1"' },
    });
    expect(readCredential({ ...good, key: 'anna+1@shop.example:2', status: 'disabled' })).toMatchObject({
      credential: { status: 'disabled' },
    });
  });

  it.each([
    [{ key: '' }, ['key']],
    [{ key: 'a/b' }, ['key']],
    [{ key: 'a\nb' }, ['key']],
    [{ key: '.a' }, ['key']],
    [{ key: 'a'.repeat(201) }, ['key']],
    [{ type: 'password' }, ['type']],
    [{ status: 'resting' }, ['status']],
    [{ meta: { weight: -1 } }, ['meta.weight']],
    [{ meta: { weight: 'x' } }, ['meta.weight']],
    [{ meta: { note: 'x'.repeat(17_000) } }, ['meta']],
    [{ secret: '' }, ['secret']],
    [{ key: '', status: 'x', secret: 5 }, ['key', 'status', 'secret']],
  ])('%j is refused', (more, wanted) => {
    expect(paths(more)).toEqual(wanted);
  });
});
