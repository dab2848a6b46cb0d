import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/core/secret.js';
import { SocksHandshake, type SocksAsk, type SocksStep } from '../../src/protocol/socks.js';

const METHOD_NONE = Buffer.of(5, 0);
const METHOD_LOGIN = Buffer.of(5, 2);
const LOGIN_OK = Buffer.of(1, 0);
const BOUND_IPV4 = Buffer.of(5, 0, 0, 1, 10, 0, 0, 1, 0x1f, 0x90);
const OK4 = Buffer.of(0, 90, 0, 0, 0, 0, 0, 0);

function ask(changes: Partial<SocksAsk> = {}): SocksAsk {
  return { version: 5, host: 'a.test', port: 443, login: null, ...changes };
}

function login(username: string, password: string): SocksAsk['login'] {
  return { username, password: new Secret(password) };
}

/** What came of a handshake to which these pieces were pushed, and everything that it sent. */
function run(asked: SocksAsk, pieces: readonly Buffer[]): { sent: string[]; step: SocksStep } {
  const handshake = new SocksHandshake(asked);
  const first = handshake.start();
  if ('kind' in first) return { sent: [], step: first };
  const sent = [first.toString('hex')];
  let step: SocksStep = { kind: 'more', send: null };
  for (const piece of pieces) {
    // Lent bytes are overwritten after the call, as a read buffer is.
    const lent = Buffer.from(piece);
    step = handshake.push(lent);
    if (step.kind === 'open') step = { kind: 'open', rest: Buffer.from(step.rest) };
    lent.fill(0xee);
    if (step.kind === 'more' && step.send !== null) sent.push(step.send.toString('hex'));
    if (step.kind !== 'more') break;
  }
  return { sent, step };
}

const inBytes = (data: Buffer): Buffer[] => Array.from(data, (octet) => Buffer.of(octet));

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

