import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anonymousClient, Clients } from '../../src/access/clients.js';
import type { AuthInput, AuthResult, Client } from '../../src/access/clients.js';
import { Secret } from '../../src/core/secret.js';

const basic = (login: string): string => `Basic ${Buffer.from(login, 'utf8').toString('base64')}`;

function clientOf(name: string, password: string | null, rest: Partial<Client> = {}): Client {
  return { ...anonymousClient, name, password: password === null ? null : new Secret(password), ...rest };
}

const crawler = clientOf('crawler', 'pw');
const other = clientOf('other', 'pw:with:colons');

function ask(clients: Clients, login: string | undefined, rest: Partial<AuthInput> = {}): AuthResult {
  const proxyAuthorization = login === undefined ? undefined : basic(login);
  return clients.authenticate({
    ...{ proxyAuthorization, remoteAddress: '127.0.0.1', listenerDefaultClient: null, nowMs: 0 },
    ...rest,
  });
}

function nameOf(result: AuthResult): string {
  return result.kind === 'client' ? result.client.name : result.kind;
}

const two = (): Clients => new Clients([crawler, other], { anonymousAllowed: true });

describe('A12 logins', () => {
  it('are asked for where there is none', () => {
    expect(ask(two(), undefined)).toMatchObject({ kind: 'challenge', delayMs: 0 });
    expect(nameOf(ask(new Clients([], { anonymousAllowed: false }), undefined))).toBe('challenge');
    expect(nameOf(ask(new Clients([], { anonymousAllowed: false }), 'a:b'))).toBe('challenge');
  });

  it('let the right client in, the second time from memory', () => {
    const clients = two();
    const first = ask(clients, 'crawler:pw');
    expect(first).toMatchObject({
      kind: 'client',
      client: { name: 'crawler' },
      username: { name: 'crawler' },
    });
    expect(ask(clients, 'crawler:pw')).toBe(first);
    expect(nameOf(ask(clients, 'other:pw:with:colons'))).toBe('other');
    expect(clients.byName('other')).toBe(other);
    expect(clients.byName('nobody')).toBeUndefined();
  });

  it('A14 let it in after a challenge', () => {
    const clients = two();
    expect([undefined, undefined, 'crawler:pw'].map((login) => nameOf(ask(clients, login)))).toEqual([
      'challenge',
      'challenge',
      'crawler',
    ]);
  });

  it('A07 take the scheme in any case', () => {
    const value = basic('crawler:pw').replace('Basic', 'bAsIc');
    expect(nameOf(ask(two(), undefined, { proxyAuthorization: value }))).toBe('crawler');
  });

  it.each(['Basic !!!', 'Basic', '', 'Bearer abc', basic('no colon'), `Basic ${'A'.repeat(10_000)}`])(
    'are asked for again where %j is sent',
    (proxyAuthorization) => {
      expect(nameOf(ask(two(), undefined, { proxyAuthorization }))).toBe('challenge');
      const open = new Clients([], { anonymousAllowed: true });
      expect(nameOf(ask(open, undefined, { proxyAuthorization }))).toBe('challenge');
    },
  );

  it('Z07 of every length and kind are only ever wrong', () => {
    const lengths = ['', 'p', 'pw ', 'pwx', 'pw\u00e9', 'p'.repeat(3000), 'ünï', 'PW', 'undefined', 'null'];
    for (const password of lengths) {
      const clients = two();
      expect([password, nameOf(ask(clients, `crawler:${password}`))]).toEqual([password, 'challenge']);
    }
    const property = fc.property(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme' }),
      (name, password) => {
        const clients = two();
        const result = ask(clients, `${name}:${password}`);
        expect(result.kind === 'client').toBe(`${name}:${password}` === 'crawler:pw');
        ask(clients, undefined, { proxyAuthorization: name });
      },
    );
    fc.assert(property, { seed: 20_240_614, numRuns: 1000 });
  });

  it('never say which part was wrong', () => {
    const clients = new Clients([crawler, clientOf('far', 'pw', { allowFrom: ['10.0.0.0/8'] })], {
      anonymousAllowed: false,
    });
    const answers = ['crawler:wrong', 'nobody:pw', 'far:pw', ':pw', 'crawler+sesion=x:wrong'].map((login) =>
      ask(clients, login),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(nameOf(answers[0] as AuthResult)).toBe('challenge');
  });

  it('take names that objects inherit for unknown', () => {
    for (const name of ['__proto__', 'constructor', 'toString'])
      expect(nameOf(ask(two(), `${name}:x`))).toBe('challenge');
  });

  it('never print a password', () => {
    const clients = two();
    ask(clients, 'crawler:pw');
    expect(JSON.stringify(clients)).not.toContain('pw');
    expect(Object.keys(clients)).toEqual([]);
  });
});

describe('A19 G4 usernames with parameters', () => {
  it('come with the client', () => {
    const result = ask(two(), 'crawler+session=a1+country=us:pw');
    expect(result.kind === 'client' && Object.fromEntries(result.username?.params ?? [])).toEqual({
      session: 'a1',
      country: 'us',
    });
  });

  it('are refused with a reason, but only to who knows the password', () => {
    expect(ask(two(), 'crawler+sesion=a1:pw')).toMatchObject({
      kind: 'refused',
      failure: { code: 'bad_request' },
    });
    expect(nameOf(ask(two(), 'crawler+sesion=a1:wrong'))).toBe('challenge');
    expect(nameOf(ask(two(), `${'x'.repeat(4096)}:pw`))).toBe('challenge');
  });

  it('are read by another dialect where one is chosen', () => {
    const dialect = {
      name: 'dashes',
      parse: (text: string) => ({
        kind: 'username' as const,
        name: text.split('-')[0] ?? '',
        params: new Map(),
      }),
    };
    const clients = new Clients([crawler], { anonymousAllowed: false, dialect });
    expect(nameOf(ask(clients, 'crawler-session-a:pw'))).toBe('crawler');
  });

  it('beyond the length of what is remembered still work', () => {
    const clients = two();
    const login = `crawler+session=a1:${'pw'}`;
    expect(ask(clients, login)).toBe(ask(clients, login));
    const long = new Clients([clientOf('crawler', 'p'.repeat(2000))], { anonymousAllowed: false });
    expect(nameOf(ask(long, `crawler:${'p'.repeat(2000)}`))).toBe('crawler');
    expect(nameOf(ask(long, `crawler:${'p'.repeat(2000)}`))).toBe('crawler');
  });
});

describe('no clients on a loopback listener', () => {
  const open = (): Clients => new Clients([], { anonymousAllowed: true });

  it('everybody is anonymous, with any password or none', () => {
    for (const login of [undefined, 'any:thing', 'any:', ':', 'user-session-a1:x']) {
      expect(nameOf(ask(open(), login))).toBe('anonymous');
    }
  });

  it('G4 the parameters of the username work all the same', () => {
    for (const login of ['x+session=a1:', '+session=a1:any']) {
      const result = ask(open(), login);
      expect(result.kind === 'client' && result.username?.params.get('session')).toBe('a1');
    }
    expect(ask(open(), 'x+sesion=a1:')).toMatchObject({ kind: 'refused', failure: { code: 'bad_request' } });
  });

  it('nobody is who the listener wants but nobody knows', () => {
    expect(nameOf(ask(open(), undefined, { listenerDefaultClient: 'gone' }))).toBe('challenge');
  });
});
