import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPolicy } from '../../src/credentials/policy-document.js';

const least = { name: 'p', credential_type: 'api_key' };
const read = (more: object) => readPolicy({ ...least, ...more });
const problems = (more: object): string[] => {
  const result = read(more);
  return result.kind === 'invalid' ? result.problems.map(({ path }) => path) : [];
};

describe('K3 a policy', () => {
  it('is read as the article writes it', () => {
    const body = {
      ...{ name: 'twitter_scraping', credential_type: 'cookie_string', selector: 'weighted_random' },
      filters: { 'meta.group': 'social_media', status: 'active' },
      constraints: { rate_limit: '300/hour', per_credential_limit: '30/hour', validity_period: 300 },
    };
    expect(readPolicy(body)).toEqual({
      kind: 'policy',
      body,
      policy: {
        ...{ name: 'twitter_scraping', type: 'cookie_string', selector: 'weighted_random' },
        filters: [
          { field: { kind: 'meta', path: ['group'] }, want: { kind: 'any_of', values: ['social_media'] } },
        ],
        rate: { count: 300, perMs: 3_600_000 },
        perCredential: { count: 30, perMs: 3_600_000 },
        ...{ validMs: 300_000, maxUses: null, slots: 1, maxAddresses: 1 },
        ...{ fallback: null, jitterMs: 0, minActive: null },
      },
    });
  });

  it('has defaults: any number at once for keys, one for logins and cookies', () => {
    const slotsOf = (type: string, constraints?: object) => {
      const result = read({ credential_type: type, constraints });
      return result.kind === 'policy' ? result.policy.slots : undefined;
    };
    expect(['api_key', 'oauth2_token'].map((type) => slotsOf(type))).toEqual([null, null]);
    expect(['username_password', 'cookie_string'].map((type) => slotsOf(type))).toEqual([1, 1]);
    expect(slotsOf('cookie_string', { max_concurrent: null })).toBeNull();
    expect(slotsOf('api_key', { max_concurrent: 3 })).toBe(3);
  });

  it('single_use is max_uses 1', () => {
    expect(read({ constraints: { single_use: true } })).toMatchObject({ policy: { maxUses: 1 } });
    expect(read({ constraints: { max_uses: 5 } })).toMatchObject({ policy: { maxUses: 5 } });
    expect(problems({ constraints: { single_use: true, max_uses: 5 } })).toEqual(['constraints.max_uses']);
  });

  it('K11 refers to the context', () => {
    const filters = { 'meta.region': '$context.region', 'meta.a.b': '$context.x-y?', key: ['k1', 'k2'] };
    expect(read({ filters })).toMatchObject({
      policy: {
        filters: [
          { field: { path: ['region'] }, want: { kind: 'context', name: 'region', isOptional: false } },
          { field: { path: ['a', 'b'] }, want: { kind: 'context', name: 'x-y', isOptional: true } },
          { field: { kind: 'key' }, want: { kind: 'any_of', values: ['k1', 'k2'] } },
        ],
      },
    });
  });

  it.each([
    [{ name: 'a b' }, 'name'],
    [{ credential_type: 'password' }, 'credential_type'],
    [{ selector: 'first' }, 'selector'],
    [{ filters: { status: 'banned' } }, 'filters.status'],
    [{ filters: { group: 'a' } }, 'filters.group'],
    [{ filters: { 'meta.': 'a' } }, 'filters.meta.'],
    [{ filters: { 'meta.a..b': 'a' } }, 'filters.meta.a..b'],
    [{ filters: { 'meta.a': '$context.' } }, 'filters.meta.a'],
    [{ filters: { 'meta.a': '$env.HOME' } }, 'filters.meta.a'],
    [{ filters: { 'meta.a': ['b', '$context.b'] } }, 'filters.meta.a'],
    [{ constraints: { rate_limit: '300' } }, 'constraints.rate_limit'],
    [{ constraints: { per_credential_limit: '0/s' } }, 'constraints.per_credential_limit'],
    [{ constraints: { validity_period: 0 } }, 'constraints.validity_period'],
    [{ constraints: { max_concurrent: 0 } }, 'constraints.max_concurrent'],
    [{ fallback: 'p' }, 'fallback'],
    [{ jitter: 3 }, 'jitter'],
    [{ min_active: 101 }, 'min_active'],
    [{ unknown: 1 }, ''],
  ])('%j is refused', (more, path) => {
    expect(problems(more)).toEqual([path]);
  });

  it('never throws, whatever is sent', () => {
    fc.assert(fc.property(fc.anything(), (sent) => void readPolicy(sent)));
    fc.assert(fc.property(fc.object(), (filters) => void read({ filters })));
  });
});
