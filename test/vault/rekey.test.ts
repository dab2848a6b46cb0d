import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { systemBytes } from '../../src/core/random.js';
import { rekey } from '../../src/vault/rekey.js';
import { Fleet } from './fleet.js';

describe('K1 another root key', () => {
  it('wraps all keys anew: the new one opens, the old one no more, secrets and sub-keys stay', async () => {
    const fleet = new Fleet();
    const running = await fleet.open('a');
    fleet.keep(running, 'c-1', 'hunter2');
    await running.rotation.start({ reencrypt: false });
    await fleet.pass(4500);
    fleet.keep(running, 'c-2', 'hunter3');
    const label = running.subKey('token');
    const secrets = JSON.stringify([...fleet.store.secrets]);
    const [from, to] = [fleet.root, randomBytes(32)];
    // Whoever made the key holds on to that for some seconds.
    expect(await rekey(fleet.store.db.keys, { from, to }, 'cli', systemBytes)).toEqual({
      kind: 'refused',
      why: 'busy',
    });
    await fleet.pass(15_000);
    expect(await rekey(fleet.store.db.keys, { from, to }, 'cli', systemBytes)).toEqual({
      kind: 'done',
      keys: 3,
    });
    expect(JSON.stringify([...fleet.store.secrets])).toBe(secrets);
    expect(fleet.show(running, 'c-1')).toBe('hunter2');
    expect((await fleet.open('old')).state).toMatchObject({ kind: 'sealed' });
    fleet.root = to;
    const fresh = await fleet.open('new');
    expect(fleet.show(fresh, 'c-1')).toBe('hunter2');
    expect(fleet.show(fresh, 'c-2')).toBe('hunter3');
    expect(fresh.subKey('token')).toEqual(label);
  });

  it('is refused, and nothing is written, where something is not right', async () => {
    const fleet = new Fleet();
    const { keys } = fleet.store.db;
    const to = randomBytes(32);
    const tried = (from: Buffer, next = to) => rekey(keys, { from, to: next }, 'cli', systemBytes);
    expect(await tried(fleet.root)).toEqual({ kind: 'refused', why: 'empty' });
    await (await fleet.open('a')).close();
    const kept = (): string => JSON.stringify([fleet.store.rows, [...fleet.store.values]]);
    const before = kept();
    expect(await tried(randomBytes(32))).toEqual({ kind: 'refused', why: 'wrong' });
    expect(await tried(fleet.root, fleet.root)).toEqual({ kind: 'refused', why: 'same' });
    const { id, wrapped } = fleet.store.rows[1]!;
    fleet.store.before = (what) => {
      if (what === 'rewrap') fleet.store.set(id, { wrapped: randomBytes(62) });
    };
    expect(await tried(fleet.root)).toEqual({ kind: 'refused', why: 'busy' });
    fleet.store.before = () => undefined;
    expect(await tried(fleet.root)).toEqual({ kind: 'refused', why: 'damaged' });
    fleet.store.set(id, { wrapped });
    expect(kept()).toBe(before);
  });
});
