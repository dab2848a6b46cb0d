import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MOST_SECRET_BYTES, readSecret } from '../../src/credentials/credential-secret.js';
import { credentialTypes } from '../../src/storage/credential-ports.js';

const login = { username: 'anna', password: 'a:b c' };

describe('K2 a secret', () => {
  it.each([
    ['username_password', login, login],
    ['username_password', 'anna:a:b c', login],
    ['username_password', 'anna:', { username: 'anna', password: '' }],
    ['api_key', ' abc ', 'abc'],
    ['cookie_string', 'sessionid=abc123; csrftoken=def456;', 'sessionid=abc123; csrftoken=def456;'],
    ['cookie_string', 'Cookie: a=1', 'a=1'],
    ['cookie_string', 'a={"b":1}; c=', 'a={"b":1}; c='],
    ['oauth2_token', 'ya29.x', 'ya29.x'],
    ['oauth2_token', { access_token: 't', expires_in: 3600 }, { access_token: 't', expires_in: 3600 }],
  ] as const)('%s: %j', (type, sent, kept) => {
    expect(readSecret(type, sent)).toEqual({ kind: 'secret', json: JSON.stringify(kept) });
  });

  it.each([
    ['username_password', 'anna'],
    ['username_password', ':pass'],
    ['username_password', { username: 'anna' }],
    ['username_password', { username: 'anna', password: 'a\nb' }],
    ['username_password', { ...login, note: 'x' }],
    ['username_password', null],
    ['api_key', ''],
    ['api_key', 'a\r\nb'],
    ['api_key', 5],
    ['api_key', undefined],
    ['cookie_string', 'abc'],
    ['cookie_string', ';'],
    ['cookie_string', 'a b=1'],
    ['cookie_string', 'a=1\nb=2'],
    ['oauth2_token', {}],
    ['oauth2_token', ['access_token']],
    ['api_key', 'x'.repeat(MOST_SECRET_BYTES)],
  ] as const)('%s: %j is none', (type, sent) => {
    expect(readSecret(type, sent).kind).toBe('invalid');
  });

  it('Z7 that is refused is not repeated, and what is kept is read as itself', () => {
    const marked = fc.string().map((text) => `${text}\u0000MARK`);
    fc.assert(
      fc.property(fc.constantFrom(...credentialTypes), fc.oneof(marked, fc.anything()), (type, sent) => {
        const read = readSecret(type, sent);
        if (read.kind === 'invalid') expect(read.message).not.toContain('MARK');
        else expect(readSecret(type, JSON.parse(read.json))).toEqual(read);
      }),
    );
  });
});
