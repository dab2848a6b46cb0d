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

describe('addresses', () => {
  const near = clientOf('near', 'pw', { allowFrom: ['10.0.0.0/8', 'fd00::/8'] });

  it('are judged on every request, remembered login or not', () => {
    const clients = new Clients([near], { anonymousAllowed: false });
    const from = (remoteAddress: string): string => nameOf(ask(clients, 'near:pw', { remoteAddress }));
    const addresses = [
      '10.1.2.3',
      '::ffff:10.1.2.3',
      'fd00::7%eth0',
      '11.0.0.1',
      'fe80::1',
      'garbage',
      '',
      '10.1.2.3',
    ];
    const expected = ['near', 'near', 'near', 'challenge', 'challenge', 'challenge', 'challenge', 'near'];
    expect(addresses.map(from)).toEqual(expected);
  });

  it('that are no ranges are a fault of the configuration', () => {
    expect(
      () => new Clients([clientOf('a', null, { allowFrom: ['ten'] })], { anonymousAllowed: false }),
    ).toThrow('ten');
  });
});

describe('open proxy: clients without a password', () => {
  const byAddress = clientOf('by-address', null, { allowFrom: ['10.0.0.0/8'] });
  const careless = clientOf('careless', null);
  const clients = (): Clients => new Clients([crawler, byAddress, careless], { anonymousAllowed: true });

  it('come in by their address, with or without their name', () => {
    expect(nameOf(ask(clients(), undefined, { remoteAddress: '10.1.1.1' }))).toBe('by-address');
    expect(nameOf(ask(clients(), 'by-address:anything', { remoteAddress: '10.1.1.1' }))).toBe('by-address');
    expect(nameOf(ask(clients(), 'by-address:anything', { remoteAddress: '11.1.1.1' }))).toBe('challenge');
  });

  it('come from this machine only where no address is given', () => {
    for (const remoteAddress of ['127.0.0.1', '::1', '::ffff:127.0.0.9']) {
      expect(nameOf(ask(clients(), undefined, { remoteAddress }))).toBe('careless');
    }
    for (const login of [undefined, 'careless:x', '+session=a:']) {
      expect(nameOf(ask(clients(), login, { remoteAddress: '192.0.2.1' }))).toBe('challenge');
    }
  });

  it('are judged by address when remembered, too', () => {
    const same = clients();
    const from = (remoteAddress: string): string => nameOf(ask(same, 'careless:x', { remoteAddress }));
    expect(['127.0.0.1', '192.0.2.1', '127.0.0.1'].map(from)).toEqual(['careless', 'challenge', 'careless']);
  });
});

describe('G11 the client of a listener', () => {
  const listener = { listenerDefaultClient: 'crawler' };

  it('is who sends no login, or one without a name', () => {
    expect(nameOf(ask(two(), undefined, listener))).toBe('crawler');
    const result = ask(two(), '+session=tab-1:', listener);
    expect(result).toMatchObject({ kind: 'client', client: { name: 'crawler' } });
    expect(result.kind === 'client' && result.username?.params.get('session')).toBe('tab-1');
  });

  it('is not remembered for other listeners', () => {
    const clients = two();
    expect(nameOf(ask(clients, '+session=tab-1:', listener))).toBe('crawler');
    expect(nameOf(ask(clients, '+session=tab-1:', { listenerDefaultClient: 'other' }))).toBe('other');
    expect(nameOf(ask(clients, '+session=tab-1:'))).toBe('challenge');
  });

  it('gives way to a login, and a wrong login never falls back on it', () => {
    expect(nameOf(ask(two(), 'other:pw:with:colons', listener))).toBe('other');
    expect(nameOf(ask(two(), 'crawler:wrong', listener))).toBe('challenge');
    expect(nameOf(ask(two(), 'nobody:x', listener))).toBe('challenge');
  });

  it('is nobody from another machine, unless it may come from there', () => {
    expect(nameOf(ask(two(), undefined, { ...listener, remoteAddress: '192.0.2.1' }))).toBe('challenge');
    const far = new Clients([clientOf('crawler', 'pw', { allowFrom: ['192.0.2.0/24'] })], {
      anonymousAllowed: false,
    });
    expect(nameOf(ask(far, undefined, { ...listener, remoteAddress: '192.0.2.1' }))).toBe('crawler');
    expect(nameOf(ask(far, undefined, listener))).toBe('challenge');
  });

  it('is nobody where its name is not configured', () => {
    expect(nameOf(ask(two(), undefined, { listenerDefaultClient: 'gone' }))).toBe('challenge');
  });
});

describe('brute force', () => {
  const attack = (clients: Clients, times: number, nowMs = 0): AuthResult[] =>
    Array.from({ length: times }, (_, i) =>
      ask(clients, `crawler:guess-${i}`, { nowMs, remoteAddress: '192.0.2.9' }),
    );

  it('is cut off after ten failures, before any password is looked at', () => {
    const clients = two();
    const answers = attack(clients, 12);
    expect(answers.map(nameOf)).toEqual(Array(12).fill('challenge'));
    expect(answers.map((each) => (each.kind === 'challenge' ? each.delayMs : -1))).toEqual([
      ...Array<number>(10).fill(0),
      1000,
      1000,
    ]);
    expect(nameOf(ask(clients, 'crawler:pw', { remoteAddress: '192.0.2.9' }))).toBe('challenge');
  });

  it('leaves other addresses and proved logins alone', () => {
    const clients = two();
    expect(nameOf(ask(clients, 'crawler:pw', { remoteAddress: '192.0.2.9' }))).toBe('crawler');
    attack(clients, 1000);
    expect(nameOf(ask(clients, 'crawler:pw', { remoteAddress: '192.0.2.9' }))).toBe('crawler');
    expect(nameOf(ask(clients, 'other:pw:with:colons', { remoteAddress: '192.0.2.10' }))).toBe('other');
  });

  it('is forgiven in time', () => {
    const clients = two();
    attack(clients, 1000);
    expect(nameOf(ask(clients, 'crawler:pw', { remoteAddress: '192.0.2.9', nowMs: 6000 }))).toBe('crawler');
  });

  it('does not count requests without a login', () => {
    const clients = two();
    for (let i = 0; i < 100; i++) ask(clients, undefined);
    expect(nameOf(ask(clients, 'crawler:pw'))).toBe('crawler');
  });
});
