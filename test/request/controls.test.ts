import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fields } from '../../src/http1/fields.js';
import type { Controls } from '../../src/request/context.js';
import { controlTable } from '../../src/request/control-table.js';
import { isControlField, readControls } from '../../src/request/controls.js';
import type { ControlsInput, ControlsResult } from '../../src/request/controls.js';
import { parseNativeUsername } from '../../src/request/dialects/native.js';

type Pair = readonly [name: string, value: string];

function read(pairs: readonly Pair[], username?: string, rest: Partial<ControlsInput> = {}): ControlsResult {
  const parsed = username === undefined ? null : parseNativeUsername(username);
  if (parsed?.kind === 'refused') throw new Error(parsed.failure.detail);
  const fields = Fields.of(...pairs);
  const always = {
    fields,
    sessionHeader: 'x-session-id',
    username: parsed,
    defaults: {},
    sessionTtlMs: 600_000,
  };
  return readControls({ ...always, ...rest });
}

function controlsOf(result: ControlsResult): Controls {
  if (result.kind === 'refused') throw new Error(result.failure.detail);
  return result.controls;
}

function failureOf(result: ControlsResult): { code: string; detail: string } {
  if (result.kind === 'controls') throw new Error('not refused');
  return result.failure;
}

const noFilter = { pool: null, country: null, city: null, asn: null, tags: [], upstream: null };
const nothing: Controls = {
  session: null,
  filter: noFilter,
  retries: null,
  timeoutMs: null,
  detect: true,
  explain: false,
  feedback: null,
};

