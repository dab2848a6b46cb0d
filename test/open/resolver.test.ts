import { describe, expect, it } from 'vitest';
import { TimerWheel } from '../../src/core/timer-wheel.js';
import { Abandonment } from '../../src/open/dial.js';
import { Resolver, type LookUp, type Patience } from '../../src/open/resolver.js';
import { systemLookUp } from '../../src/open/system-names.js';
import { FakeClock } from '../support/fake-clock.js';

/** A resolver under a clock that stands still, and what it asked for. */
function makeResolver(answer: LookUp) {
  const clock = new FakeClock();
  const asked: string[] = [];
  const resolver = new Resolver({
    clock,
    lookUp: (host) => {
      asked.push(host);
      return answer(host);
    },
    keepMs: 30_000,
    keepFailureMs: 2000,
  });
  const abandonment = new Abandonment();
  const patience: Patience = { wheel: new TimerWheel(clock), ms: 5000, abandonment };
  return {
    clock,
    asked,
    resolver,
    abandonment,
    patience,
    find: (host: string) => resolver.find(host, patience),
  };
}

const failing = (code: string): LookUp => {
  return () => Promise.reject(Object.assign(new Error('no'), { code }));
};
const hanging: LookUp = () => new Promise(() => undefined);

describe('N03 Resolver', () => {
  it('remembers addresses for their time and asks again afterwards', async () => {
    let address = '10.0.0.1';
    const { find, clock, asked, resolver } = makeResolver(() => Promise.resolve([address]));
    expect(await find('a.test')).toEqual({ kind: 'addresses', addresses: ['10.0.0.1'] });
    address = '10.0.0.2';
    clock.advance(29_999);
    expect(await find('a.test')).toMatchObject({ addresses: ['10.0.0.1'] });
    expect(resolver.known('a.test')).toMatchObject({ addresses: ['10.0.0.1'] });
    clock.advance(1);
    expect(resolver.known('a.test')).toBeNull();
    expect(await find('a.test')).toMatchObject({ addresses: ['10.0.0.2'] });
    expect(asked).toHaveLength(2);
  });

  it('remembers a failure for a shorter time', async () => {
    const { find, clock, asked } = makeResolver(failing('ENOTFOUND'));
    for (const ms of [0, 1999, 1]) {
      clock.advance(ms);
      expect(await find('a.test')).toEqual({ kind: 'unresolved', code: 'ENOTFOUND', doesExist: false });
    }
    expect(asked).toHaveLength(2);
  });

  it.each([
    ['ENOTFOUND', false],
    ['ENODATA', false],
    ['EAI_AGAIN', true],
    ['EAI_FAIL', true],
    ['ESERVFAIL', true],
  ])('N04 %s: may exist %s', async (code, doesExist) => {
    expect(await makeResolver(failing(code)).find('a.test')).toEqual({ kind: 'unresolved', code, doesExist });
  });

  it('takes no address for a name that does not exist, and an error without a code for a passing one', async () => {
    expect(await makeResolver(() => Promise.resolve([])).find('a.test')).toMatchObject({ doesExist: false });
    const odd = makeResolver(() => Promise.reject(new Error('odd')));
    expect(await odd.find('a.test')).toEqual({ kind: 'unresolved', code: 'EAI_FAIL', doesExist: true });
  });

  it('N04 asks once for many that ask at the same time', async () => {
    const { find, asked } = makeResolver(() => Promise.resolve(['10.0.0.1']));
    await Promise.all(Array.from({ length: 100 }, () => find('a.test')));
    expect(asked).toEqual(['a.test']);
  });

  it('lets nobody wait longer than it has time, and uses the answer when it comes', async () => {
    let answer: (addresses: string[]) => void = () => undefined;
    const { find, clock, asked } = makeResolver(() => new Promise((resolve) => (answer = resolve)));
    const early = find('a.test');
    clock.advance(5050);
    expect(await early).toEqual({ kind: 'unresolved', code: 'ETIMEOUT', doesExist: true });
    const late = find('a.test');
    answer(['10.0.0.1']);
    expect(await late).toMatchObject({ addresses: ['10.0.0.1'] });
    expect(asked).toHaveLength(1);
  });

  it('ends at once when the attempt is called off, and is heard no more', async () => {
    const { find, abandonment, patience } = makeResolver(hanging);
    const waiting = find('a.test');
    abandonment.abandon();
    expect(await waiting).toMatchObject({ kind: 'unresolved' });
    expect(patience.wheel.size).toBe(0);
  });

  it('forgets all when it knows too many', async () => {
    const { find, resolver } = makeResolver(() => Promise.resolve(['10.0.0.1']));
    for (let nth = 0; nth < 10_001; nth++) await find(`n${nth}.test`);
    expect(resolver.known('n0.test')).toBeNull();
    expect(resolver.known('n10000.test')).not.toBeNull();
  });

  it('the machine knows its own name', async () => {
    expect(await systemLookUp('localhost')).toContain('127.0.0.1');
    await expect(systemLookUp('nx.invalid')).rejects.toHaveProperty('code');
  });
});
