import fc from 'fast-check';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  makeUpstream,
  parseUpstreamUrl,
  type Upstream,
  type UpstreamOptions,
} from '../../src/upstreams/upstream.js';

function good(url: string, options: UpstreamOptions = {}): Upstream {
  const parsed = parseUpstreamUrl(url, options);
  if (parsed.kind === 'bad') throw new Error(`${url}: ${parsed.reason}`);
  return parsed.upstream;
}

function reason(url: string, options: UpstreamOptions = {}): string {
  const parsed = parseUpstreamUrl(url, options);
  if (parsed.kind === 'upstream') throw new Error(`${url} was accepted`);
  return parsed.reason;
}

function login(url: string): [string, string] | null {
  const found = good(url).login;
  return found && [found.username, found.password.reveal()];
}

describe('parseUpstreamUrl: logins', () => {
  it.each([
    ['http://u:pa:ss@127.0.0.1:1', 'u', 'pa:ss'],
    ['http://u:pa%3Ass@127.0.0.1:1', 'u', 'pa:ss'],
    ['http://u:a%2540@h:1', 'u', 'a%40'],
  ])('A01 a colon in the password, raw or encoded, is decoded once: %s', (url, username, password) => {
    expect(login(url)).toEqual([username, password]);
  });

  it.each(['http://u:x%6zq@h:1', 'http://u:100%@h:1', 'http://u:%ff@h:1', 'http://x%6zq:p@h:1'])(
    'A03 a stray %% is refused when configured, in words that hide the login: %s',
    (url) => {
      expect(reason(url)).toMatch(/^the (password|user name) holds a %/);
      expect(reason(url)).not.toContain('x%6zq');
    },
  );

  it('A04 UTF-8 in a login, raw or encoded, is the same text', () => {
    expect(login('http://ü:pässwörd!~@h:1')).toEqual(['ü', 'pässwörd!~']);
    expect(login('http://%C3%BC:p%C3%A4ssw%C3%B6rd!~@h:1')).toEqual(['ü', 'pässwörd!~']);
  });

  it('A05 a user name with @ is decoded', () => {
    expect(login('http://me%40corp:pw@h:1')).toEqual(['me@corp', 'pw']);
  });

  it('Z08 a password may hold /, ?, # and @: the login ends at the last @', () => {
    expect(login('http://u:p/a@b?c#d@h:1/')).toEqual(['u', 'p/a@b?c#d']);
  });

  it.each([
    ['http://u@h:1', ['u', '']],
    ['http://u:@h:1', ['u', '']],
    ['http://@h:1', ['', '']],
    ['http://h:1', null],
  ])('%s has the login %j', (url, expected) => {
    expect(login(url)).toEqual(expected);
  });

  it.each([
    ['http://a%3Ab:p@h:1', 'a user name can not hold a colon'],
    ['http://a%0d%0aX:p@h:1', 'the user name holds a control character'],
    ['http://a:p%00@h:1', 'the password holds a control character'],
  ])('refuses what Basic can not carry: %s', (url, expected) => {
    expect(reason(url)).toBe(expected);
  });

  it('Z08 no way of printing an upstream shows its password', () => {
    const upstream = good('http://user:c4nary-pw@h:1');
    expect(JSON.stringify(upstream)).not.toContain('c4nary');
    expect(inspect(upstream, { depth: 9 })).not.toContain('c4nary');
    expect(`${upstream.id} ${upstream.label}`).not.toMatch(/c4nary|user/);
  });
});

