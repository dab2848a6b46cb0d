import { describe, expect, it } from 'vitest';
import { configOf, problemsOf } from './support.js';

const env = { HOOK: 'https://alerts.example/t/abc', WEBHOOK_SECRET: 'a secret of sixteen' };

describe('alerts', () => {
  it('K13 are told to nobody without a word about it', () => {
    expect(configOf('').alerts).toEqual({ minActive: 20, webhooks: [] });
    expect(configOf('').audit).toEqual({ file: null });
  });

  it('K13 go to webhooks, whose URL and secret are not to be printed', () => {
    const text = `alerts: { min_active: 35, webhooks: [{ name: ops, url: env:HOOK, secret: env:WEBHOOK_SECRET,
      kinds: token_leaked, allow: '10.0.0.9:8000' }] }`;
    const { alerts } = configOf(text, { env });
    expect(alerts).toMatchObject({
      minActive: 35,
      webhooks: [{ name: 'ops', kinds: ['token_leaked'], allow: ['10.0.0.9:8000'] }],
    });
    expect(alerts.webhooks[0]?.url.reveal()).toBe(env.HOOK);
    expect(alerts.webhooks[0]?.secret.reveal()).toBe(env.WEBHOOK_SECRET);
    expect(JSON.stringify(alerts)).not.toMatch(/abc|sixteen/);
  });

  it('are refused with two webhooks of one name, a URL of another kind or with a login, and a short secret', () => {
    const hook = (url: string, secret: string): string => `{ name: ops, url: "${url}", secret: "${secret}" }`;
    const good = hook('env:HOOK', 'env:WEBHOOK_SECRET');
    const wrong = [
      ...[good, good, hook('ftp://a.example', 'env:WEBHOOK_SECRET'), hook('http://me:pw@a.example', 'short')],
      hook('env:NONE', 'env:WEBHOOK_SECRET'),
    ];
    const found = problemsOf(`alerts: { webhooks: [${wrong.join(', ')}] }`, { env }).join('\n');
    expect(found).toContain('alerts.webhooks[1].name: another webhook has this name already (number 0)');
    expect(found).toContain('alerts.webhooks[2].url: expected a URL');
    expect(found).toContain('alerts.webhooks[3].url: expected a URL');
    expect(found).toContain('alerts.webhooks[3].secret: needs at least 16 characters');
    expect(found).toContain('alerts.webhooks[4].url');
    expect(found).not.toMatch(/me:pw|short/);
  });
});