describe('controls of a request', () => {
  it('are the defaults where nothing is said', () => {
    expect(
      controlsOf(
        read([
          ['Host', 'a.test'],
          ['X-Request-Id', '1'],
          ['X-Turnpikes', '1'],
        ]),
      ),
    ).toEqual(nothing);
    expect(controlsOf(read([], 'crawler'))).toEqual(nothing);
  });

  it('G4 K05 come in header fields, in any case of the name', () => {
    const result = read([
      ['X-Session-Id', 'a1'],
      ['x-turnpike-session-mode', 'hard'],
      ['X-TURNPIKE-SESSION-TTL', '60'],
      ['X-Turnpike-Pool', 'dc'],
      ['X-Turnpike-Country', 'US'],
      ['X-Turnpike-City', 'New York'],
      ['X-Turnpike-Asn', 'AS64500'],
      ['X-Turnpike-Tags', 'fast, cheap'],
      ['X-Turnpike-Upstream', 'x1f'],
      ['X-Turnpike-Retries', '1'],
      ['X-Turnpike-Timeout', '2.5'],
      ['X-Turnpike-Detect', 'off'],
      ['X-Turnpike-Intercept', 'off'],
      ['X-Turnpike-Explain', 'on'],
    ]);
    expect(controlsOf(result)).toEqual({
      session: { id: 'a1', mode: 'hard', ttlMs: 60_000 },
      filter: {
        pool: 'dc',
        country: 'us',
        city: 'new_york',
        asn: 64_500,
        tags: ['fast', 'cheap'],
        upstream: 'x1f',
      },
      retries: 1,
      timeoutMs: 2500,
      detect: false,
      explain: true,
      feedback: null,
    });
  });

  it('S8 feedback comes in a header only', () => {
    const result = read([['X-Turnpike-Feedback', 'g-1~u~s~m~mac; blocked']]);
    expect(controlsOf(result).feedback).toEqual({ id: 'g-1~u~s~m~mac', verdict: 'blocked' });
    const { detail } = failureOf(read([['X-Turnpike-Feedback', 'blocked']]));
    expect(detail).toContain('a request id and a verdict');
  });

  it('G4 come in the username, with the same meaning', () => {
    const username =
      'me+session=a1+mode=hard+ttl=60+pool=dc+country=US+city=new_york+asn=64500+tags=fast,cheap+upstream=x1f' +
      '+retries=1+timeout=2.5+detect=off+intercept=off+explain=on';
    expect(controlsOf(read([], username))).toEqual({
      session: { id: 'a1', mode: 'hard', ttlMs: 60_000 },
      filter: {
        pool: 'dc',
        country: 'us',
        city: 'new_york',
        asn: 64_500,
        tags: ['fast', 'cheap'],
        upstream: 'x1f',
      },
      retries: 1,
      timeoutMs: 2500,
      detect: false,
      explain: true,
      feedback: null,
    });
  });

  it('A18 go header before username before default, each by itself', () => {
    const defaults = { session: 'default', pool: 'default', country: 'de', retries: 3, detect: false };
    const result = read([['X-Session-Id', 'header']], 'me+session=name+pool=name', { defaults });
    expect(controlsOf(result)).toEqual({
      ...nothing,
      session: { id: 'header', mode: 'soft', ttlMs: 600_000 },
      filter: { ...noFilter, pool: 'name', country: 'de' },
      retries: 3,
      detect: false,
    });
  });

  it('let a header put back what a default took away', () => {
    const defaults = { detect: false, explain: true, retries: 3 };
    const pairs: Pair[] = [
      ['X-Turnpike-Detect', 'on'],
      ['X-Turnpike-Explain', 'off'],
      ['X-Turnpike-Retries', '0'],
    ];
    expect(controlsOf(read(pairs, undefined, { defaults }))).toEqual({ ...nothing, retries: 0 });
  });

  it('take mode and time of a session from the defaults, and none without an id', () => {
    const defaults = { mode: 'hard', ttlMs: 5000 } as const;
    expect(controlsOf(read([['X-Session-Id', 'a']], undefined, { defaults })).session).toEqual({
      id: 'a',
      mode: 'hard',
      ttlMs: 5000,
    });
    expect(controlsOf(read([['X-Turnpike-Session-Mode', 'hard']])).session).toBeNull();
  });

  it('take the session from another header where one is configured', () => {
    const rest = { sessionHeader: 'x-crawl' };
    expect(
      controlsOf(
        read(
          [
            ['X-Crawl', 'a'],
            ['X-Session-Id', 'not ours!'],
          ],
          undefined,
          rest,
        ),
      ).session?.id,
    ).toBe('a');
    const prefixed = { sessionHeader: 'x-turnpike-session' };
    expect(controlsOf(read([['X-Turnpike-Session', 'a']], undefined, prefixed)).session?.id).toBe('a');
  });

  it('bound the time of a session', () => {
    const pairs: Pair[] = [
      ['X-Session-Id', 'a'],
      ['X-Turnpike-Session-Ttl', '61'],
    ];
    expect(failureOf(read(pairs, undefined, { maxSessionTtlMs: 60_000 })).detail).toContain(
      'X-Turnpike-Session-Ttl',
    );
    expect(controlsOf(read(pairs)).session?.ttlMs).toBe(61_000);
  });

  it('leave the loop marker to the listener', () => {
    expect(
      controlsOf(
        read([
          ['X-Turnpike-Loop', 'gw1, gw2'],
          ['X-Turnpike-Loop', 'gw3'],
        ]),
      ),
    ).toEqual(nothing);
  });
});