describe('parseUpstreamUrl: logins of SOCKS', () => {
  const long = 'é'.repeat(127);

  it.each([
    ['socks5://u:@h', 'u', ''],
    ['socks5://a%3Ab:p@h', 'a:b', 'p'],
    ['socks5h://me%40corp:p%2F@h', 'me@corp', 'p/'],
    [`socks5://${long}x:${long}y@h`, `${long}x`, `${long}y`],
    ['socks4://u@h', 'u', ''],
    ['socks4a://u:@h', 'u', ''],
  ])('S03 S04 takes %s', (url, username, password) => {
    expect(login(url)).toEqual([username, password]);
  });

  it.each([
    ['S04 no user', 'socks5://:pw@h', 'SOCKS has no login without a user name'],
    ['S04 no user at all', 'socks5://@h', 'SOCKS has no login without a user name'],
    ['S03 a user of 256 bytes', `socks5://${long}xy:p@h`, 'SOCKS takes a user name of at most 255 bytes'],
    ['S03 a password of 256 bytes', `socks5h://u:${long}xy@h`, 'SOCKS takes a password of at most 255 bytes'],
    [
      'S03 a SOCKS4 user of 256 bytes',
      `socks4://${long}xy@h`,
      'SOCKS takes a user name of at most 255 bytes',
    ],
    ['a password for SOCKS4', 'socks4://u:p@h', 'SOCKS4 has a user name and no password'],
    ['a password for SOCKS4a', 'socks4a://u:p@h', 'SOCKS4 has a user name and no password'],
    ['NUL', 'socks4://u%00x@h', 'the user name holds a control character'],
  ])('refuses %s', (_, url, expected) => {
    expect(reason(url)).toBe(expected);
  });

  it('lets HTTP have longer ones', () => {
    expect(login(`http://${long}xy:${long}xy@h`)).toEqual([`${long}xy`, `${long}xy`]);
  });
});

describe('parseUpstreamUrl: addresses', () => {
  it.each([
    ['http://h', 'h', 80],
    ['https://h', 'h', 443],
    ['HTTP://H.Example.:81', 'h.example', 81],
    ['http://h:80/', 'h', 80],
    ['http://[::1]', '::1', 80],
    ['http://[2001:db8::1]', '2001:db8::1', 80],
    ['http://[::8.8.8.8]', '::808:808', 80],
    ['https://[2001:DB8:0:0::1]:8443', '2001:db8::1', 8443],
    ['http://u:p@[::1]:3128', '::1', 3128],
    ['http://10.0.0.1:65535', '10.0.0.1', 65535],
    ['http://my_proxy-1.example:1', 'my_proxy-1.example', 1],
    ['http://bücher.example:1', 'xn--bcher-kva.example', 1],
    ['socks4://h', 'h', 1080],
    ['socks4a://h', 'h', 1080],
    ['socks5://[::1]', '::1', 1080],
    ['SOCKS5H://h', 'h', 1080],
    ['socks5://u:p@h:9050/', 'h', 9050],
    ['direct://', '', 0],
    ['direct:///', '', 0],
  ])('H35 %s is %s, port %i', (url, host, port) => {
    expect(good(url)).toMatchObject({ host, port });
  });

  it('labels carry brackets where they must, and no login', () => {
    expect(good('http://u:p@[::1]:3128').label).toBe('http://[::1]:3128');
    expect(good('https://u:p@h').label).toBe('https://h:443');
    expect(good('socks5://u:p@[::1]').label).toBe('socks5://[::1]:1080');
    expect(good('direct://').label).toBe('direct://');
  });

  it.each([
    ['127.0.0.1:80', /begins with a protocol/],
    ['ftp://h:1', /protocol of an upstream is http, https, socks4/],
    ['constructor://h:1', /protocol of an upstream is/],
    ['socks://h:1', /say which SOCKS/],
    ['direct://h', /stands alone/],
    ['direct://u:p@', /stands alone/],
    ['http://', /host is missing/],
    ['http://u:p@', /host is missing/],
    ['http://:80', /host is missing/],
    ['http://[::1', /not closed/],
    ['http://[::1%25eth0]:1', /not an IPv6 address/],
    ['http://[10.0.0.1]:1', /not an IPv6 address/],
    ['http://[::1]x:1', /not an IPv6 address/],
    ['http://::1:80', /host is missing|brackets/],
    ['http://h:1:2', /brackets/],
    ['http://h:', /port is a number/],
    ['http://h:0', /port is a number/],
    ['http://h:65536', /port is a number/],
    ['http://h:99999', /port is a number/],
    ['http://h:8o', /port is a number/],
    ['http://h:80/path', /nothing may follow/],
    ['http://h/path', /not a host name/],
    ['http://hé/path', /not a host name/],
    ['http://a..b:1', /not a host name/],
    [`http://${'a'.repeat(254)}:1`, /not a host name/],
    ['http://a b:1', /host/],
    ['http://127.1:1', /four decimal parts/],
    ['http://0x7f.1:1', /four decimal parts/],
    ['http://010.0.0.1:1', /four decimal parts/],
    ['http://1.2.3.4.5:1', /four decimal parts/],
  ])('refuses %s', (url, expected) => {
    expect(reason(url)).toMatch(expected);
  });
});

