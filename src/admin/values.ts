/** Kinds of values that the API takes, as zod schemas. */
import { z } from 'zod';
import type { JsonObject } from '../storage/credential-ports.js';

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const mostMs = 30 * 86_400_000;

/** Milliseconds of `90`, `"90"`, `"90s"`, `"1h"`; null for anything else, for 0, and for more than 30 days. */
export function readTtl(value: string | number): number | null {
  const match = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)?$/.exec(String(value));
  const ms = match === null ? 0 : Number(match[1]) * (units[match[2] ?? 's'] ?? 1000);
  return ms >= 1 && ms <= mostMs ? ms : null;
}

const ttlWanted = 'expected seconds, or a time such as 90s, 10m, 1h; at most 30 days';

/** How long something lasts, in milliseconds once it is read. */
export const ttl = () =>
  z
    .union([z.string(), z.number()], { error: ttlWanted })
    .refine((value) => readTtl(value) !== null, { error: ttlWanted })
    .describe('Seconds, or a time such as 90s, 10m, 1h.');

/** Text for people: one line. */
export const line = (most: number) =>
  z
    .string()
    .regex(/^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]+$/, { error: 'expected one line of text' })
    .max(most);

/** A name as the configuration has them. */
export const name = () =>
  z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, { error: 'expected a name of the configuration' });

/** The id of an exit. */
export const exitId = () =>
  z.string().regex(/^[A-Za-z0-9_.-]{1,80}$/, { error: 'expected the id of an exit' });

/** An object of JSON: what came as JSON holds nothing else. How deep it is, `bodies.ts` has looked at. */
export const jsonObject = (): z.ZodType<JsonObject> =>
  z.record(z.string(), z.unknown()) as unknown as z.ZodType<JsonObject>;

/** A time for programs and people: ISO 8601 in UTC. */
export function dateOf(wallMs: number): string;
export function dateOf(wallMs: number | null): string | null;
export function dateOf(wallMs: number | null): string | null {
  return wallMs === null ? null : new Date(wallMs).toISOString();
}

type Given<T> = { readonly [K in keyof T]: Exclude<T[K], undefined> };

/** The same without what is undefined. */
export function given<T extends object>(values: T): Partial<Given<T>> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<
    Given<T>
  >;
}
