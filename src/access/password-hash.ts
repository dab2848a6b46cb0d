/**
 * Passwords as they are stored: scrypt with its parameters and salt, written as `$scrypt$ln=15,r=8,p=1$salt$hash`.
 * A hash takes about 70 ms and 32 MiB, on a thread of the pool and never on the loop; who asks bounds how many.
 * What is read back is bounded too, so that no row of a database can cost more.
 */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/** A stored password, read. */
export interface PasswordHash {
  /** 2^ln is the cost; `r` the size of a block; `p` how often. */
  readonly ln: number;
  readonly r: number;
  readonly p: number;
  readonly salt: Buffer;
  readonly hash: Buffer;
}

const SALT_BYTES = 16;
const HASH_BYTES = 32;
const usual = { ln: 15, r: 8, p: 1 };
const FORM =
  /^\$scrypt\$ln=([0-9]{1,2}),r=([0-9]{1,2}),p=([0-9]{1,2})\$([A-Za-z0-9+/]{22,44})\$([A-Za-z0-9+/]{43})$/;

/** What a password is compared with where there is none: the same work, and nobody's password. */
export const nobodysHash: PasswordHash = {
  ...usual,
  salt: Buffer.alloc(SALT_BYTES),
  hash: Buffer.alloc(HASH_BYTES),
};

/** Makes what is stored of a password. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derived(password, { ...usual, salt });
  return `$scrypt$ln=${usual.ln},r=${usual.r},p=${usual.p}$${base64Of(salt)}$${base64Of(hash)}`;
}

/** Reads what was stored; null for anything else, and for parameters that would cost too much. */
export function readPasswordHash(text: string): PasswordHash | null {
  const found = FORM.exec(text);
  if (found === null) return null;
  const [ln, r, p] = [Number(found[1]), Number(found[2]), Number(found[3])];
  // At most 128 MiB and eight times the usual work.
  const isAffordable = ln >= 10 && ln + Math.log2(r) <= 20 && r >= 1 && p >= 1 && 2 ** ln * r * p <= 2 ** 21;
  if (!isAffordable) return null;
  return {
    ln,
    r,
    p,
    salt: Buffer.from(found[4] ?? '', 'base64'),
    hash: Buffer.from(found[5] ?? '', 'base64'),
  };
}

/** Whether this is the password. */
export async function isPassword(stored: PasswordHash, password: string): Promise<boolean> {
  return timingSafeEqual(await derived(password, stored), stored.hash);
}

function derived(password: string, { ln, r, p, salt }: Omit<PasswordHash, 'hash'>): Promise<Buffer> {
  const cost = 2 ** ln;
  // Node's own bound is just too small for 2^15.
  const options = { cost, blockSize: r, parallelization: p, maxmem: 128 * r * (cost + p + 2) + 1024 };
  return new Promise((resolve, reject) => {
    scrypt(password, salt, HASH_BYTES, options, (error, hash) => {
      if (error === null) resolve(hash);
      else reject(error);
    });
  });
}

function base64Of(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