describe('refused controls', () => {
  it.each<[string, Pair]>([
    ['X-Session-Id', ['X-Session-Id', '']],
    ['X-Session-Id', ['X-Session-Id', 's1, s2']],
    ['X-Session-Id', ['X-Session-Id', 'x'.repeat(129)]],
    ['X-Turnpike-Retries', ['X-Turnpike-Retries', '-1']],
    ['X-Turnpike-Timeout', ['X-Turnpike-Timeout', '1h']],
    ['X-Turnpike-Detect', ['X-Turnpike-Detect', 'no']],
    ['X-Turnpike-Intercept', ['X-Turnpike-Intercept', 'maybe']],
    ['x-turnpike-country', ['x-turnpike-country', 'usa']],
  ])('a bad value names %s', (name, pair) => {
    const { code, detail } = failureOf(read([pair]));
    expect(code).toBe('bad_request');
    expect(detail).toContain(name);
    if (pair[1].length > 20) expect(detail).not.toContain(pair[1]);
  });

  it('a bad value in the username names the parameter', () => {
    expect(failureOf(read([], 'me+country=usa')).detail).toContain('country of the proxy username');
  });

  it('a bad value in the username is refused even where a header outdoes it', () => {
    expect(failureOf(read([['X-Turnpike-Country', 'us']], 'me+country=usa')).code).toBe('bad_request');
  });

  it('G4 a repeated field names itself, whatever the values', () => {
    for (const name of ['X-Session-Id', 'X-Turnpike-Pool']) {
      const { code, detail } = failureOf(
        read([
          [name, 'a'],
          [name.toLowerCase(), 'a'],
        ]),
      );
      expect([code, detail]).toEqual(['bad_request', `${name.toLowerCase()} is there twice.`]);
    }
  });

  it('an unknown field of ours names itself and those there are', () => {
    const { code, detail } = failureOf(read([['X-Turnpike-Contry', 'us']]));
    expect(code).toBe('bad_request');
    expect(detail).toContain('X-Turnpike-Contry is not a field');
    expect(detail).toContain('X-Turnpike-Country');
    expect(failureOf(read([[`X-Turnpike-${'y'.repeat(5000)}`, 'a']])).detail.length).toBeLessThan(600);
  });

  it('a username key that no row knows is refused', () => {
    const username = { kind: 'username', name: 'me', params: new Map([['nonsense', 'a']]) } as const;
    expect(failureOf(read([], undefined, { username })).detail).toContain('nonsense');
  });

  it.each<Pair>([
    ['X-Turnpike-Intercept', 'on'],
    ['X-Turnpike-Policy', 'shop'],
    ['X-Gatekeeper-Token', 'tk_s3cret'],
  ])('%s asks for what is not there yet', (name, value) => {
    const { code, detail } = failureOf(read([[name, value]]));
    expect(code).toBe('not_implemented');
    expect(detail).toContain(name);
    expect(detail).not.toContain('s3cret');
  });

  it.each(['me+intercept=on', 'me+policy=shop'])('%s too', (username) => {
    expect(failureOf(read([], username)).code).toBe('not_implemented');
  });

  it('never throws, and never repeats a value', () => {
    const names = [...controlTable.values()].map((row) => row.field);
    const pair = fc.tuple(
      fc.constantFrom(...names, 'X-Turnpike-Other'),
      fc.string({ unit: 'binary', minLength: 30 }),
    );
    const property = fc.property(fc.array(pair, { maxLength: 4 }), (pairs) => {
      const result = read(pairs);
      if (result.kind === 'controls') return;
      for (const [, value] of pairs) expect(result.failure.detail).not.toContain(value);
    });
    fc.assert(property, { seed: 20_240_612, numRuns: 2000 });
  });
});

describe('K05 control fields never travel on', () => {
  it('knows all of them, the unknown ones and the loop marker too', () => {
    const names = [...controlTable.values()].map((row) => row.field.toLowerCase());
    for (const name of [...names, 'x-turnpike-whatever', 'x-turnpike-loop']) {
      expect([name, isControlField(name, 'x-session-id')]).toEqual([name, true]);
    }
    for (const name of ['host', 'x-session', 'x-turnpike', 'x-forwarded-for', 'cookie']) {
      expect([name, isControlField(name, 'x-session-id')]).toEqual([name, false]);
    }
    expect(isControlField('x-session-id', 'x-crawl')).toBe(false);
    expect(isControlField('x-crawl', 'x-crawl')).toBe(true);
  });
});
