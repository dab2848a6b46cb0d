import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, ChainWriter, recordHash, rowOf } from '../../src/audit/chain.js';
import type { Json } from '../../src/storage/credential-ports.js';
import { auditKey, chainOf, checked, entryOf, faultsOf } from '../support/audit.js';

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;

describe('the canonical form of JSON', () => {
  it('says the same, and is the same for any order of names', () => {
    const shuffled = (value: Json): Json => {
      if (value === null || typeof value !== 'object') return value;
      if (Array.isArray(value)) return value.map((each: Json) => shuffled(each));
      const fields = Object.entries(value).reverse();
      return Object.fromEntries(fields.map(([name, each]) => [name, shuffled(each)]));
    };
    fc.assert(
      fc.property(json, (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(JSON.parse(text) as Json)).toBe(text);
        expect(canonicalJson(shuffled(value))).toBe(text);
      }),
    );
  });
});

describe('a record of an entry', () => {
  it('holds no text that an engine would change: no NUL, no half characters, nothing endless', () => {
    const [deep] = [Array.from({ length: 20 }).reduce<Json>((inner) => [inner], 'x')];
    const row = rowOf(
      { ...entryOf('a\0b\ud800'), target: 'x'.repeat(3000), detail: { a: ['\0', Number.NaN], deep } },
      { chain: 'c', n: 1, atMs: 5 },
    );
    expect(row.task).toBe('a\ufffdb\ufffd');
    expect(row.target).toHaveLength(1024);
    expect(row.detail['a']).toEqual(['\ufffd', null]);
    expect(JSON.stringify(row.detail['deep'])).toBe('[[[[[[["…"]]]]]]]');
    const { detail } = rowOf(
      { ...entryOf(1), detail: { list: Array.from({ length: 5000 }, () => 1) } },
      { chain: 'c', n: 1, atMs: 5 },
    );
    expect(detail).toEqual({ cut: 10_010 });
    expect(rowOf({ action: 'a', actor: 'b', outcome: 'ok' }, { chain: 'c', n: 1, atMs: 5 })).toMatchObject({
      ...{ address: null, credential: null, token: null, policy: null, target: null, task: null, detail: {} },
    });
  });

  it('has another hash for anything else that it could say', () => {
    const entry = fc.record({
      ...{ action: fc.string(), actor: fc.string(), outcome: fc.string() },
      ...{ address: fc.option(fc.string()), task: fc.option(fc.string()), target: fc.option(fc.string()) },
      detail: fc.dictionary<string, Json>(fc.string(), json),
    });
    const place = { chain: 'c', n: 1, atMs: 5 };
    fc.assert(
      fc.property(entry, entry, (a, b) => {
        const [first, second] = [rowOf(a, place), rowOf(b, place)];
        const isSame = canonicalJson({ ...first }) === canonicalJson({ ...second });
        if (isSame) return;
        expect(recordHash(auditKey, '', first)).not.toBe(recordHash(auditKey, '', second));
      }),
    );
  });
});

describe('a chain', () => {
  it('is good from its first record to its last, and nobody else’s key makes it', () => {
    const rows = chainOf(50);
    expect(checked(rows, rows)).toMatchObject({ records: 50, findings: [], heads: [{ chain: 'c1', n: 50 }] });
    const foreign = new ChainWriter(Buffer.alloc(32, 8), 'c1').next(entryOf(0), 1);
    expect(faultsOf(checked([foreign]))).toMatchObject([{ kind: 'altered', n: 1 }]);
    expect(new ChainWriter(auditKey, 'x').last.n).toBe(0);
  });

  it('K8 cannot be passed off as another chain', () => {
    const rows = chainOf(3).map((row) => ({ ...row, chain: 'c2' }));
    expect(faultsOf(checked(rows)).map(({ n }) => n)).toEqual([1, 2, 3]);
  });
});