describe('parseUpstreamUrl: identity and options', () => {
  it('an id is opaque, stable, and the same for every spelling of one upstream', () => {
    expect(good('http://h:80').id).toBe(good('HTTP://H.').id);
    expect(good('http://h:80').id).toMatch(/^u-[a-z2-7]{12}$/);
    expect(good('http://127.0.0.1:8000').id).toBe('u-7fievrtyzro3');
  });

  it('the password is no part of the identity, protocol, host, port and user are', () => {
    const base = good('http://u:p@h:1').id;
    expect(good('http://u:other@h:1').id).toBe(base);
    const others = ['https://u:p@h:1', 'http://u:p@i:1', 'http://u:p@h:2', 'http://v:p@h:1', 'http://h:1'];
    const ids = new Set([...others, 'http://@h:1'].map((url) => good(url).id));
    expect(ids.size).toBe(6);
    expect(ids).not.toContain(base);
  });

  it('fills defaults', () => {
    expect(good('https://h')).toMatchObject({
      weight: 1,
      country: null,
      city: null,
      asn: null,
      tags: [],
      turnpike: false,
      tls: { ca: null, verify: true, servername: null },
    });
  });

  it('takes options; places in lower case', () => {
    const tls = { verify: false, ca: 'PEM', servername: 'proxy.example' };
    const options = { weight: 2.5, tags: ['dc'], country: 'DE', city: 'Berlin', asn: 3320, turnpike: true };
    const upstream = good('https://h', { ...options, tls });
    expect(upstream).toMatchObject({ ...options, country: 'de', city: 'berlin' });
    expect(upstream.tls).toEqual(tls);
  });

  it.each([0, -1, NaN, Infinity])('refuses the weight %d', (weight) => {
    expect(reason('http://h', { weight })).toMatch(/weight/);
  });
});

describe('parseUpstreamUrl: properties', () => {
  const piece = fc.string({ unit: fc.constantFrom(...'ab1:@/%[]#?. 0é\u0000'), maxLength: 12 });

  it('Z08 never throws, and no reason holds any part of the login', () => {
    fc.assert(
      fc.property(piece, piece, piece, (before, after, host) => {
        const parsed = parseUpstreamUrl(`http://${before}S3CRET${after}@${host}`);
        if (parsed.kind === 'bad') expect(parsed.reason).not.toContain('S3CRET');
        const noAt = parseUpstreamUrl(`http://${before}S3CRET${host}`.replaceAll('@', ''));
        if (noAt.kind === 'bad') expect(noAt.reason).not.toContain('S3CRET');
      }),
      { numRuns: 2000 },
    );
  });

  it('A01 A04 every login that Basic can carry survives encoding', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 20 });
    fc.assert(
      fc.property(text, text, (username, password) => {
        const url = `http://${encodeURIComponent(username)}:${encodeURIComponent(password)}@h:1`;
        const parsed = parseUpstreamUrl(url);
        const direct = makeUpstream({ protocol: 'http', host: 'h', port: 1, login: { username, password } });
        expect(parsed.kind).toBe(direct.kind);
        if (parsed.kind === 'bad' || direct.kind === 'bad') return;
        expect(parsed.upstream.login?.username).toBe(username);
        expect(parsed.upstream.login?.password.reveal()).toBe(password);
        expect(parsed.upstream.id).toBe(direct.upstream.id);
      }),
    );
  });
});
