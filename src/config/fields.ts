/**
 * The kinds of values that settings have, as zod types: text in, plain numbers (milliseconds, bytes) and
 * checked strings out. Every field is made by one of these, with its help text and default beside it.
 */
import { z } from 'zod';
import { parseRate } from '../facts/limit.js';
import type { Rate } from '../facts/limit.js';
import { parseCidr } from '../protocol/address.js';
import { compileHostPattern } from '../protocol/host-pattern.js';
import { parseAllowEntry } from '../protocol/target.js';
import { parseAddress, parseByteRate, parseDuration, parseSize } from './units.js';
import type { Address } from './units.js';

/** What a field says about itself: help for people, an example where there is no default. */
export interface Help {
  readonly help: string;
  /** What the example file shows, commented out. Only for fields without a default. */
  readonly example?: unknown;
  /** Whether the example file shows it though it has no default. */
  readonly isTypical?: boolean;
}

/** Attaches help to a finished type. */
export function withHelp<T extends z.ZodType>(type: T, about: Help): T {
  const { help, ...rest } = about;
  return type.meta({ description: help, ...rest });
}

/** Text that `read` understands; what it can't read is reported in the words of `expected`, never by its value. */
function parsed<T>(expected: string, read: (text: string) => T | null) {
  return z.string({ error: `expected ${expected}` }).transform((text, context): T => {
    const value = read(text);
    if (value !== null) return value;
    context.addIssue({ code: 'custom', message: `expected ${expected}` });
    return z.NEVER;
  });
}

function measured(expected: string, read: (value: string | number) => number | null, most: number) {
  const wrong = `expected ${expected}`;
  return z.union([z.string(), z.number()], { error: wrong }).transform((value, context): number => {
    const read_ = read(value);
    if (read_ !== null && read_ <= most) return read_;
    context.addIssue({ code: 'custom', message: read_ === null ? wrong : `is larger than is sensible` });
    return z.NEVER;
  });
}

const thirtyDaysMs = 30 * 86_400_000;

/** A duration in milliseconds. */
export const duration = () =>
  measured(
    "a duration such as '30s', '5m', '1h' or '250ms', or a number of seconds",
    parseDuration,
    thirtyDaysMs,
  );

/** A duration that must not be zero. */
export const positiveDuration = () => duration().refine((ms) => ms > 0, { error: 'must be longer than 0' });

/** A size in bytes. */
export const size = () =>
  measured("a size such as '64KiB' or '1MB', or a number of bytes", parseSize, 64 * 1024 ** 3);

/** A whole number within bounds. */
export const count = (least: number, most = 1_000_000_000) => {
  const wrong = `expected a whole number from ${least} to ${most}`;
  return z
    .number({ error: wrong })
    .int({ error: wrong })
    .min(least, { error: wrong })
    .max(most, { error: wrong });
};

/** A number within bounds. */
export const quantity = (wrong: string, bounds: { readonly least: number; readonly most: number }) =>
  z.number({ error: wrong }).min(bounds.least, { error: wrong }).max(bounds.most, { error: wrong });

/** A share from 0 to 1. */
export const share = () => quantity('expected a share from 0 to 1, such as 0.2', { least: 0, most: 1 });

/** True or false. */
export const flag = () => z.boolean({ error: 'expected true or false' });

/** One of a closed list of words. */
export const oneOf = <const T extends readonly [string, ...string[]]>(words: T) =>
  z.enum(words, { error: `expected ${words.length === 1 ? '' : 'one of '}${words.join(', ')}` });

/** Any text that is not empty, without control characters. */
export const text = (expected = 'text') =>
  z
    .string({ error: `expected ${expected}` })
    .regex(/^[^\u0000-\u001f\u007f]{1,1024}$/, { error: `expected ${expected}, not empty and on one line` });

/** A name that appears in logs, metrics and user names: letters, digits, `.`, `_`, `-`. */
export const name = () => {
  const wrong = 'expected a name of 1 to 64 letters, digits, dots, underscores and dashes';
  return z.string({ error: wrong }).regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, { error: wrong });
};

/** `host:port`. */
export const address = () =>
  parsed<Address>("an address and port such as '127.0.0.1:8080' or '[::1]:8080'", parseAddress);

/** `600/min`. */
export const rate = () => parsed<Rate>("a rate such as '600/min' or '10/s'", parseRate);

/** `10GiB/day`: the count is of bytes. */
export const byteRate = () =>
  parsed<Rate>("an amount in a time such as '10GiB/day' or '500MB/h'", parseByteRate);

/** An address or a range of addresses. */
export const range = () =>
  parsed("an address or a range such as '10.20.0.0/16'", (given) =>
    parseCidr(given) === null ? null : given,
  );

/** A host name, an address, or `*.` and a host name. */
export const hostMatch = () =>
  parsed("a host name such as 'www.shop.example' or '*.shop.example'", (given) =>
    compileHostPattern(given) === null ? null : given,
  );

/** A secret as it is written: `env:NAME`, `file:path`, or the value itself. Resolved by `secrets.ts`. */
export const secretRef = (what: string) =>
  z
    .string({ error: `expected ${what}: env:NAME, file:path, or the value itself` })
    .min(1, { error: 'must not be empty' });

/** `vault:KEY`; the key alone afterwards. */
export const vaultRef = () => {
  const wrong = 'expected vault:KEY with the key of a credential in the vault';
  return z
    .string({ error: wrong })
    .regex(/^vault:[^\s\u0000-\u001f\u007f]{1,256}$/, { error: wrong })
    .transform((reference) => reference.slice('vault:'.length));
};
/** An exception to the refusal of special addresses, kept as it is written. @param such what an example is */
export const allowEntry = (such: string) =>
  z.string({ error: 'expected an exception' }).refine((given) => parseAllowEntry(given) !== null, {
    error: `expected an exception such as ${such}`,
  });

/** One value or a list of them; always a list afterwards. */
export const oneOrMany = <T extends z.ZodType>(item: T) =>
  z
    .union([item, z.array(item)])
    .transform((value): z.output<T>[] => (Array.isArray(value) ? value : [value]) as z.output<T>[]);
