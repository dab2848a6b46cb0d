import { describe, expect, it } from 'vitest';
import { SocksHandshake } from '../../src/protocol/socks.js';
import {
  ask,
  bounds,
  BOUND_IPV4,
  inBytes,
  login,
  METHOD_LOGIN,
  METHOD_NONE,
  OK4,
  run,
} from './socks-talk.js';

describe('SOCKS5: what is sent', () => {
  it('S01 a name goes as a name, never looked up', () => {
    const { sent } = run(ask({ host: 'only-remote.test' }), [METHOD_NONE, BOUND_IPV4]);
    expect(sent).toEqual(['050100', `0501000310${Buffer.from('only-remote.test').toString('hex')}01bb`]);
  });

  it.each([
    ['10.1.2.3', 80, '050100010a0102030050'],
    ['2001:db8::1', 8080, `0501000420010db8${'00'.repeat(11)}011f90`],
    ['::ffff:10.1.2.3', 1, '050100010a0102030001'],
  ])('addresses go as addresses: %s', (host, port, expected) => {
    expect(run(ask({ host, port }), [METHOD_NONE]).sent[1]).toBe(expected);
  });

  it('a login is offered first, and said only to who wants it', () => {
    const asked = ask({ login: login('me@corp', 'p:w') });
    expect(run(asked, [METHOD_LOGIN]).sent).toEqual([
      '05020200',
      `0107${Buffer.from('me@corp').toString('hex')}03${Buffer.from('p:w').toString('hex')}`,
    ]);
    expect(run(asked, [METHOD_NONE, BOUND_IPV4]).sent).toHaveLength(2);
    expect(run(asked, [METHOD_NONE, BOUND_IPV4]).step.kind).toBe('open');
  });

  it('S04 an empty password has the length 0', () => {
    expect(run(ask({ login: login('u', '') }), [METHOD_LOGIN]).sent[1]).toBe('01017500');
  });

  it('A04 S03 lengths are those of the UTF-8 bytes, up to 255', () => {
    const username = `${'ä'.repeat(127)}x`;
    const [, sent = ''] = run(ask({ login: login(username, 'pässwörd!~') }), [METHOD_LOGIN]).sent;
    const bytes = Buffer.from(sent, 'hex');
    expect(bytes[1]).toBe(255);
    expect(bytes.subarray(2, 257).toString('utf8')).toBe(username);
    expect(bytes[257]).toBe(12);
    expect(bytes.subarray(258).toString('utf8')).toBe('pässwörd!~');
  });
});

describe('SOCKS5: what comes back', () => {
  it.each(bounds)('S07 S06 the whole reply with %s is taken, what follows is the tunnel’s', (_, reply) => {
    const whole = Buffer.concat([reply, Buffer.from('220 hi')]);
    expect(run(ask(), [METHOD_NONE, whole]).step).toEqual({ kind: 'open', rest: Buffer.from('220 hi') });
    expect(run(ask(), [METHOD_NONE, ...inBytes(reply)]).step).toEqual({
      kind: 'open',
      rest: Buffer.alloc(0),
    });
  });

  it.each<[number, string, string]>([
    [1, 'failed', 'general failure'],
    [2, 'denied', 'not allowed by its rules'],
    [3, 'target_unreachable', 'network unreachable'],
    [4, 'target_unreachable', 'host unreachable'],
    [5, 'target_unreachable', 'connection refused'],
    [6, 'target_timeout', 'time to live expired'],
    [7, 'protocol', 'command not supported'],
    [8, 'protocol', 'address type not supported'],
    [9, 'failed', 'an unknown code'],
    [255, 'failed', 'an unknown code'],
  ])('reply %i is %s', (code, fault, text) => {
    const { step } = run(ask(), [METHOD_NONE, Buffer.of(5, code)]);
    expect(step).toMatchObject({ kind: 'fault', fault });
    expect(step.kind === 'fault' && step.detail).toContain(`${text} (SOCKS5 reply ${code})`);
  });

  it('who takes no IPv6 may be good for other targets', () => {
    const { step } = run(ask({ host: '2001:db8::1' }), [METHOD_NONE, Buffer.of(5, 8)]);
    expect(step).toMatchObject({ kind: 'fault', fault: 'unsupported' });
  });

  it.each<[string, Buffer[], string, RegExp]>([
    ['no method will do', [Buffer.of(5, 255)], 'auth', /wants a login and none is configured/],
    ['a login is wanted that we have not', [METHOD_LOGIN], 'auth', /none is configured/],
    ['another method', [Buffer.of(5, 1)], 'protocol', /not offered/],
    ['an HTTP proxy', [Buffer.from('HTTP/1.1 400')], 'protocol', /may be an HTTP proxy/],
    ['SOCKS4', [Buffer.of(0)], 'protocol', /byte 0/],
    ['nonsense for a reply', [METHOD_NONE, Buffer.of(4)], 'protocol', /SOCKS5/],
    ['an unknown type', [METHOD_NONE, Buffer.of(5, 0, 0, 2, 0)], 'protocol', /unknown type 2/],
    ['an answer too early', [Buffer.of(5, 0, 5, 0)], 'protocol', /before it was asked/],
  ])('without a login: %s', (_, pieces, fault, detail) => {
    const { step } = run(ask(), pieces);
    expect(step).toMatchObject({ kind: 'fault', fault });
    expect(step.kind === 'fault' && step.detail).toMatch(detail);
  });

  it.each<[string, Buffer[], string, RegExp]>([
    ['no login will do', [Buffer.of(5, 255)], 'auth', /takes no login by password/],
    ['the login is refused', [METHOD_LOGIN, Buffer.of(1, 1)], 'auth', /refused the configured/],
    ['nonsense for an answer', [METHOD_LOGIN, Buffer.of(9, 0)], 'protocol', /SOCKS5/],
  ])('with a login: %s', (_, pieces, fault, detail) => {
    const { step } = run(ask({ login: login('u', 'p') }), pieces);
    expect(step).toMatchObject({ kind: 'fault', fault });
    expect(step.kind === 'fault' && step.detail).toMatch(detail);
  });

  it('takes a login status that repeats the version of SOCKS', () => {
    const pieces = [METHOD_LOGIN, Buffer.of(5, 0), BOUND_IPV4];
    expect(run(ask({ login: login('u', 'p') }), pieces).step.kind).toBe('open');
  });

  it('S09 one byte is not yet success, and the greeting is not over', () => {
    const handshake = new SocksHandshake(ask());
    handshake.start();
    expect(handshake.push(Buffer.of(5))).toEqual({ kind: 'more', send: null });
    expect(handshake.hasAsked).toBe(false);
    handshake.push(Buffer.of(0));
    expect(handshake.hasAsked).toBe(true);
  });
});

