import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/core/random.js';
import {
  checkValue,
  ENVELOPE_BYTES,
  fitsCheck,
  kekIdOf,
  open,
  placeOfSecret,
  reencrypt,
  rewrap,
  seal,
  unwrapKey,
  wrapKey,
  type Chance,
  type Kek,
  type SecretPlace,
} from '../../src/vault/envelope.js';

const chanceOf = (seed: number): Chance => {
  const random = seededRandom(seed);
  return (count) => Buffer.from(random.hex(count), 'hex');
};
const kekOf = (seed: number): Kek => ({ id: chanceOf(seed)(16).toString('hex'), key: chanceOf(~seed)(32) });

const place = placeOfSecret('c-1', 3);
const kek = kekOf(1);
const secret = Buffer.from('hunter2 & friends');
const sealed = seal(place, secret, kek, chanceOf(2));

const refused = (where: SecretPlace, bytes: Buffer, key: Kek): boolean =>
  open(where, bytes, key).kind === 'broken';
const flipped = (bytes: Buffer, bit: number): Buffer => {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
  return copy;
};

describe('K1 a sealed secret', () => {
  it('opens where it was put, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 5000 }),
        fc.string(),
        fc.nat(),
        fc.integer(),
        (bytes, id, version, seed) => {
          const plaintext = Buffer.from(bytes);
          const where = placeOfSecret(id, version);
          const bound = seal(where, plaintext, kek, chanceOf(seed));
          expect(bound).toHaveLength(ENVELOPE_BYTES + plaintext.length);
          expect(kekIdOf(bound)).toEqual({ id: kek.id });
          expect(open(where, bound, kek)).toEqual({ kind: 'opened', plaintext });
        },
      ),
    );
  });

  it('of this version opens with every later one: the form can not drift', () => {
    const key = Buffer.alloc(32, 7);
    const id = '0123456789abcdef0123456789abcdef';
    const kept =
      '5450535601010123456789abcdef0123456789abcdefb874c5fe3dc12752693f26b92661ba74979b0dd567c591d5e7b58b0bfbd770423e063f262fc8' +
      'af47ed22cef9f45d387a1b2595fe917cf6efa5e890269320430c9fdd3dfdb7664dada9f4d67ebdfbbfa774c6dd26cf92793703ead9df30459b3c3a2c' +
      'ea4196c9634f62';
    const root = Buffer.alloc(32, 9);
    const keptKey =
      '0101bb534989e0a17f5bc81dc9337ed71691a43bb457ffb02b022b504d0350865faccdbebfec067f80e9c4ed2e0599158f81864e3f545614daf67f5942fb';
    const keptCheck = 'b8097413c37b7c29438d3115424fcdbb76777a56e7ebac8a825155d0de6f6d93a314ab500f1d753e7151';
    const opened = open(place, Buffer.from(kept, 'hex'), { id, key });
    expect(opened).toEqual({ kind: 'opened', plaintext: Buffer.from('a secret of today') });
    expect(seal(place, Buffer.from('a secret of today'), { id, key }, chanceOf(1)).toString('hex')).toBe(
      kept,
    );
    expect(unwrapKey(root, { id, term: 2, use: 'wrap' }, Buffer.from(keptKey, 'hex'))).toEqual(key);
    expect(fitsCheck(root, Buffer.from(keptCheck, 'hex'))).toBe(true);
  });

  it('is refused with any bit flipped', () => {
    for (let bit = 0; bit < sealed.length * 8; bit += 1)
      expect(refused(place, flipped(sealed, bit), kek), `bit ${bit}`).toBe(true);
  });

  it('is refused cut short or with more behind it', () => {
    for (let length = 0; length < sealed.length; length += 1)
      expect(refused(place, sealed.subarray(0, length), kek), `${length} bytes`).toBe(true);
    expect(refused(place, Buffer.concat([sealed, Buffer.of(0)]), kek)).toBe(true);
  });

  it('is refused in another row, another column, as another type or version', () => {
    const others: SecretPlace[] = [
      { ...place, id: 'c-2' },
      { ...place, id: 'c-' },
      { ...place, version: 2 },
      { ...place, version: 4 },
      { ...place, column: 'other' as 'secret' },
      { ...place, type: 'client' as 'credential' },
      { ...place, type: 'credentialc' as 'credential', id: '-1' },
    ];
    for (const other of others)
      expect(open(other, sealed, kek)).toEqual({ kind: 'broken', why: 'not_authentic' });
  });

  it('is bound to its place whole: no two places are taken for each other', () => {
    const anyPlace = fc.record({
      type: fc.string(),
      id: fc.string(),
      column: fc.string(),
      version: fc.nat(),
    });
    fc.assert(
      fc.property(anyPlace, anyPlace, (one, other) => {
        fc.pre(JSON.stringify(one) !== JSON.stringify(other));
        const bound = seal(one as SecretPlace, secret, kek, chanceOf(3));
        expect(refused(other as SecretPlace, bound, kek)).toBe(true);
      }),
    );
  });

  it('is refused under another key, also one that has the same name', () => {
    expect(open(place, sealed, kekOf(9))).toEqual({ kind: 'broken', why: 'unknown_key' });
    expect(open(place, sealed, { ...kekOf(9), id: kek.id })).toEqual({
      kind: 'broken',
      why: 'not_authentic',
    });
  });

  it('is refused where its parts come from two records', () => {
    const other = seal(place, secret, kek, chanceOf(4));
    for (const cut of [22, 82]) {
      const mixed = Buffer.concat([sealed.subarray(0, cut), other.subarray(cut)]);
      expect(refused(place, mixed, kek), `cut at ${cut}`).toBe(cut === 82);
    }
  });

  it('says why: not ours, of a later format, of another algorithm', () => {
    const why = (bytes: Buffer): unknown => open(place, bytes, kek);
    const changed = (at: number, value: number): Buffer => {
      const copy = Buffer.from(sealed);
      copy[at] = value;
      return copy;
    };
    expect(why(Buffer.alloc(0))).toEqual({ kind: 'broken', why: 'not_sealed' });
    expect(why(changed(0, 0))).toEqual({ kind: 'broken', why: 'not_sealed' });
    expect(why(changed(4, 2))).toEqual({ kind: 'broken', why: 'unknown_format' });
    expect(why(changed(5, 2))).toEqual({ kind: 'broken', why: 'unknown_algorithm' });
  });

  it('never shows two equal secrets as equal', () => {
    const chance = chanceOf(5);
    const [one, other] = [seal(place, secret, kek, chance), seal(place, secret, kek, chance)];
    expect(one.subarray(22).equals(other.subarray(22))).toBe(false);
    expect(sealed.includes('hunter2')).toBe(false);
  });

  it('needs a key with an id of 16 bytes', () => {
    expect(() => seal(place, secret, { ...kek, id: 'ab' }, chanceOf(1))).toThrow(RangeError);
  });
});

