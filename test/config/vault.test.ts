import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configOf, problemsOf, warningsOf } from './support.js';

const key = Buffer.alloc(32, 7).toString('base64');

describe('K2 vault', () => {
  it('is off without a word about it', () => {
    expect(configOf('').vault).toBeNull();
    expect(configOf('vault: {}').vault).toBeNull();
  });

  it('has its key in the variable that everybody knows, or in another', () => {
    const { vault } = configOf('', { env: { TURNPIKE_VAULT_KEY: key } });
    expect(vault).toMatchObject({ kind: 'env', name: 'TURNPIKE_VAULT_KEY' });
    expect(vault?.kind === 'env' && vault.secret.reveal()).toBe(key);
    expect(JSON.stringify(vault)).not.toContain(key);
    expect(configOf('vault: { key: env:MINE }', { env: { MINE: key } }).vault).toMatchObject({
      name: 'MINE',
    });
  });

  it('has its key in a file, which is not read here', () => {
    const { vault, file } = configOf('vault: { key: file:vault.key }', {
      files: { 'vault.key': 'no key at all' },
    });
    expect(vault).toEqual({ kind: 'file', path: join(file!, '..', 'vault.key') });
  });

  it('asks a command for its key', () => {
    const { vault } = configOf('vault: { command: [kms, read, "a key"] }', {
      env: { TURNPIKE_VAULT_KEY: key },
    });
    expect(vault).toEqual({ kind: 'command', argv: ['kms', 'read', 'a key'] });
  });

  it.each([
    ['key: env:NONE', 'vault.key: the environment variable NONE is not set'],
    [
      `key: "${key}"`,
      'vault.key: expected file:PATH or env:NAME: a key that stands in the configuration is none',
    ],
    [
      'key: "file:"',
      'vault.key: expected file:PATH or env:NAME: a key that stands in the configuration is none',
    ],
    ['key: file:a, command: [b]', 'vault.command: one of key and command is enough'],
    ['command: []', 'vault.command: must not be empty'],
    ['command: kms read', 'vault.command: expected a list such as [kms-read, turnpike]'],
  ])('refuses %s', (text, problem) => {
    const found = problemsOf(`vault: { ${text} }`);
    expect(found).toEqual([`1 ${problem}`]);
    expect(found.join()).not.toContain(key);
  });

  it('warns where the key file is not there: the vault will be sealed', () => {
    expect(warningsOf('vault: { key: file:none }').join()).toMatch(
      /none does not exist: the vault will be sealed/,
    );
  });
});
