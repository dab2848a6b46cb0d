import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { kekIdOf } from '../../src/vault/envelope.js';
import type { KeyRotation } from '../../src/vault/rotation.js';
import type { Vault } from '../../src/vault/vault.js';
import { Fleet } from './fleet.js';

async function fleetOf(records: number, ...names: string[]): Promise<{ fleet: Fleet; vaults: Vault[] }> {
  const fleet = new Fleet();
  const vaults: Vault[] = [];
  for (const name of names) vaults.push(await fleet.open(name));
  for (let n = 0; n < records; n += 1) fleet.keep(vaults[0]!, `c-${n}`, `secret ${n}`);
  return { fleet, vaults };
}

/** Ids of the keys that records are under. */
const inUse = ({ store }: Fleet): string[] => [
  ...new Set([...store.secrets.values()].map(({ kekId }) => kekId)),
];
const idOf = ({ store }: Fleet, term: number): string | undefined =>
  store.rows.find((row) => row.term === term)?.id;

describe('K1 a rotation', () => {
  it('takes all records to a new key, and the old key stays for what was not seen', async () => {
    const { fleet, vaults } = await fleetOf(450, 'a', 'b');
    const bodies = [...fleet.store.secrets.values()].map(({ sealed }) => sealed.subarray(82));
    expect(await vaults[0]!.rotation.start({ reencrypt: false })).toEqual({ kind: 'started', term: 3 });
    await fleet.pass(8000);
    expect(fleet.states()).toEqual(['2 retired', '3 primary']);
    expect(inUse(fleet)).toEqual([idOf(fleet, 3)]);
    expect([...fleet.store.secrets.values()].map(({ sealed }) => sealed.subarray(82))).toEqual(bodies);
    for (const { id, kekId, sealed } of fleet.store.secrets.values()) {
      expect(kekIdOf(sealed)).toEqual({ id: kekId });
      for (const vault of vaults) expect(fleet.show(vault, id)).toBe(`secret ${id.slice(2)}`);
    }
    expect(vaults[0]!.rotation.progress()).toEqual({
      ...{ phase: 'idle', term: 3, waitsFor: [], left: 0 },
      ...{ total: 0, broken: 0 },
    });
    expect(fleet.store.rows.find(({ term }) => term === 3)?.wraps).toBe(450);
  });

  it('seals anew, with keys of their own, what an unsafe key was over', async () => {
    const { fleet, vaults } = await fleetOf(20, 'a');
    const before = new Map([...fleet.store.secrets].map(([id, { sealed }]) => [id, sealed.subarray(82)]));
    await vaults[0]!.rotation.start({ reencrypt: true });
    await fleet.pass(4000);
    for (const [id, { sealed }] of fleet.store.secrets) {
      expect(sealed.subarray(82)).not.toEqual(before.get(id));
      expect(fleet.show(vaults[0]!, id)).toBe(`secret ${id.slice(2)}`);
    }
    await vaults[0]!.rotation.start({ reencrypt: false });
    const middle = new Map([...fleet.store.secrets].map(([id, { sealed }]) => [id, sealed.subarray(82)]));
    await fleet.pass(4000);
    expect(inUse(fleet)).toEqual([idOf(fleet, 4)]);
    for (const [id, { sealed }] of fleet.store.secrets) expect(sealed.subarray(82)).toEqual(middle.get(id));
  });

  it('does not use a new key as long as one gateway does not know it', async () => {
    const { fleet, vaults } = await fleetOf(10, 'a', 'b');
    const slow = vaults[1]!;
    // Another gateway of the fleet, alive and without the new key: its root key is still to be had, but not in time.
    const deaf = { newestKek: idOf(fleet, 2)!, endMs: Infinity };
    fleet.store.instances.set('deaf', deaf);
    await vaults[0]!.rotation.start({ reencrypt: false });
    await fleet.pass(20_000);
    expect(fleet.states()).toEqual(['2 primary', '3 pending']);
    expect(vaults[0]!.rotation.progress()).toMatchObject({ phase: 'waiting', term: 3, waitsFor: ['deaf'] });
    fleet.keep(slow, 'c-new', 'secret new');
    expect(inUse(fleet)).toEqual([idOf(fleet, 2)]);
    fleet.store.instances.set('deaf', { ...deaf, newestKek: idOf(fleet, 3)! });
    await fleet.pass(4500);
    expect(fleet.states()).toEqual(['2 retired', '3 primary']);
    expect(inUse(fleet)).toEqual([idOf(fleet, 3)]);
  });

  it('does not wait for a gateway that died', async () => {
    const { fleet, vaults } = await fleetOf(10, 'a');
    fleet.store.instances.set('dead', { newestKek: idOf(fleet, 2)!, endMs: fleet.clock.nowMs() + 10_000 });
    await vaults[0]!.rotation.start({ reencrypt: false });
    await fleet.pass(6000);
    expect(fleet.states()).toEqual(['2 primary', '3 pending']);
    await fleet.pass(7000);
    expect(fleet.states()).toEqual(['2 retired', '3 primary']);
  });

  it('waits for a gateway whose root key is another by now, and names it', async () => {
    const { fleet, vaults } = await fleetOf(10, 'a');
    let root = fleet.root;
    let asked = 0;
    const other = await fleet.open('b', () => {
      asked += 1;
      return Promise.resolve(Buffer.from(root));
    });
    root = randomBytes(32);
    await vaults[0]!.rotation.start({ reencrypt: false });
    await fleet.pass(6000);
    expect(vaults[0]!.rotation.progress()).toMatchObject({ phase: 'waiting', waitsFor: ['b'] });
    expect(fleet.show(other, 'c-1')).toBe('secret 1');
    expect(await other.rotation.start({ reencrypt: false })).toEqual({ kind: 'under_way', term: 3 });
    // A KMS is not asked every two seconds.
    expect(asked).toBe(2);
    root = fleet.root;
    await other.unseal();
    await fleet.pass(4500);
    expect(fleet.states()).toEqual(['2 retired', '3 primary']);
  });

  it('is begun once where two begin it', async () => {
    const { fleet, vaults } = await fleetOf(10, 'a', 'b');
    const started = await Promise.all(vaults.map((vault) => vault.rotation.start({ reencrypt: false })));
    expect(started.filter(({ kind }) => kind === 'started')).toHaveLength(1);
    expect(await vaults[0]!.rotation.start({ reencrypt: false })).toEqual({ kind: 'under_way', term: 3 });
    expect(await vaults[1]!.rotation.start({ reencrypt: false })).toEqual({ kind: 'under_way', term: 3 });
    await fleet.pass(6000);
    expect(fleet.states()).toEqual(['2 retired', '3 primary']);
  });

  it('is not begun without the root key', async () => {
    const { fleet, vaults } = await fleetOf(0, 'a');
    fleet.root = randomBytes(32);
    expect(await vaults[0]!.rotation.start({ reencrypt: false })).toMatchObject({ kind: 'no_root_key' });
    expect(fleet.states()).toEqual(['2 primary']);
  });

  it('is led by one at a time', async () => {
    const { fleet, vaults } = await fleetOf(2000, 'a', 'b', 'c');
    const leaders = new Set<string>();
    fleet.store.before = (what) => {
      if (what === 'reseal') leaders.add(fleet.store.claims.get('rotation')?.holder ?? '');
    };
    await vaults[0]!.rotation.start({ reencrypt: false });
    await fleet.pass(6000);
    expect(inUse(fleet)).toEqual([idOf(fleet, 3)]);
    expect(leaders.size).toBe(1);
  });

  it('is taken over from a leader that died', async () => {
    const { fleet, vaults } = await fleetOf(2000, 'a', 'b');
    let batches = 0;
    fleet.store.before = (what) => {
      if (what === 'reseal') batches += 1;
    };
    await vaults[0]!.rotation.start({ reencrypt: false });
    while (batches < 3) await fleet.pass(50);
    const leader = fleet.store.claims.get('rotation')!.holder;
    void ((leader === 'a' ? vaults[0]! : vaults[1]!).rotation as KeyRotation).stop();
    expect(inUse(fleet)).toHaveLength(2);
    await fleet.pass(20_000);
    expect(inUse(fleet)).toEqual([idOf(fleet, 3)]);
  });

  it('leaves a record alone that was changed meanwhile, and comes back to it', async () => {
    const { fleet, vaults } = await fleetOf(10, 'a');
    let isChanged = false;
    fleet.store.before = (what) => {
      if (what !== 'reseal' || isChanged) return;
      isChanged = true;
      fleet.store.secrets.delete('c-1');
      fleet.keep(vaults[0]!, 'c-2', 'newer', 2);
    };
    await vaults[0]!.rotation.start({ reencrypt: false });
    await fleet.pass(6000);
    expect(fleet.show(vaults[0]!, 'c-2')).toBe('newer');
    expect(fleet.store.secrets.has('c-1')).toBe(false);
    expect(inUse(fleet)).toEqual([idOf(fleet, 3)]);
  });

  it('passes over what does not open, names it once, and ends', async () => {
    const { fleet, vaults } = await fleetOf(30, 'a');
    for (const id of ['c-0', 'c-7']) {
      const kept = fleet.store.secrets.get(id)!;
      fleet.store.secrets.set(id, { ...kept, sealed: Buffer.from(kept.sealed.toReversed()) });
    }
    await vaults[0]!.rotation.start({ reencrypt: false });
    await fleet.pass(70_000);
    expect(inUse(fleet).sort()).toEqual([idOf(fleet, 2), idOf(fleet, 3)].sort());
    expect(vaults[0]!.rotation.progress()).toMatchObject({ phase: 'idle', left: 2, broken: 2 });
    const notes = fleet.events.filter((event) => event.type === 'note');
    expect(notes).toMatchObject([
      { what: 'sealed_secret_broken', detail: { id: 'c-0', version: 1, why: 'not_sealed' } },
      { what: 'sealed_secret_broken', detail: { id: 'c-7' } },
    ]);
    expect(await vaults[0]!.rotation.destroy(2)).toEqual({ kind: 'refused', why: 'in_use' });
  });

  it('goes on after the store was away', async () => {
    const { fleet, vaults } = await fleetOf(1000, 'a');
    let batches = 0;
    fleet.store.before = (what) => {
      if (what === 'reseal') batches += 1;
      fleet.store.isAway = batches === 2;
    };
    await vaults[0]!.rotation.start({ reencrypt: false });
    await fleet.pass(4000);
    expect(inUse(fleet)).toHaveLength(2);
    batches = 10;
    await fleet.pass(4000);
    expect(inUse(fleet)).toEqual([idOf(fleet, 3)]);
  });
});

