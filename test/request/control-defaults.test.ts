import { describe, expect, it } from 'vitest';
import { Fields } from '../../src/http1/fields.js';
import { mergeDefaults, readControls } from '../../src/request/controls.js';

describe('G11 defaults', () => {
  const empty = {
    ...{ session: null, mode: null, ttlMs: null, pool: null, country: null, city: null, asn: null, tags: [] },
    ...{ upstream: null, retries: null, timeoutMs: null, detect: null, explain: null },
  };

  it('of the listener go before those of the client, one by one', () => {
    const listener = { session: 'tab-1', pool: null, tags: [], detect: false } as const;
    const client = { session: 'c', pool: 'dc', tags: ['fast'], detect: true, retries: 0 } as const;
    expect(mergeDefaults(listener, client)).toEqual({
      ...empty,
      session: 'tab-1',
      pool: 'dc',
      tags: ['fast'],
      detect: false,
      retries: 0,
    });
    expect(mergeDefaults({ tags: ['a'] }, { tags: ['b'] }).tags).toEqual(['a']);
  });

  it('of nobody are none', () => {
    expect(mergeDefaults({}, {})).toEqual(empty);
    const always = {
      fields: Fields.empty(),
      sessionHeader: 'x-session-id',
      username: null,
      sessionTtlMs: 1000,
    };
    const merged = readControls({ ...always, defaults: mergeDefaults({}, {}) });
    expect(merged).toEqual(readControls({ ...always, defaults: {} }));
    expect(merged.kind).toBe('controls');
  });
});
