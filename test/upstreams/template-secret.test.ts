import { describe, expect, it } from 'vitest';
import { parseTemplate, templateExits } from '../../src/upstreams/template.js';
import type { Upstream, VaultLogin } from '../../src/upstreams/upstream.js';

const login: VaultLogin = { key: 'dc', username: 'user', password: 'hush' };

describe('K5 {secret} of a template', () => {
  const text = 'http://c-session-{session}-country-{country}:{secret}@vendor.example:7777';
  const exitsWith = (password: string) => {
    const parsed = parseTemplate(text, { login: { ...login, password }, country: 'us' });
    if (parsed.kind === 'bad') throw new Error(parsed.reason);
    return templateExits(parsed.template, { pool: 'p', exits: 2, epochs: new Map() });
  };

  it('is the password, byte for byte, whatever stands in it', () => {
    const [exit] = exitsWith('p@ss:{session}%1-country-');
    expect(exit?.login?.username).toMatch(/^c-session-[a-z0-9]{12}-country-us$/);
    expect(exit?.login?.password.reveal()).toBe('p@ss:{session}%1-country-');
    expect(exit?.credential).toBe('dc');
  });

  it('changes neither the exits nor their sessions', () => {
    const [one, two] = [exitsWith('one'), exitsWith('two')];
    expect(two.map(({ id, login: each }) => [id, each?.username])).toEqual(
      one.map(({ id, login: each }) => [id, each?.username]),
    );
    // Whoever compares logins sees the change.
    const base = (exits: readonly Upstream[]) => exits[0]?.template?.template.base.login?.password.reveal();
    expect([base(one), base(two)]).toEqual(['one', 'two']);
  });

  it.each([
    [text, undefined, /needs a credential/],
    [text.replace('{secret}', 'pw'), login, /holds \{secret\}/],
    [text.replace('{country}', '{secret}'), login, /password only/],
    [text, { ...login, password: 'a\nb' }, /control/],
  ])('%s', (template, of, reason) => {
    const parsed = parseTemplate(template, of === undefined ? {} : { login: of });
    expect(parsed.kind === 'bad' ? parsed.reason : 'a template').toMatch(reason);
  });
});
