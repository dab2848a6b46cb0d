/**
 * How a unit tells what it changed. Every unit that does takes its places from one counter, whose row it holds until it
 * is done: so places become visible in their order, and whoever reads on from a place misses nothing.
 */
import { sql, type RawBuilder } from 'kysely';
import type { Step, StepResult } from './executor.js';
import type { Change } from './ports.js';
import { step, whole, type Queries } from './queries.js';

const COUNTER = 'changes';
const place = sql<number>`(select value from counters where name = ${COUNTER})`;

/** The last steps of a unit that changed these things; last, so that the counter is held for a short time. */
export function changeSteps(queries: Queries, kind: Change['kind'], refs: readonly string[]): Step[] {
  if (refs.length === 0) return [];
  const last = refs.length - 1;
  const rows = refs.map((ref, at) => ({ kind, ref, seq: sql<number>`${place} - ${whole(last - at)}` }));
  const told = queries.db
    .insertInto('changes')
    .values(rows)
    .onConflict((on) => on.columns(['kind', 'ref']).doUpdateSet((eb) => ({ seq: eb.ref('excluded.seq') })));
  return [countOn(queries, whole(refs.length)), step(told)];
}

/** The same for credentials that were kept just now, whichever of these they are. */
export function insertionSteps(queries: Queries, ids: readonly string[]): Step[] {
  const list = sql.join(ids);
  const count = sql<number>`(select count(*) from credentials where id in (${list}))`;
  const told = sql`insert into changes (kind, ref, seq)
    select 'credential', key, ${place} + 1 - row_number() over (order by key desc)
    from credentials where id in (${list})
    on conflict (kind, ref) do update set seq = excluded.seq`;
  return [countOn(queries, count), step(queries.raw(told))];
}

const countOn = (queries: Queries, by: RawBuilder<number>): Step =>
  step(
    queries.db
      .updateTable('counters')
      .set({ value: sql<number>`value + ${by}` })
      .where('name', '=', COUNTER),
  );

/** Does one step and tells of it; null where the step hit nothing. */
export async function changeOne(
  queries: Queries,
  { kind, ref }: Pick<Change, 'kind' | 'ref'>,
  change: Step,
): Promise<StepResult | null> {
  const result = await queries.executor.unit([change, ...changeSteps(queries, kind, [ref])]);
  return result.kind === 'done' ? (result.results[0] ?? null) : null;
}

/** Changes behind a place in their order. */
export const readChanges = (queries: Queries, since: number, limit: number): Promise<readonly Change[]> =>
  queries.read(
    queries.db
      .selectFrom('changes')
      .select(['seq', 'kind', 'ref'])
      .where('seq', '>', since)
      .orderBy('seq')
      .limit(limit),
  );

/** The last place that was given. */
export async function lastChange(queries: Queries): Promise<number> {
  const query = queries.db.selectFrom('counters').select('value').where('name', '=', COUNTER);
  return (await queries.read(query))[0]?.value ?? 0;
}