describe('K1 a retired key', () => {
  it('is destroyed for good once nothing is under it and a minute has passed', async () => {
    const { fleet, vaults } = await fleetOf(10, 'a', 'b');
    const [first, second] = vaults as [Vault, Vault];
    const old = fleet.store.secrets.get('c-1')!;
    await first.rotation.start({ reencrypt: false });
    await fleet.pass(6000);
    expect(await first.rotation.destroy(9)).toEqual({ kind: 'refused', why: 'unknown' });
    expect(await first.rotation.destroy(1)).toEqual({ kind: 'refused', why: 'unknown' });
    expect(await first.rotation.destroy(3)).toEqual({ kind: 'refused', why: 'not_retired' });
    expect(await first.rotation.destroy(2)).toEqual({ kind: 'refused', why: 'too_soon' });
    await fleet.pass(60_000);
    fleet.store.secrets.set('c-late', { ...old, id: 'c-late', kekId: idOf(fleet, 2)! });
    expect(await first.rotation.destroy(2)).toEqual({ kind: 'refused', why: 'in_use' });
    fleet.store.secrets.delete('c-late');
    expect(await first.rotation.destroy(2)).toEqual({ kind: 'destroyed' });
    expect(await second.rotation.destroy(2)).toEqual({ kind: 'refused', why: 'not_retired' });
    expect(fleet.store.rows.find(({ term }) => term === 2)).toMatchObject({
      state: 'destroyed',
      wrapped: null,
    });
    expect(fleet.states()).toEqual(['2 destroyed', '3 primary']);
    fleet.store.secrets.set('c-1', old);
    for (const vault of vaults) expect(() => fleet.show(vault, 'c-1')).toThrow('unknown_key');
  });
});
