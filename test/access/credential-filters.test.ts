import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bucketFor,
  bucketsOf,
  isByContext,
  MOST_BUCKETS,
  passes,
  weightOf,
  WHOLE,
} from '../../src/access/credential-filters.js';
import type { JsonObject } from '../../src/storage/credential-ports.js';
import { policyOf } from './policies.js';

const of = (meta: JsonObject, key = 'k') => ({ key, type: 'api_key' as const, meta });
const filtered = (filters: object) => policyOf({ filters });

describe('K3 filters', () => {
  it.each<[object, JsonObject, boolean]>([
    [{}, {}, true],
    [{ 'meta.group': 'a' }, { group: 'a' }, true],
    [{ 'meta.group': 'a' }, { group: 'b' }, false],
    [{ 'meta.group': 'a' }, {}, false],
    [{ 'meta.group': ['a', 'b'] }, { group: 'b' }, true],
    [{ 'meta.tags': 'x' }, { tags: ['w', 'x'] }, true],
    [{ 'meta.tags': ['y', 'x'] }, { tags: ['w', 'x'] }, true],
    [{ 'meta.tags': 'x' }, { tags: [] }, false],
    [{ 'meta.a.b': 1 }, { a: { b: 1 } }, true],
    [{ 'meta.a.b': 1 }, { a: { b: '1' } }, false],
    [{ 'meta.a.b': 1 }, { a: [{ b: 1 }] }, false],
    [{ 'meta.old': true }, { old: true }, true],
    [{ 'meta.group': 'a', 'meta.region': 'US' }, { group: 'a', region: 'DE' }, false],
    [{ 'meta.constructor.name': 'Object' }, {}, false],
    [{ 'meta.region': '$context.region' }, {}, true],
  ])('%j on %j: %s', (filters, meta, isIn) => {
    expect(passes(filtered(filters), of(meta))).toBe(isIn);
  });

  it('look at the key, and at the type', () => {
    expect(passes(filtered({ key: ['k', 'l'] }), of({}))).toBe(true);
    expect(passes(filtered({ key: 'l' }), of({}))).toBe(false);
    expect(passes(policyOf({ credential_type: 'cookie_string' }), of({}))).toBe(false);
  });

  it('weights are numbers from 0, 1 where there is none', () => {
    expect([{}, { weight: 5 }, { weight: 0 }, { weight: -1 }, { weight: '5' }].map(weightOf)).toEqual([
      1, 5, 0, 1, 1,
    ]);
  });
});

describe('K11 filters that refer to the context', () => {
  const policy = filtered({ 'meta.region': '$context.region', 'meta.tags': '$context.kind?' });

  it('find a credential in the bucket that its asker wants', () => {
    const buckets = bucketsOf(policy, of({ region: 'US', tags: ['a', 'b'] }));
    const wanted = (context: JsonObject) => {
      const bucket = bucketFor(policy, context);
      return bucket.kind === 'bucket' && buckets.includes(bucket.bucket);
    };
    expect(wanted({ region: 'US' })).toBe(true);
    expect(wanted({ region: 'US', kind: 'a' })).toBe(true);
    expect(wanted({ region: 'US', kind: 'c' })).toBe(false);
    expect(wanted({ region: 'DE' })).toBe(false);
  });

  it('say what the context must name', () => {
    expect(bucketFor(policy, { kind: 'a' })).toEqual({ kind: 'missing', names: ['region'] });
    expect(bucketFor(policy, { region: { nested: 1 } })).toEqual({ kind: 'missing', names: ['region'] });
  });

  it('have one bucket where nothing refers to it', () => {
    const plain = filtered({ 'meta.group': 'a' });
    expect([isByContext(plain), isByContext(policy)]).toEqual([false, true]);
    expect(bucketsOf(plain, of({ group: 'a' }))).toEqual([WHOLE]);
    expect(bucketFor(plain, { group: 'b' })).toEqual({ kind: 'bucket', bucket: WHOLE });
  });

  it('are bounded, however long the lists of a credential are', () => {
    const tags = Array.from({ length: 60 }, (_, n) => `t${n}`);
    const wide = filtered({ 'meta.a': '$context.a', 'meta.b': '$context.b' });
    expect(bucketsOf(wide, of({ a: tags, b: tags }))).toHaveLength(MOST_BUCKETS);
  });

  it('a bucket is the same as asking each credential', () => {
    const value = fc.constantFrom('x', 'y', 1, true);
    const meta = fc.record({ region: value, tags: fc.array(value, { maxLength: 3 }) }, { requiredKeys: [] });
    const context = fc.record({ region: value, kind: value }, { requiredKeys: ['region'] });
    fc.assert(
      fc.property(meta, context, (has, asks) => {
        const bucket = bucketFor(policy, asks);
        const isIn = bucket.kind === 'bucket' && bucketsOf(policy, of(has)).includes(bucket.bucket);
        const isMeant =
          has.region === asks.region && (asks.kind === undefined || (has.tags ?? []).includes(asks.kind));
        expect(isIn).toBe(isMeant);
      }),
    );
  });
});
