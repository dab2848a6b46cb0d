import { describe, expect, it } from 'vitest';
import { anonymousClient, Clients } from '../../src/access/clients.js';
import type { AuthInput, AuthResult, Client, Settled } from '../../src/access/clients.js';
import { FailureLimit } from '../../src/access/failure-limit.js';
import { nobodysHash, type PasswordHash } from '../../src/access/password-hash.js';
import { StoredClients, type StoredClient } from '../../src/access/stored-clients.js';
import { Secret } from '../../src/core/secret.js';

/** A hash that only the comparer of these tests knows. */
const hashOf = (password: string): PasswordHash => ({ ...nobodysHash, hash: Buffer.from(password) });

function stored(name: string, password: string | null, rest: Partial<Client> = {}): StoredClient {
  const client = { ...anonymousClient, name, password: password === null ? null : new Secret('x'), ...rest };
  const version = JSON.stringify([name, password, rest]);
  return { client, hash: password === null ? null : hashOf(password), version };
}

interface Kit {
  readonly book: StoredClients;
  readonly clients: Clients;
  /** Passwords that were compared with a hash. */
  readonly compared: string[];
  ask(login: string | null, rest?: Partial<AuthInput>): Promise<Settled>;
  /** Without waiting. */
  begin(login: string | null, rest?: Partial<AuthInput>): AuthResult;
  clock: { nowMs: number };
}

function kit(configured: readonly Client[] = [], kept: readonly StoredClient[] | null = []): Kit {
  const clock = { nowMs: 0 };
  const compared: string[] = [];
  const failures = new FailureLimit();
  const book = new StoredClients({
    failures,
    nowMs: () => clock.nowMs,
    isPassword: async (hash, password) => {
      compared.push(password);
      await new Promise((resolve) => setImmediate(resolve));
      return hash !== nobodysHash && hash.hash.equals(Buffer.from(password));
    },
  });
  if (kept !== null) book.use(kept);
  const clients = new Clients(configured, { anonymousAllowed: true, failures, stored: book });
  const begin: Kit['begin'] = (login, rest = {}) =>
    clients.authenticate({
      proxyAuthorization: login === null ? undefined : `Basic ${Buffer.from(login).toString('base64')}`,
      ...{ remoteAddress: '127.0.0.1', listenerDefaultClient: null, nowMs: clock.nowMs },
      ...rest,
    });
  const ask: Kit['ask'] = async (login, rest) => {
    const result = begin(login, rest);
    return result.kind === 'pending' ? result.settled : result;
  };
  return { book, clients, compared, ask, begin, clock };
}

const said = (result: Settled): string =>
  result.kind === 'client'
    ? result.client.name
    : result.kind === 'refused'
      ? result.failure.code
      : `challenge ${result.delayMs}`;

const configured: Client = { ...anonymousClient, name: 'own', password: new Secret('own-pw') };

