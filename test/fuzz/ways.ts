/** The ways that a stream of a client can take: which listener, which login, which kind of upstream. */
import type { Random } from '../../src/core/random.js';

/**
 * `plain`: nothing but HTTP or SOCKS5 to one proxy; `tls`: inside TLS; `login`: where clients have passwords; `retry`: two
 * exits, of which one never answers; `socks`: an exit by SOCKS5.
 */
export const ways = ['plain', 'tls', 'login', 'retry', 'socks'] as const;
export type Way = (typeof ways)[number];

/** The client that may enter by `login`. */
export const known = { name: 'fuzz', password: 'right' } as const;

const credentials = (password: string): string =>
  `Basic ${Buffer.from(`${known.name}:${password}`).toString('base64')}`;

/** The field that lets a client in. */
export const rightField = `Proxy-Authorization: ${credentials(known.password)}\r\n`;
const wrongField = `Proxy-Authorization: ${credentials('wrong')}\r\n`;

/** Of a hundred streams so many go by each way; the others are plain. */
const shares: readonly (readonly [way: Way, share: number])[] = [
  ['tls', 10],
  ['login', 12],
  ['retry', 9],
  ['socks', 9],
];

/** Draws one. */
export function drawWay(random: Random): Way {
  let drawn = random.below(100);
  for (const [way, share] of shares) {
    if (drawn < share) return way;
    drawn -= share;
  }
  return 'plain';
}

/** The stream as a client with a password sends it: in seven of ten cases the right one, sometimes a wrong one or none. */
export function withLogin(bytes: Buffer, random: Random): Buffer {
  const drawn = random.below(10);
  if (drawn === 9) return bytes;
  const isRight = drawn < 7;
  if (bytes[0] === 5) return withSocksLogin(bytes, isRight ? known.password : 'wrong');
  const field = isRight ? rightField : wrongField;
  return Buffer.from(bytes.toString('latin1').replace(/ HTTP\/1\.[01]\r\n/g, `$&${field}`), 'latin1');
}

/** Puts a greeting that offers a login, and the login, in the place of a greeting that offers none. */
function withSocksLogin(bytes: Buffer, password: string): Buffer {
  if (bytes[1] !== 1 || bytes[2] !== 0) return bytes;
  const [user, secret] = [Buffer.from(known.name), Buffer.from(password)];
  const login = [Buffer.of(1, user.length), user, Buffer.of(secret.length), secret];
  return Buffer.concat([Buffer.of(5, 1, 2), ...login, bytes.subarray(3)]);
}

/** Whether these field values are one login, and the right one. */
export function isRightLogin(values: readonly string[]): boolean {
  const [, encoded] = /^basic +(\S*)$/i.exec(values[0] ?? '') ?? [];
  if (values.length !== 1 || encoded === undefined) return false;
  return isRightPair(Buffer.from(encoded, 'base64').toString('utf8'));
}

/** The same for `username:password`; parameters may follow the name. */
export function isRightPair(pair: string): boolean {
  return new RegExp(`^${known.name}(?:[^a-z0-9:][^:]*)?:${known.password}$`).test(pair);
}
