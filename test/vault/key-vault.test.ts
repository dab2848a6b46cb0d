import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { systemBytes } from '../../src/core/random.js';
import { placeOfSecret, seal, wrapKey } from '../../src/vault/envelope.js';
import { placeOfKey } from '../../src/vault/held-keys.js';
import { RootKeyTrouble } from '../../src/vault/root-key.js';
import { WRAPS_ALARM } from '../../src/vault/wrap-counts.js';
import { Fleet } from './fleet.js';

const place = placeOfSecret('c-1', 1);

describe('K1 a vault', () => {
  it('makes its keys at the first start and finds them at the next', async () => {
    const fleet = new Fleet();
    const first = await fleet.open('a');
    expect(first.state).toEqual({ kind: 'open' });
    fleet.keep(first, 'c-1', 'hunter2');
    const label = first.subKey('token');
    await first.close();
    expect(() => first.seal(place, Buffer.alloc(1))).toThrow('closed');
    const second = await fleet.open('b');
    expect(fleet.show(second, 'c-1')).toBe('hunter2');
    expect(second.subKey('token')).toEqual(label);
    expect(second.subKey('audit')).not.toEqual(label);
    expect(fleet.states()).toEqual(['2 primary']);
  });

  it('is made once where several begin at the same time, whoever is faster', async () => {
    for (let round = 0; round < 30; round += 1) {
      const fleet = new Fleet();
      const vaults = await Promise.all(['a', 'b', 'c'].map((name) => fleet.open(name)));
      expect(fleet.store.rows.map(({ state }) => state).sort()).toEqual(['derive', 'primary']);
      fleet.keep(vaults[0]!, 'c-1', 'hunter2');
      for (const vault of vaults) expect(fleet.show(vault, 'c-1')).toBe('hunter2');
    }
  });

  it('goes on where one died in the middle of making it', async () => {
    for (const death of ['setValue', 'insert', 'announce']) {
      const fleet = new Fleet();
      let left = 1;
      fleet.store.before = (what) => {
        if (what === death && left-- === 0) fleet.store.isAway = true;
      };
      const dead = await fleet.open('a');
      expect(dead.state).toMatchObject({ kind: 'sealed', isStore: true });
      fleet.store.before = () => undefined;
      fleet.store.isAway = false;
      expect((await fleet.open('b')).state, death).toEqual({ kind: 'open' });
      expect(fleet.states()).toEqual(['2 primary']);
    }
  });

  it('stays sealed with a wrong key, writes nothing under it, and opens on demand with the right one', async () => {
    const fleet = new Fleet();
    const owner = await fleet.open('a');
    fleet.keep(owner, 'c-1', 'hunter2');
    await owner.close();
    const { store } = fleet;
    const kept = (): string => JSON.stringify([store.rows, [...store.values], [...store.secrets]]);
    const before = kept();
    let root = randomBytes(32);
    const wrong = await fleet.open('b', () => Promise.resolve(Buffer.from(root)));
    expect(wrong.state).toEqual({
      ...{ kind: 'sealed', isStore: false },
      why: 'the root key is not the one that this vault was made with',
    });
    for (const use of [
      () => wrong.seal(place, Buffer.from('x')),
      () => fleet.show(wrong, 'c-1'),
      () => wrong.subKey('token'),
    ])
      expect(use).toThrow(expect.objectContaining({ name: 'VaultSealed' }));
    await expect(wrong.rotation.start({ reencrypt: false })).rejects.toThrow('root key');
    await wrong.unseal();
    await fleet.pass(5000);
    expect(kept()).toBe(before);
    expect(fleet.store.instances.has('b')).toBe(false);
    root = fleet.root;
    expect(await wrong.unseal()).toEqual({ kind: 'open' });
    expect(fleet.show(wrong, 'c-1')).toBe('hunter2');
    expect(fleet.events.filter(({ type }) => type === 'vault_changed')).toHaveLength(3);
  });

  it('is sealed without a root key, and says why', async () => {
    const fleet = new Fleet();
    const vault = await fleet.open('a', () =>
      Promise.reject(new RootKeyTrouble('the file k can not be read')),
    );
    expect(vault.state).toMatchObject({ kind: 'sealed', why: 'the file k can not be read' });
    expect(fleet.store.values.size).toBe(0);
  });

  it('is sealed by a fault of the program, and tells of it without its words', async () => {
    const fleet = new Fleet();
    const vault = await fleet.open('a', () => Promise.reject(new TypeError('with a secret')));
    expect(vault.state).toMatchObject({ kind: 'sealed', why: 'a fault of the program (TypeError)' });
    expect(JSON.stringify(fleet.events)).not.toContain('with a secret');
    await expect(vault.refresh()).resolves.toBeUndefined();
  });

  it('reads its keys once for all who ask at the same time', async () => {
    const fleet = new Fleet();
    const vault = await fleet.open('a');
    let reads = 0;
    fleet.store.before = (what) => {
      if (what === 'all') reads += 1;
    };
    await Promise.all(Array.from({ length: 100 }, () => vault.refresh()));
    expect(reads).toBeLessThan(3);
  });

  it('wipes the root key once its keys are unwrapped', async () => {
    const fleet = new Fleet();
    const lent: Buffer[] = [];
    await fleet.open('a', () => {
      lent.push(Buffer.from(fleet.root));
      return Promise.resolve(lent.at(-1)!);
    });
    expect(lent).toHaveLength(1);
    expect(lent[0]!.every((byte) => byte === 0)).toBe(true);
  });

  it('opens by itself once the store is there', async () => {
    const fleet = new Fleet();
    fleet.store.isAway = true;
    const vault = await fleet.open('a');
    expect(vault.state).toMatchObject({ kind: 'sealed', isStore: true });
    await fleet.pass(4000);
    fleet.store.isAway = false;
    await fleet.pass(2100);
    expect(vault.state).toEqual({ kind: 'open' });
    expect(fleet.events.map(({ type }) => type)).toEqual(['vault_changed', 'vault_changed']);
  });

  it('goes on opening while the store is away, and seals with no keys that are out of date', async () => {
    const fleet = new Fleet();
    const vault = await fleet.open('a');
    fleet.keep(vault, 'c-1', 'hunter2');
    fleet.store.isAway = true;
    await fleet.pass(25_000);
    fleet.keep(vault, 'c-2', 'hunter3');
    await fleet.pass(10_000);
    expect(fleet.show(vault, 'c-1')).toBe('hunter2');
    expect(() => vault.seal(place, Buffer.from('x'))).toThrow(
      expect.objectContaining({ name: 'StorageAway' }),
    );
    fleet.store.isAway = false;
    await fleet.pass(2100);
    fleet.keep(vault, 'c-3', 'hunter4');
    expect(fleet.show(vault, 'c-3')).toBe('hunter4');
  });

  it('does not open on keys whose check value was lost, or that are damaged', async () => {
    const fleet = new Fleet();
    await (await fleet.open('a')).close();
    const check = fleet.store.values.get('check')!;
    fleet.store.values.delete('check');
    const lost = await fleet.open('b');
    expect(lost.state).toMatchObject({ kind: 'sealed', why: expect.stringContaining('damaged') });
    expect(fleet.store.values.has('check')).toBe(false);
    fleet.store.values.set('check', check);
    const { id, wrapped } = fleet.store.rows.find(({ state }) => state === 'primary')!;
    const spoilt = Buffer.from(wrapped!);
    spoilt[20]! ^= 1;
    fleet.store.set(id, { wrapped: spoilt });
    const damaged = await fleet.open('c');
    expect(damaged.state).toMatchObject({ kind: 'sealed', why: expect.stringContaining('damaged') });
  });

  it('makes no new keys where secrets are kept and all keys were lost', async () => {
    const fleet = new Fleet();
    const first = await fleet.open('a');
    fleet.keep(first, 'c-1', 'hunter2');
    await first.close();
    fleet.store.rows = [];
    fleet.store.values.clear();
    expect((await fleet.open('b')).state).toMatchObject({
      kind: 'sealed',
      why: expect.stringContaining('damaged'),
    });
    expect([fleet.store.rows, fleet.store.values.size]).toEqual([[], 0]);
  });

  it('misses no key that is made and used while it opens', async () => {
    const fleet = new Fleet();
    await (await fleet.open('a')).close();
    const [, old] = fleet.store.rows;
    const made = { id: 'ab'.repeat(16), term: 3, state: 'primary' } as const;
    const key = randomBytes(32);
    const wrapped = wrapKey(fleet.root, placeOfKey(made), key, systemBytes);
    fleet.store.before = (what) => {
      if (what !== 'announce') return;
      fleet.store.before = () => undefined;
      fleet.store.set(old!.id, { state: 'retired' });
      fleet.store.rows = [...fleet.store.rows, { ...made, wrapped, wraps: 0, createdMs: 0 }];
    };
    const vault = await fleet.open('b');
    const sealed = seal(place, Buffer.from('hunter2'), { id: made.id, key }, systemBytes);
    expect(vault.reveal(place, sealed).toString()).toBe('hunter2');
    expect(fleet.store.instances.get('b')?.newestKek).toBe(made.id);
  });

  it('reads its keys at once where it meets one that it does not know', async () => {
    const fleet = new Fleet();
    const [one, two] = [await fleet.open('a'), await fleet.open('b')];
    // It slept for so long that nobody waited for it.
    fleet.store.instances.delete('b');
    await one.rotation.start({ reencrypt: false });
    await one.refresh();
    await one.refresh();
    await fleet.pass(50);
    expect(fleet.states()).toEqual(['2 retired', '3 primary']);
    fleet.keep(one, 'c-1', 'hunter2');
    expect(() => fleet.show(two, 'c-1')).toThrow('unknown_key');
    await two.refresh();
    expect(fleet.show(two, 'c-1')).toBe('hunter2');
  });

  it('takes no key of sub-keys for one of records, whatever the table says', async () => {
    const fleet = new Fleet();
    await (await fleet.open('a')).close();
    const [derive, primary] = fleet.store.rows;
    fleet.store.rows = [
      { ...derive!, state: 'primary' },
      { ...primary!, state: 'derive' },
    ];
    expect((await fleet.open('b')).state).toMatchObject({ kind: 'sealed' });
  });

  it('refuses what does not open, with a reason', async () => {
    const fleet = new Fleet();
    const vault = await fleet.open('a');
    fleet.keep(vault, 'c-1', 'hunter2');
    const { sealed } = fleet.store.secrets.get('c-1')!;
    const why = (bytes: Buffer, id = 'c-1'): unknown => {
      try {
        return vault.reveal(placeOfSecret(id, 1), bytes);
      } catch (error) {
        return (error as { why: string }).why;
      }
    };
    const strange = Buffer.from(sealed);
    strange[10]! ^= 1;
    expect(why(Buffer.from('no'))).toBe('not_sealed');
    expect(why(sealed, 'c-2')).toBe('not_authentic');
    expect(why(strange)).toBe('unknown_key');
  });

  it('counts what its key wraps, in batches, and raises the alarm once', async () => {
    const fleet = new Fleet();
    const vault = await fleet.open('a');
    for (let n = 0; n < 5; n += 1) fleet.keep(vault, `c-${n}`, 'x');
    expect(vault.keys()).toMatchObject([{ term: 2, state: 'primary', wraps: 5 }]);
    await fleet.pass(2100);
    const primary = fleet.store.rows.find(({ state }) => state === 'primary')!;
    expect(primary.wraps).toBe(5);
    fleet.store.set(primary.id, { wraps: WRAPS_ALARM - 1 });
    fleet.keep(vault, 'c-6', 'x');
    await fleet.pass(6000);
    expect(fleet.events.filter(({ type }) => type === 'key_worn')).toEqual([
      { type: 'key_worn', term: 2, wraps: WRAPS_ALARM },
    ]);
  });

  it('leaves the others when it is closed', async () => {
    const fleet = new Fleet();
    const vault = await fleet.open('a');
    expect([...fleet.store.instances.keys()]).toEqual(['a']);
    fleet.keep(vault, 'c-1', 'x');
    await vault.close();
    expect(fleet.store.instances.size).toBe(0);
    expect(fleet.store.rows.find(({ state }) => state === 'primary')?.wraps).toBe(1);
    expect(fleet.clock.pending).toBe(0);
  });
});
