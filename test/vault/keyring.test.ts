import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InstanceRow, KeyRow } from '../../src/storage/ports.js';
import {
  type KeyFacts,
  keyStates,
  movesOf,
  mustReencrypt,
  newestKey,
  nextStep,
  nextTerm,
  sealingKey,
} from '../../src/vault/keyring.js';

const key = (term: number, state: KeyRow['state']): KeyFacts => ({ id: `k${term}`, term, state });
const knows = (id: string, newestKek: string | null): InstanceRow => ({ id, newestKek });

const derive = key(1, 'derive');

describe('keys by state', () => {
  it('seal with the primary key, whatever else there is', () => {
    expect(sealingKey([derive, key(2, 'retired'), key(3, 'primary'), key(4, 'pending')])?.term).toBe(3);
    expect(sealingKey([derive, key(2, 'pending')])).toBeNull();
  });

  it('open with what is pending, primary or retired', () => {
    const opening = Object.entries(keyStates).filter(([, { opens }]) => opens);
    expect(opening.map(([state]) => state)).toEqual(['pending', 'primary', 'retired']);
    expect(newestKey([derive, key(3, 'primary'), key(4, 'pending'), key(2, 'retired')])?.term).toBe(4);
    expect(newestKey([derive, key(5, 'destroyed')])).toBeNull();
  });

  it('count terms over all of them', () => {
    expect(nextTerm([])).toBe(1);
    expect(nextTerm([derive, key(7, 'destroyed'), key(3, 'primary')])).toBe(8);
  });

  it('move on to the next state, and some never', () => {
    expect(movesOf([key(2, 'pending'), key(3, 'primary'), key(4, 'retired')])).toEqual([
      { id: 'k2', from: 'pending', to: 'primary' },
      { id: 'k3', from: 'primary', to: 'retired' },
      { id: 'k4', from: 'retired', to: 'destroyed' },
    ]);
    expect(movesOf([derive, key(2, 'destroyed')])).toEqual([]);
  });
});

describe('K1 the next step of a rotation', () => {
  const keys = [derive, key(2, 'primary'), key(3, 'pending')];
  const step = (live: readonly InstanceRow[], inUse: string[] = []) =>
    nextStep({ keys, live, inUse: new Set(inUse) });

  it('waits for whoever does not know the new key', () => {
    expect(step([knows('a', 'k3'), knows('b', 'k2'), knows('c', 'k1')])).toEqual({
      ...{ kind: 'wait', key: key(3, 'pending') },
      waitsFor: ['b', 'c'],
    });
    expect(step([knows('a', 'of another store')])).toMatchObject({ kind: 'wait', waitsFor: ['a'] });
  });

  it('makes it primary, and the old one retired, once all know it; sealed gateways are not waited for', () => {
    const moves = [
      { id: 'k3', from: 'pending', to: 'primary' },
      { id: 'k2', from: 'primary', to: 'retired' },
    ];
    expect(step([knows('a', 'k3'), knows('b', null)])).toEqual({
      kind: 'promote',
      key: key(3, 'pending'),
      moves,
    });
    expect(step([])).toMatchObject({ kind: 'promote' });
  });

  it('waits for nobody with a newer key', () => {
    const newer = [...keys, key(4, 'retired')];
    expect(nextStep({ keys: newer, live: [knows('a', 'k4')], inUse: new Set() }).kind).toBe('promote');
  });

  it('moves records from retired keys to the primary one, as long as there are any', () => {
    const after = [derive, key(2, 'retired'), key(3, 'retired'), key(4, 'primary'), key(5, 'destroyed')];
    const next = (...inUse: string[]) => nextStep({ keys: after, live: [], inUse: new Set(inUse) });
    expect(next('k2', 'k3')).toEqual({ kind: 'rewrap', from: key(2, 'retired'), to: key(4, 'primary') });
    expect(next('k3')).toEqual({ kind: 'rewrap', from: key(3, 'retired'), to: key(4, 'primary') });
    expect(next('k4', 'k5')).toEqual({ kind: 'nothing' });
    expect(next()).toEqual({ kind: 'nothing' });
  });

  it('moves nothing where no key seals', () => {
    const keysWithout = [derive, key(2, 'retired')];
    expect(nextStep({ keys: keysWithout, live: [], inUse: new Set(['k2']) })).toEqual({ kind: 'nothing' });
  });

  it('promotes a first key that has no elder', () => {
    const only = [derive, key(2, 'pending')];
    expect(nextStep({ keys: only, live: [], inUse: new Set() })).toMatchObject({
      moves: [{ id: 'k2', from: 'pending', to: 'primary' }],
    });
  });

  it('comes to an end from anywhere, with one key that seals and nothing under another', () => {
    const anyStates = fc.array(fc.constantFrom<KeyRow['state']>('pending', 'retired', 'destroyed'), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(anyStates, fc.nat(6), fc.array(fc.nat(8)), (states, at, used) => {
        const all: KeyRow['state'][] = [...states.slice(0, at), 'primary', ...states.slice(at)];
        let rows = [derive, ...all.map((state, n) => key(n + 2, state))];
        const inUse = new Set(used.map((term) => `k${term}`));
        for (let steps = 0; ; steps += 1) {
          expect(steps).toBeLessThan(20);
          const next = nextStep({ keys: rows, live: [knows('a', 'k99'), knows('b', null)].slice(1), inUse });
          if (next.kind === 'nothing') break;
          if (next.kind === 'rewrap') inUse.delete(next.from.id);
          if (next.kind !== 'promote') continue;
          const to = new Map(next.moves.map((move) => [move.id, move.to]));
          rows = rows.map((row) => ({ ...row, state: to.get(row.id) ?? row.state }));
        }
        expect(rows.filter(({ state }) => state === 'primary')).toHaveLength(1);
        expect(
          rows.some(({ state, id }) => state === 'pending' || (state === 'retired' && inUse.has(id))),
        ).toBe(false);
      }),
    );
  });
});

describe('K1 records get new keys of their own', () => {
  it('where a later key was made because of a compromise, also if others were made since', () => {
    const keys = [derive, key(2, 'retired'), key(3, 'retired'), key(4, 'primary')];
    expect(mustReencrypt(key(2, 'retired'), keys, new Set(['k3']))).toBe(true);
    expect(mustReencrypt(key(3, 'retired'), keys, new Set(['k3']))).toBe(false);
    expect(mustReencrypt(key(2, 'retired'), keys, new Set())).toBe(false);
  });
});
