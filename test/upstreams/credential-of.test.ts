import { describe, expect, it } from 'vitest';
import { CREDENTIAL_PREFIX, credentialId, credentialOf } from '../../src/upstreams/credential-of.js';
import { parseTemplate, templateExits } from '../../src/upstreams/template.js';
import { parseUpstreamUrl } from '../../src/upstreams/upstream.js';

function credentialIn(url: string): string | null {
  const parsed = parseUpstreamUrl(url);
  if (parsed.kind === 'bad') throw new Error(parsed.reason);
  return credentialOf(parsed.upstream);
}

describe('the credential of an exit', () => {
  it('is its user name, whatever the endpoint and the password', () => {
    const names = ['http://bob:a@h1:1', 'socks5://bob:b@h2:2'].map(credentialIn);
    expect(names).toEqual(['bob', 'bob']);
    expect(credentialIn('http://eve:a@h1:1')).not.toBe('bob');
  });

  it('is none without a login, or without a user name: keys of different owners would fall together', () => {
    expect([credentialIn('http://h1:1'), credentialIn('http://:key@h1:1')]).toEqual([null, null]);
  });

  it('is one for all exits of a template, whatever session they take', () => {
    const parsed = parseTemplate('http://cust-C-session-{session}:pw@vendor.example:1');
    if (parsed.kind === 'bad') throw new Error(parsed.reason);
    const exits = templateExits(parsed.template, { pool: 'main', exits: 3, epochs: new Map([[1, 4]]) });
    const logins = new Set(exits.map(({ login }) => login?.username));
    expect([logins.size, new Set(exits.map(credentialOf)).size]).toEqual([3, 1]);
  });

  it('is shown by a hash that looks like no id of an exit', () => {
    expect(credentialId('bob')).toMatch(/^c-[a-z2-7]{12}$/);
    expect([credentialId('bob'), CREDENTIAL_PREFIX]).toEqual([credentialId('bob'), 'c-']);
    expect(credentialId('bob')).not.toBe(credentialId('eve'));
  });
});
