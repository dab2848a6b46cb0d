/** Chance, as an argument: the system's own in production, a seeded one in tests. */
import { randomBytes } from 'node:crypto';

/** Where chance comes from. */
export interface Random {
  /** A number in [0, 1). */
  float(): number;
  /** A whole number in [0, below). */
  below(limit: number): number;
  /** Unpredictable text of `bytes` × 2 hex digits, for ids that others must not guess. */
  hex(bytes: number): string;
}

/** The machine's chance. */
export const systemRandom: Random = {
  float: () => Math.random(),
  below: (limit) => Math.floor(Math.random() * limit),
  hex: (bytes) => randomBytes(bytes).toString('hex'),
};

/** Unpredictable bytes, for keys: no text of them is ever made. */
export const systemBytes = (count: number): Buffer => randomBytes(count);

/** The same numbers for the same seed (mulberry32); for tests and simulations, never for secrets. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const float = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const below = (limit: number): number => Math.floor(float() * limit);
  const hex = (bytes: number): string =>
    Array.from({ length: bytes }, () => below(256).toString(16).padStart(2, '0')).join('');
  return { float, below, hex };
}
