import { describe, expect, it } from 'vitest';
import { decodeLogin, DIRECT_STANDS_ALONE, faultOfLogin } from '../../src/upstreams/login.js';
import type { UpstreamProtocol } from '../../src/upstreams/upstream.js';

function faultOf(protocol: UpstreamProtocol, username: string, password: string): string | null {
  return faultOfLogin({ protocol, host: 'h', port: 1, login: { username, password } });
}

describe('the login of an upstream', () => {
  it('ends the user at the first colon and is percent-decoded once', () => {
    expect(decodeLogin('us%3Aer:pa:s%2573')).toEqual({
      ...{ kind: 'ok', value: { username: 'us:er', password: 'pa:s%73' } },
    });
    expect(decodeLogin('user')).toEqual({ kind: 'ok', value: { username: 'user', password: '' } });
  });

  it.each(['%', 'a%zz', ':%ff'])('%s is refused without repeating it', (text) => {
    const read = decodeLogin(text);
    expect(read.kind).toBe('bad');
    expect(JSON.stringify(read)).toContain('percent-encoded');
  });

  it.each<[UpstreamProtocol, string, string, RegExp | null]>([
    ['http', 'user', 'pa:ss', null],
    ['http', 'us:er', '', /colon/],
    ['https', 'us\ner', '', /user name holds a control/],
    ['http', 'user', '\u007f', /password holds a control/],
    ['socks5', '', 'pw', /no login without/],
    ['socks5', 'u'.repeat(256), '', /user name of at most/],
    ['socks5', 'u', 'ü'.repeat(128), /password of at most/],
    ['socks5h', 'us:er', 'pw', null],
    ['socks4', 'user', 'pw', /no password/],
    ['socks4a', 'user', '', null],
  ])('%s %j %j', (protocol, username, password, fault) => {
    const said = faultOf(protocol, username, password);
    if (fault === null) expect(said).toBeNull();
    else expect(said).toMatch(fault);
  });

  it('has none to fault where there is none, and none beside direct://', () => {
    expect(faultOfLogin({ protocol: 'http', host: 'h', port: 1, login: null })).toBeNull();
    expect(faultOf('direct', 'u', 'p')).toBe(DIRECT_STANDS_ALONE);
  });
});
