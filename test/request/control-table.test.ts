import { describe, expect, it } from 'vitest';
import { controlTable } from '../../src/request/control-table.js';

/** A value that each control takes. */
export const samples: Readonly<Record<string, string>> = {
  session: 'a1',
  mode: 'hard',
  ttl: '60',
  pool: 'dc',
  country: 'US',
  city: 'Berlin',
  asn: '64500',
  tags: 'fast,cheap',
  upstream: 'x1f',
  retries: '1',
  timeout: '5',
  detect: 'off',
  intercept: 'off',
  explain: 'on',
  policy: 'shop',
  feedback: 'req-1;blocked',
  token: 'tk_abc',
};

describe('table of controls', () => {
  it('has a sample for every row here', () => {
    expect([...controlTable.keys()].sort()).toEqual(Object.keys(samples).sort());
  });

  it('names each field once, all but two under one prefix', () => {
    const fields = [...controlTable.values()].map((row) => row.field);
    expect(new Set(fields.map((field) => field.toLowerCase())).size).toBe(fields.length);
    const others = fields.filter((field) => !field.startsWith('X-Turnpike-'));
    expect(others).toEqual(['X-Session-Id', 'X-Gatekeeper-Token']);
  });

  it.each(Object.entries(samples))('%s takes %j and refuses the empty text', (key, sample) => {
    const row = controlTable.get(key);
    expect(row?.read(sample, 86_400_000)).not.toBeNull();
    expect(row?.read('', 86_400_000)).toBeNull();
    expect(row?.wants).toMatch(/^[a-z0-9].*[^.]$/i);
  });

  it.each(['policy', 'token'])('%s is not there yet', (key) => {
    expect(controlTable.get(key)?.isMissing?.('x')).toBe(true);
  });

  it('has interception off, which is what we do, and not on', () => {
    expect(controlTable.get('intercept')?.isMissing?.(true)).toBe(true);
    expect(controlTable.get('intercept')?.isMissing?.(false)).toBe(false);
  });

  it('refuses feedback without a verdict, and tokens with blanks', () => {
    const read = (key: string, text: string): unknown => controlTable.get(key)?.read(text, 1);
    expect(['req', 'req;', ';ok', 'a b;ok', 'a;B'].map((text) => read('feedback', text))).toEqual(
      Array(5).fill(null),
    );
    expect(['a b', 'x'.repeat(513)].map((text) => read('token', text))).toEqual([null, null]);
  });
});
