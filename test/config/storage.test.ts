import { describe, expect, it } from 'vitest';
import { parsePostgresUrl } from '../../src/config/postgres-url.js';
import { configOf, problemsOf } from './support.js';

describe('storage', () => {
  it('K15 is a file in data_dir without a word about it', () => {
    const { storage } = configOf('data_dir: /var/lib/turnpike');
    expect(storage).toEqual({
      ...{ kind: 'sqlite', path: '/var/lib/turnpike/turnpike.db', callMs: 2000, isSet: false },
    });
    expect(configOf('storage: { path: /a/b.db }').storage).toMatchObject({ path: '/a/b.db', isSet: true });
  });

  it('K15 is a PostgreSQL by its URL, whose password nobody prints', () => {
    const env = { DATABASE_URL: 'postgres://me:p%40ss@db.example:5433/turn%20pike?sslmode=verify-ca' };
    const { storage } = configOf('storage: { kind: postgres, url: env:DATABASE_URL, connections: 4 }', {
      env,
    });
    expect(storage).toMatchObject({
      ...{ kind: 'postgres', host: 'db.example', port: 5433, database: 'turn pike', username: 'me' },
      ...{ tls: 'authority', ca: null, connections: 4, callMs: 2000, isSet: true },
    });
    if (storage.kind === 'postgres') expect(storage.password?.reveal()).toBe('p@ss');
    expect(JSON.stringify(storage)).not.toContain('p@ss');
  });

  it.each([
    ['postgres://u@db.example/d', { tls: 'full', port: 5432, password: null }],
    ['postgresql://u:p@127.0.0.1/d', { tls: 'off' }],
    ['postgres://u@localhost/d', { tls: 'off' }],
    ['postgres://u@localhost/d?sslmode=verify-full', { tls: 'full' }],
    ['postgres://u@[::1]:1/d', { tls: 'off', host: '::1', port: 1 }],
    ['postgres://u@[2001:db8::1]/d', { tls: 'full', host: '2001:db8::1' }],
    ['postgres://u@%2Frun%2Fpostgresql/d', { tls: 'off', host: '/run/postgresql' }],
    ['postgres://u@db/d?sslmode=disable', { tls: 'off' }],
    ['postgres://u@db/d?sslmode=require', { tls: 'encrypted' }],
  ])('K15 reads %s', (text, expected) => {
    expect(parsePostgresUrl(text)).toMatchObject(expected);
  });

  it.each([
    ...['', 'mysql://u@h/d', 'postgres://h/d', 'postgres://u@h', 'postgres://u@h/d/e', 'postgres://u@h/d#x'],
    ...['postgres://u:%zz@h/d', 'postgres://u@h/d?sslmode=prefer', 'postgres://u@h/d?options=-c'],
  ])('K15 refuses %s', (text) => {
    expect(parsePostgresUrl(text)).toEqual(expect.any(String));
  });

  it.each([
    ['kind: postgres', 'storage.url: postgres needs it'],
    ['kind: postgres, url: env:NONE', 'storage.url: the environment variable NONE is not set'],
    ['kind: postgres, url: "http://a"', 'storage.url: expected postgres://USER:PASSWORD@HOST:PORT/DATABASE'],
    ['kind: postgres, url: "postgres://u@h/d", path: x', 'storage.path: belongs to kind sqlite'],
    ['url: "postgres://u@h/d"', 'storage.url: belongs to kind postgres'],
  ])('K15 says what is wrong with { %s }', (text, problem) => {
    expect(problemsOf(`storage: { ${text} }`)).toEqual([expect.stringContaining(problem)]);
  });
});
