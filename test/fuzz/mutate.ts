/** Bytes spoiled at random, the same for the same seed: what a fuzzer does to inputs that were good. */
import type { Random } from '../../src/core/random.js';

/** What the mutator has to work with. */
export interface Material {
  readonly random: Random;
  /** Pieces that mean something in the protocol. */
  readonly words: readonly string[];
  /** Other inputs, to be spliced in. */
  readonly others: readonly Buffer[];
}

type Change = (bytes: Buffer, material: Material) => Buffer;

const ODD_OCTETS = [0x00, 0x09, 0x0a, 0x0b, 0x0d, 0x20, 0x22, 0x2c, 0x30, 0x3a, 0x3b, 0x7f, 0x80, 0xff];
const LONGEST = 70_000;

const pick = <T>(random: Random, list: readonly T[]): T => list[random.below(list.length)] as T;

function replaced(bytes: Buffer, at: number, length: number, by: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, at), by, bytes.subarray(at + length)]);
}

/** A piece of the bytes: where, and how long. */
function part(bytes: Buffer, random: Random, longest: number): [at: number, length: number] {
  const at = random.below(bytes.length + 1);
  return [at, Math.min(bytes.length - at, 1 + random.below(longest))];
}

const changes: readonly Change[] = [
  (bytes, { random, words }) =>
    replaced(bytes, random.below(bytes.length + 1), 0, Buffer.from(pick(random, words), 'latin1')),
  (bytes, { random, words }) => {
    const [at, length] = part(bytes, random, 12);
    return replaced(bytes, at, length, Buffer.from(pick(random, words), 'latin1'));
  },
  (bytes, { random }) => {
    const [at, length] = part(bytes, random, 1);
    return replaced(bytes, at, length, Buffer.of(pick(random, ODD_OCTETS)));
  },
  (bytes, { random }) => {
    const [at] = part(bytes, random, 1);
    return replaced(bytes, at, 1, Buffer.of((bytes[at] ?? 0) ^ (1 << random.below(8))));
  },
  (bytes, { random }) => {
    const [at, length] = part(bytes, random, 24);
    return replaced(bytes, at, length, Buffer.alloc(0));
  },
  (bytes, { random }) => {
    const [at, length] = part(bytes, random, 80);
    return replaced(bytes, at, 0, bytes.subarray(at, at + length));
  },
  (bytes, { random, others }) => {
    const other = pick(random, others);
    const [at, length] = part(bytes, random, 200);
    const [from, many] = part(other, random, 200);
    return replaced(bytes, at, length, other.subarray(from, from + many));
  },
  (bytes, { random, others }) => Buffer.concat([bytes, pick(random, others)]),
  (bytes, { random }) => bytes.subarray(0, random.below(bytes.length + 1)),
  (bytes, { random }) => {
    const [at, length] = part(bytes, random, 8);
    return replaced(bytes, at, length, swappedCase(bytes.subarray(at, at + length)));
  },
  (bytes, { random }) => {
    const [at, length] = part(bytes, random, 6);
    const many = 2 + random.below(random.below(10) === 0 ? 4000 : 30);
    return replaced(
      bytes,
      at,
      0,
      Buffer.concat(Array.from({ length: many }, () => bytes.subarray(at, at + length))),
    );
  },
  (bytes, { random }) => replacedNumber(bytes, random),
];

function swappedCase(bytes: Buffer): Buffer {
  return Buffer.from(
    bytes.map((octet) => (/[a-z]/i.test(String.fromCharCode(octet)) ? octet ^ 0x20 : octet)),
  );
}

const NUMBERS = [
  '0',
  '-1',
  '+1',
  '00',
  '1e1',
  '0x10',
  '255',
  '65535',
  '65536',
  '4294967296',
  '9007199254740993',
  'ffffffffffffffff',
];

/** Puts an odd number where a number is. */
function replacedNumber(bytes: Buffer, random: Random): Buffer {
  const found = [...bytes.toString('latin1', 0, 4096).matchAll(/[0-9]+/g)];
  if (found.length === 0) return bytes;
  const { index, 0: digits } = pick(random, found);
  return replaced(bytes, index, digits.length, Buffer.from(pick(random, NUMBERS)));
}

/** The bytes with one to four things done to them. */
export function mutate(bytes: Buffer, material: Material): Buffer {
  const { random } = material;
  let spoiled = bytes;
  for (let left = 1 + random.below(4); left > 0; left--) {
    const next = pick(random, changes)(spoiled, material);
    if (next.length <= LONGEST) spoiled = next;
  }
  return spoiled;
}

/** The bytes in one to four pieces, as a network might deliver them. */
export function cutUp(bytes: Buffer, random: Random): Buffer[] {
  const cuts = Array.from({ length: random.below(4) }, () => random.below(bytes.length + 1)).sort(
    (a, b) => a - b,
  );
  const ends = [...cuts, bytes.length];
  return ends.map((end, n) => bytes.subarray(ends[n - 1] ?? 0, end)).filter((piece) => piece.length > 0);
}