describe('SOCKS4 and 4a', () => {
  it.each([
    ['an address', ask({ version: 4, host: '10.1.2.3', port: 80 }), '040100500a01020300'],
    [
      'a user',
      ask({ version: 4, host: '10.1.2.3', port: 80, login: login('mé', '') }),
      '040100500a0102036dc3a900',
    ],
    ['4a a name', ask({ version: 4 }), `040101bb0000000100${Buffer.from('a.test').toString('hex')}00`],
    [
      '4a a name and a user',
      ask({ version: 4, login: login('u', '') }),
      `040101bb000000017500${Buffer.from('a.test').toString('hex')}00`,
    ],
  ])('asks for %s', (_, asked, expected) => {
    expect(run(asked, []).sent).toEqual([expected]);
  });

  it('has no IPv6, and says so before anything is dialled', () => {
    expect(run(ask({ version: 4, host: '2001:db8::1' }), []).step).toMatchObject({
      kind: 'fault',
      fault: 'unsupported',
    });
  });

  it('S06 takes the whole reply and no more', () => {
    const step = run(ask({ version: 4 }), [Buffer.concat([OK4, Buffer.from('hi')])]).step;
    expect(step).toEqual({ kind: 'open', rest: Buffer.from('hi') });
    expect(run(ask({ version: 4 }), inBytes(OK4)).step.kind).toBe('open');
    expect(run(ask({ version: 4 }), inBytes(OK4.subarray(0, 7))).step.kind).toBe('more');
  });

  it.each<[number, string, RegExp]>([
    [91, 'failed', /rejected or failed \(SOCKS4 reply 91; .* no names\)/],
    [92, 'auth', /identd/],
    [93, 'auth', /identd/],
    [94, 'protocol', /unknown code \(SOCKS4 reply 94/],
    [0, 'protocol', /unknown code/],
  ])('reply %i is %s', (code, fault, detail) => {
    const { step } = run(ask({ version: 4 }), [Buffer.of(0, code, 0, 0, 0, 0, 0, 0)]);
    expect(step).toMatchObject({ kind: 'fault', fault });
    expect(step.kind === 'fault' && step.detail).toMatch(detail);
  });

  it('the hint about names is for names only', () => {
    const { step } = run(ask({ version: 4, host: '10.0.0.1' }), [Buffer.of(0, 91, 0, 0, 0, 0, 0, 0)]);
    expect(step).toMatchObject({ detail: 'the upstream says: rejected or failed (SOCKS4 reply 91)' });
  });

  it('a SOCKS5 proxy is found out at its first byte', () => {
    expect(run(ask({ version: 4 }), [Buffer.of(5)]).step).toMatchObject({ fault: 'protocol' });
  });
});