describe('K1 a secret that goes to another key', () => {
  const to = kekOf(7);

  it('keeps its bytes, opens under the new key and no more under the old', () => {
    const moved = rewrap(place, sealed, { from: kek, to }, chanceOf(8));
    if (moved.kind !== 'rewrapped') throw new Error(moved.why);
    expect(moved.sealed.subarray(82)).toEqual(sealed.subarray(82));
    expect(open(place, moved.sealed, to)).toEqual({ kind: 'opened', plaintext: secret });
    expect(open(place, moved.sealed, kek)).toEqual({ kind: 'broken', why: 'unknown_key' });
  });

  it('gets another record key where the old may be known', () => {
    const moved = reencrypt(place, sealed, { from: kek, to }, chanceOf(8));
    if (moved.kind !== 'rewrapped') throw new Error(moved.why);
    expect(moved.sealed.subarray(82)).not.toEqual(sealed.subarray(82));
    expect(open(place, moved.sealed, to)).toEqual({ kind: 'opened', plaintext: secret });
  });

  it('stays where it does not open', () => {
    const spoilt = flipped(sealed, 30 * 8);
    const keks = { from: kek, to };
    expect(rewrap(place, spoilt, keks, chanceOf(8))).toEqual({ kind: 'broken', why: 'not_authentic' });
    expect(reencrypt(place, spoilt, keks, chanceOf(8))).toEqual({ kind: 'broken', why: 'not_authentic' });
    expect(rewrap({ ...place, version: 4 }, sealed, keks, chanceOf(8)).kind).toBe('broken');
  });
});

describe('K1 a key under the root key', () => {
  const root = chanceOf(11)(32);
  const keyPlace = { id: kek.id, term: 2, use: 'wrap' } as const;
  const wrapped = wrapKey(root, keyPlace, kek.key, chanceOf(12));

  it('opens with that root key, at its term and for its use only', () => {
    expect(unwrapKey(root, keyPlace, wrapped)).toEqual(kek.key);
    expect(unwrapKey(chanceOf(13)(32), keyPlace, wrapped)).toBeNull();
    expect(unwrapKey(root, { ...keyPlace, term: 3 }, wrapped)).toBeNull();
    expect(unwrapKey(root, { ...keyPlace, use: 'derive' }, wrapped)).toBeNull();
    expect(unwrapKey(root, { ...keyPlace, id: kekOf(2).id }, wrapped)).toBeNull();
  });

  it('is refused with any bit flipped, or cut short', () => {
    for (let bit = 0; bit < wrapped.length * 8; bit += 1)
      expect(unwrapKey(root, keyPlace, flipped(wrapped, bit)), `bit ${bit}`).toBeNull();
    for (let length = 0; length < wrapped.length; length += 1)
      expect(unwrapKey(root, keyPlace, wrapped.subarray(0, length))).toBeNull();
  });

  it('has 32 bytes', () => {
    expect(unwrapKey(root, keyPlace, wrapKey(root, keyPlace, Buffer.alloc(31), chanceOf(1)))).toBeNull();
  });

  it('is told from a wrong one by a value of its own', () => {
    const check = checkValue(root, chanceOf(14));
    expect(fitsCheck(root, check)).toBe(true);
    expect(fitsCheck(chanceOf(15)(32), check)).toBe(false);
    for (let bit = 0; bit < check.length * 8; bit += 1)
      expect(fitsCheck(root, flipped(check, bit))).toBe(false);
    expect(fitsCheck(root, wrapped)).toBe(false);
  });
});