describe('K9 a stored client', () => {
  it('is proved by one hash, whatever sessions it names, and then without waiting', async () => {
    const { ask, begin, compared } = kit([configured], [stored('bulk', 'pw')]);
    expect(said(await ask('bulk:pw'))).toBe('bulk');
    const again = begin('bulk+session=a1:pw');
    expect(again).toMatchObject({ kind: 'client', client: { name: 'bulk' } });
    expect(again.kind === 'client' && again.username?.params.get('session')).toBe('a1');
    expect(compared).toEqual(['pw']);
  });

  it('with the same login on many connections waits for the same hash', async () => {
    const { ask, compared } = kit([], [stored('bulk', 'pw')]);
    const all = await Promise.all(Array.from({ length: 50 }, (_, n) => ask(`bulk+session=s${n}:pw`)));
    expect(new Set(all.map(said))).toEqual(new Set(['bulk']));
    expect(compared).toEqual(['pw']);
  });

  it('never makes a client of the configuration wait', async () => {
    const { begin, compared } = kit([configured], [stored('bulk', 'pw')]);
    expect(begin('own:own-pw').kind).toBe('client');
    expect(begin('own:own-pw').kind).toBe('client');
    expect(begin(null).kind).toBe('challenge');
    expect(compared).toEqual([]);
    await Promise.resolve();
  });

  it('that changes or is gone has proved nothing; others have', async () => {
    const { ask, book, compared } = kit([], [stored('a', 'pw-a'), stored('b', 'pw-b')]);
    expect([said(await ask('a:pw-a')), said(await ask('b:pw-b'))]).toEqual(['a', 'b']);
    expect([...book.use([stored('a', 'new'), stored('b', 'pw-b')])]).toEqual([]);
    expect(said(await ask('a:pw-a'))).toBe('challenge 0');
    expect(said(await ask('a:new'))).toBe('a');
    expect(said(await ask('b:pw-b'))).toBe('b');
    expect(compared).toEqual(['pw-a', 'pw-b', 'pw-a', 'new']);
    expect([...book.use([stored('b', 'pw-b')])]).toEqual(['a']);
    expect(said(await ask('a:new'))).toBe('challenge 0');
  });

  it('that changes while its hash is made is not let in by the old one', async () => {
    const { begin, book } = kit([], [stored('a', 'pw')]);
    const asked = begin('a:pw');
    book.use([stored('a', 'other')]);
    expect(said(await (asked as { settled: Promise<Settled> }).settled)).toBe('challenge 0');
  });

  it('of a name of the configuration is not asked: that name is the configuration’s', async () => {
    const { ask, clients } = kit([configured], [stored('own', 'stored-pw'), stored('bulk', 'pw')]);
    expect(said(await ask('own:stored-pw'))).toBe('challenge 0');
    expect(said(await ask('own:own-pw'))).toBe('own');
    expect(clients.byName('own')).toBe(configured);
    expect(clients.byName('bulk')?.name).toBe('bulk');
    expect(clients.all().map(({ name }) => name)).toEqual(['own', 'bulk']);
  });

  it('comes from where it may', async () => {
    const places = { allowFrom: ['10.0.0.0/8'] };
    const { ask } = kit(
      [],
      [stored('far', 'pw', places), stored('near', null, { allowFrom: ['192.0.2.0/24'] })],
    );
    expect(said(await ask('far:pw', { remoteAddress: '10.1.2.3' }))).toBe('far');
    expect(said(await ask('far:pw', { remoteAddress: '11.1.2.3' }))).toBe('challenge 0');
    expect(said(await ask(null, { remoteAddress: '192.0.2.1' }))).toBe('near');
    expect(said(await ask('near:', { remoteAddress: '192.0.2.1' }))).toBe('near');
    expect(said(await ask('near:', { remoteAddress: '127.0.0.1' }))).toBe('challenge 0');
  });

  it('says what is wrong with its user name, once it is proved', async () => {
    const { ask } = kit([], [stored('bulk', 'pw')]);
    expect(said(await ask('bulk+sesion=a:pw'))).toBe('bad_request');
    expect(said(await ask('bulk+sesion=a:no'))).toBe('challenge 0');
  });
});

describe('K9 while nobody is stored', () => {
  it('everything is as without a storage', async () => {
    const { ask, begin, book } = kit([configured], []);
    expect(begin('who:pw').kind).toBe('challenge');
    expect(said(await ask('own:own-pw'))).toBe('own');
    const open = kit([], []);
    expect(said(await open.ask('who:pw'))).toBe('anonymous');
    open.book.use([stored('bulk', 'pw')]);
    // The first stored client closes an open gateway, also for who came in before.
    expect(said(await open.ask('who:pw'))).toBe('challenge 0');
    expect(said(await open.ask(null))).toBe('challenge 0');
    expect(book.isEmpty).toBe(true);
  });

  it('or while nobody knows who is, no name is refused for good, and nobody is let in unseen', async () => {
    const { ask, book } = kit([], null);
    expect([said(await ask('bulk:pw')), said(await ask(null))]).toEqual([
      'login_unchecked',
      'login_unchecked',
    ]);
    const mixed = kit([configured], null);
    expect(said(await mixed.ask('own:own-pw'))).toBe('own');
    expect(said(await mixed.ask('own:wrong'))).toBe('challenge 0');
    expect(said(await mixed.ask('bulk:pw'))).toBe('login_unchecked');
    book.use([stored('bulk', 'pw')]);
    expect(said(await ask('bulk:pw'))).toBe('bulk');
  });
});

