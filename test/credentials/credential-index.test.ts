import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CredentialIndex } from '../../src/credentials/credential-index.js';
import { statusAt } from '../../src/credentials/credential-status.js';
import { seededRandom } from '../../src/core/random.js';
import {
  credentialStatuses,
  type CredentialRow,
  type CredentialStatus,
} from '../../src/storage/credential-ports.js';
import { policyOf } from './policies.js';

const rowOf = (key: string, more: Partial<CredentialRow> = {}): CredentialRow => ({
  ...{ id: `id-${key}`, key, type: 'api_key', meta: {}, status: 'active', untilMs: null, reason: null },
  ...{ version: 1, revision: 1, createdMs: 0, updatedMs: 0 },
  ...more,
});

function setUp() {
  const clock = { nowMs: 1000 };
  const index = new CredentialIndex(seededRandom(3), () => clock.nowMs);
  const keysOf = (policy = 'p', bucket = '[]', most = 100): string[] | string => {
    const choice = index.choose(policy, bucket, most);
    return choice.kind === 'none' ? choice.why : choice.candidates.map(({ key }) => key);
  };
  return { clock, index, keysOf };
}

describe('K3 the index of credentials', () => {
  it('gives what may be used, and knows why there is nothing', () => {
    const { clock, index, keysOf } = setUp();
    index.putPolicy(policyOf({ constraints: { max_concurrent: 1 } }));
    expect(keysOf()).toBe('no_match');
    index.put(rowOf('a', { status: 'banned' }));
    index.put(rowOf('b', { status: 'cooldown', untilMs: 2000 }));
    expect(index.choose('p', '[]', 8)).toEqual({ kind: 'none', why: 'resting', untilMs: 2000 });
    clock.nowMs = 2000;
    expect(keysOf()).toEqual(['b']);
    index.hold('b');
    expect(keysOf()).toBe('held');
    index.free('b');
    index.limit('p', 'b', 2500);
    expect(index.choose('p', '[]', 8)).toEqual({ kind: 'none', why: 'limited', untilMs: 2500 });
    clock.nowMs = 2500;
    expect(keysOf()).toEqual(['b']);
    index.doubt('b', 3000);
    expect(keysOf()).toBe('held');
    clock.nowMs = 3000;
    expect(keysOf()).toEqual(['b']);
    expect(index.supply('p')).toEqual({ total: 2, usable: 1 });
    expect(index.counts()).toMatchObject({ active: 1, banned: 1, cooldown: 0 });
  });

  it('K3 round robin gives each once before any twice, whatever is held in between', () => {
    const { index } = setUp();
    index.putPolicy(policyOf({ selector: 'round_robin', constraints: { max_concurrent: 1 } }));
    for (let n = 0; n < 10; n++) index.put(rowOf(`k${n}`));
    const order: string[] = [];
    for (let n = 0; n < 30; n++) {
      const choice = index.choose('p', '[]', 8);
      const key = choice.kind === 'candidates' ? (choice.candidates[0]?.key ?? '') : '';
      index.hold(key);
      order.push(key);
      if (n >= 3) index.free(order[n - 3] ?? '');
    }
    for (const start of [0, 10, 20]) expect(new Set(order.slice(start, start + 10)).size).toBe(10);
  });

  it('K3 least used goes by what all gateways used', () => {
    const { index, keysOf } = setUp();
    index.putPolicy(policyOf({ selector: 'least_used' }));
    for (const key of ['a', 'b', 'c']) index.put(rowOf(key));
    index.setUses('a', 5);
    index.setUses('b', 3);
    expect(keysOf()).toEqual(['c', 'b', 'a']);
    for (let n = 0; n < 7; n++) index.hold('c');
    expect(keysOf()).toEqual(['b', 'a', 'c']);
    index.unhold('c');
    expect(keysOf()).toEqual(['b', 'a', 'c']);
  });

  it('passes over what is older than what it knows, and a key that was given away again', () => {
    const { index, keysOf } = setUp();
    index.putPolicy(policyOf());
    index.put(rowOf('a', { revision: 5, status: 'banned' }));
    index.put(rowOf('a', { revision: 4 }));
    expect(keysOf()).toBe('resting');
    index.put(rowOf('a', { id: 'another', revision: 1 }));
    expect(index.choose('p', '[]', 1)).toMatchObject({ candidates: [{ id: 'another' }] });
    index.remove('a');
    index.remove('a');
    expect([keysOf(), index.size]).toEqual(['no_match', 0]);
  });

  it('takes counts of live tokens for what they are', () => {
    const { index, keysOf } = setUp();
    index.putPolicy(policyOf({ constraints: { max_concurrent: 2 } }));
    for (const key of ['a', 'b']) index.put(rowOf(key));
    index.hold('a');
    index.setLive(new Map([['b', 2]]));
    expect(keysOf()).toEqual(['a']);
    index.setLive(new Map());
    expect((keysOf() as string[]).sort()).toEqual(['a', 'b']);
  });

  it('fills the list of a policy that comes later, some at a time', () => {
    const { index, keysOf } = setUp();
    for (let n = 0; n < 10; n++) index.put(rowOf(`k${n}`));
    index.remove('k3');
    expect(index.putPolicy(policyOf())).toBe(true);
    expect(index.fill('p', 4)).toBe(false);
    index.put(rowOf('k1', { revision: 2, status: 'disabled' }));
    index.put(rowOf('k10'));
    while (!index.fill('p', 4));
    expect(keysOf()).toHaveLength(9);
    expect(index.supply('p')).toEqual({ total: 10, usable: 9 });
    // Another rate leaves the list alone.
    expect(index.putPolicy(policyOf({ constraints: { rate_limit: '5/s' } }))).toBe(false);
    expect(index.putPolicy(policyOf({ filters: { 'meta.a': 1 } }))).toBe(true);
    index.removePolicy('p');
    expect([index.policyNames(), index.fill('p', 4)]).toEqual([[], true]);
  });

  const key = fc.constantFrom('a', 'b', 'c', 'd');
  const action = fc.oneof(
    fc.record({
      ...{
        what: fc.constant('put' as const),
        key,
        group: fc.constantFrom('x', 'y'),
        region: fc.constantFrom('US', 'DE'),
      },
      status: fc.constantFrom(...credentialStatuses),
      forMs: fc.option(fc.nat(50)),
    }),
    fc.record({ what: fc.constantFrom('remove' as const, 'hold' as const, 'free' as const), key }),
    fc.record({ what: fc.constant('pass' as const), ms: fc.nat(30) }),
  );

  it('is the same as looking at every credential', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
        const { clock, index, keysOf } = setUp();
        index.putPolicy(policyOf({ filters: { 'meta.group': 'x' }, constraints: { max_concurrent: 1 } }));
        const asks = { 'meta.region': '$context.region?' };
        index.putPolicy(
          policyOf({ name: 'q', selector: 'least_used', filters: asks, constraints: { max_concurrent: 2 } }),
        );
        const rows = new Map<string, CredentialRow & { live: number }>();
        let revision = 0;
        for (const act of actions) {
          if (act.what === 'pass') clock.nowMs += act.ms;
          else if (act.what === 'put') {
            const untilMs = act.forMs === null ? null : clock.nowMs + act.forMs;
            const meta = { group: act.group, region: act.region };
            const row = rowOf(act.key, { meta, status: act.status, untilMs, revision: ++revision });
            rows.set(act.key, { ...row, live: rows.get(act.key)?.live ?? 0 });
            index.put(row);
          } else {
            const row = rows.get(act.key);
            if (act.what === 'remove') {
              rows.delete(act.key);
              index.remove(act.key);
            } else {
              if (row !== undefined) row.live = Math.max(0, row.live + (act.what === 'hold' ? 1 : -1));
              index[act.what](act.key);
            }
          }
        }
        const now = (row: CredentialRow): CredentialStatus => statusAt(row, clock.nowMs);
        const wanted = (slots: number, field: string, value: string | null): string[] =>
          [...rows.values()]
            .filter((row) => now(row) === 'active' && row.live < slots)
            .filter(({ meta }) => value === null || meta[field] === value)
            .map((row) => row.key)
            .sort();
        const got = (policy: string, bucket: string): string[] => {
          const keys = keysOf(policy, bucket);
          return typeof keys === 'string' ? [] : keys.sort();
        };
        expect(got('p', '[]')).toEqual(wanted(1, 'group', 'x'));
        expect(got('q', '["DE"]')).toEqual(wanted(2, 'region', 'DE'));
        expect(got('q', '[null]')).toEqual(wanted(2, 'region', null));
        const usable = [...rows.values()].filter((row) => now(row) === 'active');
        expect(index.supply('q')).toEqual({ total: rows.size, usable: usable.length });
        expect(index.counts().active).toBe(usable.length);
      }),
      { numRuns: 300 },
    );
  });
});
