import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { credentialOf } from '../../src/upstreams/credential-of.js';
import { parseList } from '../../src/upstreams/list.js';
import { packUpstreams, unpackUpstreams } from '../../src/upstreams/packed-upstreams.js';
import { parseUpstreamUrl, type Upstream, type VaultLogin } from '../../src/upstreams/upstream.js';

const login: VaultLogin = { key: 'dc', username: 'user', password: 'hush:1@{country}' };

function upstreamOf(url: string, of: VaultLogin | null = login): Upstream {
  const parsed = parseUpstreamUrl(url, of === null ? {} : { login: of });
  if (parsed.kind === 'bad') throw new Error(parsed.reason);
  return parsed.upstream;
}

const reasonOf = (url: string, of = login): string => {
  const parsed = parseUpstreamUrl(url, { login: of });
  return parsed.kind === 'bad' ? parsed.reason : 'an upstream';
};

describe('K5 an upstream with a login of the vault', () => {
  it('is told from others by the key, not by what the login says', () => {
    const exit = upstreamOf('http://10.0.0.1:8000');
    expect(exit.login?.password.reveal()).toBe('hush:1@{country}');
    expect(upstreamOf('http://10.0.0.1:8000', { ...login, username: 'x', password: 'y' }).id).toBe(exit.id);
    const others = [
      upstreamOf('http://10.0.0.1:8000', { ...login, key: 'other' }),
      upstreamOf('http://10.0.0.1:8001'),
      upstreamOf('http://10.0.0.1:8000', null),
      upstreamOf('http://user:pw@10.0.0.1:8000', null),
    ];
    expect(new Set([exit, ...others].map(({ id }) => id)).size).toBe(5);
    expect(credentialOf(exit)).toBe('vault:dc');
  });

  it('can not be printed', () => {
    const exit = upstreamOf('http://10.0.0.1:8000');
    expect(JSON.stringify(exit) + inspect(exit, { depth: 9 })).not.toContain('hush');
  });

  it('has no other login, and one that can be sent', () => {
    expect(reasonOf('http://me:mine@10.0.0.1:8000')).toMatch(/given twice/);
    expect(reasonOf('direct://')).toMatch(/stands alone/);
    expect(reasonOf('http://10.0.0.1:8000', { ...login, username: 'a:b' })).toMatch(/colon/);
    expect(reasonOf('socks5://10.0.0.1', { ...login, password: 'p'.repeat(256) })).toMatch(/at most 255/);
    const { entries, problems } = parseList('10.0.0.1:80\n10.0.0.2:80:me:mine\n', { login });
    expect(entries.map(({ host }) => host)).toEqual(['10.0.0.1']);
    expect(problems).toEqual([
      { line: 2, reason: 'the login is given twice: with the upstream and by credential' },
    ]);
  });

  it('comes from a thread as it went, without its login in every row', () => {
    const list = [upstreamOf('http://10.0.0.1:8000'), upstreamOf('http://10.0.0.2:8000')];
    const packed = packUpstreams(list);
    expect(packed.passwords.text + packed.usernames.text).toBe('');
    const back = unpackUpstreams(packed, { login });
    expect(back.map(({ id, credential }) => [id, credential])).toEqual(list.map(({ id }) => [id, 'dc']));
    expect(back[0]?.login).toBe(back[1]?.login);
    expect(back[0]?.login?.password.reveal()).toBe('hush:1@{country}');
    // Without the login there is none, and never one of another source.
    expect(unpackUpstreams(packed, {})[0]?.login).toBeNull();
    const plain = unpackUpstreams(packUpstreams([upstreamOf('http://a:b@10.0.0.3:80', null)]), { login });
    expect([plain[0]?.login?.username, plain[0]?.credential]).toEqual(['a', undefined]);
  });
});