describe('G6 guessing at stored clients', () => {
  it('costs the same for every name', async () => {
    const { ask, compared } = kit([configured], [stored('bulk', 'pw')]);
    for (const login of ['bulk:1', 'nobody:2', 'own:3']) expect(said(await ask(login))).toBe('challenge 0');
    expect(compared).toEqual(['1', '2', '3']);
  });

  it('10,000 wrong tries from one address make ten hashes; a known client goes on, from that address too', async () => {
    const { ask, compared, book, clock } = kit([configured], [stored('bulk', 'pw')]);
    expect([said(await ask('bulk:pw')), said(await ask('own:own-pw'))]).toEqual(['bulk', 'own']);
    const tries = await Promise.all(Array.from({ length: 10_000 }, (_, n) => ask(`bulk:wrong-${n}`)));
    expect(tries.filter((each) => said(each) === 'challenge 0').length).toBeLessThanOrEqual(11);
    expect(compared.length).toBeLessThanOrEqual(12);
    expect([said(await ask('bulk:pw')), said(await ask('own:own-pw'))]).toEqual(['bulk', 'own']);
    const before = compared.length;
    clock.nowMs += 6001;
    await ask('bulk:wrong');
    expect(compared.length).toBe(before + 1);
    expect(book.outcomes().get('right')).toBe(1);
  });

  it('from many addresses is held by the account, which stays open to who is known', async () => {
    const { ask, compared, clock } = kit([], [stored('bulk', 'pw'), stored('other', 'pw')]);
    await ask('bulk:pw');
    for (let n = 0; n < 200; n++) await ask(`bulk:wrong-${n}`, { remoteAddress: `192.0.2.${n}` });
    expect(compared.length).toBe(31);
    expect(said(await ask('bulk:pw', { remoteAddress: '198.51.100.1' }))).toBe('bulk');
    expect(said(await ask('other:pw', { remoteAddress: '198.51.100.1' }))).toBe('other');
    clock.nowMs += 20_001;
    expect(said(await ask('bulk:wrong', { remoteAddress: '198.51.100.2' }))).toBe('challenge 0');
  });

  it('from where a client may not come can’t lock it', async () => {
    const { ask } = kit([], [stored('bulk', 'pw', { allowFrom: ['10.0.0.0/8'] })]);
    for (let n = 0; n < 60; n++) await ask(`bulk:wrong-${n}`, { remoteAddress: `192.0.2.${n}` });
    expect(said(await ask('bulk:pw', { remoteAddress: '10.0.0.1' }))).toBe('bulk');
  });

  it('from one place leaves room in the line for others', async () => {
    const { ask } = kit([], [stored('bulk', 'pw')]);
    const guesses = Array.from({ length: 500 }, (_, n) =>
      ask(`bulk:wrong-${n}`, { remoteAddress: '192.0.2.1' }),
    );
    const right = ask('bulk:pw', { remoteAddress: '192.0.2.2' });
    const results = (await Promise.all(guesses)).map(said);
    expect(results.filter((each) => each === 'login_unchecked').length).toBe(500 - 64);
    expect(said(await right)).toBe('bulk');
  });

  it('fills the line at most: the rest is told to come back', async () => {
    const { ask, book } = kit([], [stored('bulk', 'pw')]);
    const tries = Array.from({ length: 1000 }, (_, n) =>
      ask(`n${n}:wrong`, { remoteAddress: `10.0.${n >> 8}.${n & 255}` }),
    );
    const results = (await Promise.all(tries)).map(said);
    expect(results.filter((each) => each === 'login_unchecked').length).toBe(1000 - 256 - 2);
    expect(book.outcomes().get('busy')).toBe(742);
  });
});