/** Bound addresses of every type. */
const bounds: [string, Buffer][] = [
  ['IPv4', BOUND_IPV4],
  [
    'a name of 9 bytes',
    Buffer.concat([Buffer.of(5, 0, 0, 3, 9), Buffer.from('exit.test'), Buffer.of(0, 80)]),
  ],
  ['an empty name', Buffer.of(5, 0, 0, 3, 0, 0, 80)],
  ['IPv6', Buffer.concat([Buffer.of(5, 0, 0, 4), Buffer.alloc(16, 1), Buffer.of(0, 80)])],
];

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

  it.each<[string, SocksAsk['login'], Buffer[], string, RegExp]>([
    ['no method will do', null, [Buffer.of(5, 255)], 'auth', /wants a login and none is configured/],
    ['a login is wanted that we have not', null, [METHOD_LOGIN], 'auth', /none is configured/],
    ['no login will do', login('u', 'p'), [Buffer.of(5, 255)], 'auth', /takes no login by password/],
    [
      'the login is refused',
      login('u', 'p'),
      [METHOD_LOGIN, Buffer.of(1, 1)],
      'auth',
      /refused the configured/,
    ],
    ['another method', null, [Buffer.of(5, 1)], 'protocol', /not offered/],
    ['an HTTP proxy', null, [Buffer.from('HTTP/1.1 400')], 'protocol', /may be an HTTP proxy/],
    ['SOCKS4', null, [Buffer.of(0)], 'protocol', /byte 0/],
    ['nonsense for a login', login('u', 'p'), [METHOD_LOGIN, Buffer.of(9, 0)], 'protocol', /SOCKS5/],
    ['nonsense for a reply', null, [METHOD_NONE, Buffer.of(4)], 'protocol', /SOCKS5/],
    ['an unknown type', null, [METHOD_NONE, Buffer.of(5, 0, 0, 2, 0)], 'protocol', /unknown type 2/],
    ['an answer too early', null, [Buffer.of(5, 0, 5, 0)], 'protocol', /before it was asked/],
  ])('%s', (_, asLogin, pieces, fault, detail) => {
    const { step } = run(ask({ login: asLogin }), pieces);
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

describe('SOCKS: properties', () => {
  const host = fc.constantFrom('a.test', '10.0.0.1', '2001:db8::7', 'x'.repeat(253));
  const asked = fc.record({
    version: fc.constantFrom<4 | 5>(4, 5),
    host,
    port: fc.integer({ min: 1, max: 65_535 }),
    login: fc.constantFrom(null, login('u', 'p'), login('ü'.repeat(100), '')),
  });

  it('S06 every split of every good conversation comes to the same end', () => {
    const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 12 });
    const bound = fc.constantFrom(...bounds.map(([, reply]) => reply));
    const glued = fc.uint8Array({ maxLength: 20 });
    fc.assert(
      fc.property(bound, cuts, glued, fc.boolean(), (reply, lengths, tail, withLogin) => {
        const rest = Buffer.from(tail);
        const pieces = withLogin
          ? [METHOD_LOGIN, LOGIN_OK, Buffer.concat([reply, rest])]
          : [METHOD_NONE, Buffer.concat([reply, rest])];
        const split = pieces.flatMap((piece) => splitBy(piece, lengths));
        const got: Buffer[] = [];
        const { step, sent } = run(ask({ login: withLogin ? login('u', 'p') : null }), split);
        if (step.kind !== 'open') throw new Error(`it ended as ${step.kind}`);
        got.push(step.rest);
        expect(sent).toHaveLength(pieces.length);
        // What was not pushed any more is what the split left behind the piece that ended it.
        expect(rest.subarray(0, step.rest.length)).toEqual(Buffer.concat(got));
      }),
      { numRuns: 500 },
    );
  });

  it('random bytes never throw, and are never taken for a tunnel before it was asked for', () => {
    fc.assert(
      fc.property(asked, fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 6 }), (what, pieces) => {
        const { step } = run(what, pieces.map(Buffer.from));
        if (step.kind === 'open') expect(pieces[0]?.[0] === 5 || what.version === 4).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  it('random bytes behind a good beginning never throw', () => {
    const start = fc.constantFrom([METHOD_NONE], [METHOD_LOGIN], [METHOD_LOGIN, LOGIN_OK]);
    fc.assert(
      fc.property(start, fc.array(fc.uint8Array({ maxLength: 30 }), { maxLength: 30 }), (good, pieces) => {
        const { step } = run(ask({ login: login('u', 'p') }), [...good, ...pieces.map(Buffer.from)]);
        expect(['more', 'open', 'fault']).toContain(step.kind);
      }),
      { numRuns: 2000 },
    );
  });

  it('no fault tells a password', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 30 }), { maxLength: 5 }), (pieces) => {
        const { step } = run(ask({ login: login('u', 'S3CRET') }), [
          METHOD_LOGIN,
          ...pieces.map(Buffer.from),
        ]);
        if (step.kind === 'fault') expect(step.detail).not.toContain('S3CRET');
      }),
    );
  });

  it('what is asked can be read back by a peer', () => {
    fc.assert(
      fc.property(asked, (what) => {
        const { sent } = run({ ...what, version: 5 }, [
          what.login === null ? METHOD_NONE : METHOD_LOGIN,
          LOGIN_OK,
        ]);
        const bytes = Buffer.from(sent.at(-1) ?? '', 'hex');
        expect(bytes.subarray(0, 3)).toEqual(Buffer.of(5, 1, 0));
        expect(bytes.readUInt16BE(bytes.length - 2)).toBe(what.port);
        const isName = bytes[3] === 3;
        if (isName) expect(bytes.subarray(5, -2).toString('latin1')).toBe(what.host);
        expect(bytes.length).toBe({ 1: 10, 4: 22, 3: 7 + what.host.length }[bytes[3] ?? 0]);
      }),
    );
  });
});

function splitBy(data: Buffer, lengths: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const length of lengths) {
    if (at >= data.length) break;
    pieces.push(data.subarray(at, at + length));
    at += length;
  }
  if (at < data.length) pieces.push(data.subarray(at));
  return pieces;
}
