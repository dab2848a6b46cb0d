/** Lists in pieces: `limit` says how many, `cursor` where to go on. A cursor is what the page before gave as `next`. */
import { z } from 'zod';
import { Problem } from './problem.js';

const mostItems = 1000;

/** What every list takes. */
export const pageQuery = {
  limit: z.coerce.number().int().min(1).max(mostItems).default(100).describe('Most items in the answer.'),
  cursor: z.string().max(2048).optional().describe('`next` of the page before.'),
};

/** A page of these items. */
export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item),
    next: z.string().nullable().describe('Cursor of the next page; null at the end.'),
  });

/** A cursor for this place. */
export function cursorAt(place: string): string {
  return Buffer.from(place, 'utf8').toString('base64url');
}

/** The place of a cursor. @throws Problem for what is none. */
export function placeOf(cursor: string): string {
  const place = Buffer.from(cursor, 'base64url').toString('utf8');
  if (place === '' || cursorAt(place) !== cursor)
    throw new Problem('malformed', 'The cursor is none of ours.');
  return place;
}

/** The place of a query behind which a list goes on; null from the beginning. @throws Problem */
export function afterOf(cursor: string | undefined): string | null {
  return cursor === undefined ? null : placeOf(cursor);
}

/** The page of a list of which one item more than `limit` was asked for, to see whether there are more. */
export function pageFrom<T>(
  found: readonly T[],
  limit: number,
  placeIn: (item: T) => string,
): { readonly items: readonly T[]; readonly next: string | null } {
  const last = found.length > limit ? found[limit - 1] : undefined;
  return { items: found.slice(0, limit), next: last === undefined ? null : cursorAt(placeIn(last)) };
}

/** A page of items that are sorted by their keys. */
export function slice<T>(
  sorted: readonly T[],
  keyOf: (item: T) => string,
  query: { readonly limit: number; readonly cursor?: string | undefined },
): { readonly items: readonly T[]; readonly next: string | null } {
  const after = afterOf(query.cursor);
  const from = after === null ? 0 : sorted.findIndex((item) => keyOf(item) > after);
  const items = from < 0 ? [] : sorted.slice(from, from + query.limit);
  const last = items.at(-1);
  const isEnd = last === undefined || from + items.length >= sorted.length;
  return { items, next: isEnd ? null : cursorAt(keyOf(last)) };
}
