/**
 * How a token gets a slot of its credential: the credential is locked, so that one unit at a time counts what is live,
 * and the primary key of `holds` refuses two in one slot whatever else happens. Tokens without a limit take places
 * below 0 at random: they count for those with one, and need no search.
 */
import { randomInt } from 'node:crypto';
import { sql, type RawBuilder, type SqlBool } from 'kysely';
import type { CredentialStatus, Issued, NewToken } from './credential-ports.js';
import type { Step } from './executor.js';
import { mustHit, step, whole, type Queries } from './queries.js';
import { isUsable } from './token-refusal.js';

const MOST_PLACES = 2 ** 48 - 1;

/** The condition that a credential may be used; `token-refusal.ts` says the same. */
export const usable = (
  now: RawBuilder<number>,
): RawBuilder<SqlBool> => sql<SqlBool>`(credentials.status = 'active'
  or (credentials.status in ('cooldown', 'exhausted') and credentials.until_ms <= ${now}))`;

/** The unit that gives a token out; its last step gives the token. */
export function issueSteps(queries: Queries, token: NewToken): Step[] {
  const now = queries.now();
  const locked = sql`select id from credentials where id = ${token.credentialId} and ${usable(now)} ${queries.lock()}`;
  const given = queries.db
    .insertInto('tokens')
    .values({
      ...{ hash: token.hash, credential_id: token.credentialId, credential_key: token.credentialKey },
      ...{ policy: token.policy, holder: token.holder, context: JSON.stringify(token.context) },
      ...{ state: 'live', issued_ms: now, uses: 0, max_uses: token.maxUses, addresses: '[]' },
      ...{ expires_ms: queries.in(token.validMs, now), over_ms: queries.in(token.validMs, now) },
    })
    .returningAll();
  return [mustHit(queries.raw(locked)), holdStep(queries, token, now), step(given)];
}

function holdStep(queries: Queries, token: NewToken, now: RawBuilder<number>): Step {
  const { credentialId: id, slots, hash } = token;
  const until = queries.in(token.validMs, now);
  const place =
    slots === null ? sql`select ${whole(-randomInt(1, MOST_PLACES))} as slot` : freeSlot(id, slots, now);
  return mustHit(
    queries.raw(sql`insert into holds (credential_id, slot, token_hash, until_ms)
      select ${text(id)}, free.slot, ${text(hash)}, ${until} from (${place}) as free where free.slot is not null
      on conflict (credential_id, slot) do update
      set token_hash = excluded.token_hash, until_ms = excluded.until_ms
      where holds.until_ms <= ${now}`),
  );
}

const text = (value: string) => sql<string>`cast(${value} as text)`;

/** The first slot that nobody holds, while fewer than `slots` are live: 0, or the one behind a slot that is held. */
const freeSlot = (id: string, slots: number, now: RawBuilder<number>) => sql`
  select min(places.slot) as slot
  from (select 0 as slot union all select slot + 1 from holds where credential_id = ${id} and slot >= 0) as places
  where not exists (select 1 from holds
      where credential_id = ${id} and holds.slot = places.slot and until_ms > ${now})
    and (select count(*) from holds where credential_id = ${id} and until_ms > ${now}) < ${whole(slots)}`;

interface Found {
  readonly now_ms: number;
  readonly status: CredentialStatus;
  readonly until_ms: number | null;
  readonly free_ms: number | null;
}

/** Why no token was given out; null where nothing speaks against it any more. */
export async function whyNotIssued(
  queries: Queries,
  { credentialId: id, slots }: NewToken,
): Promise<Exclude<Issued, { kind: 'issued' }> | null> {
  const now = queries.now();
  const free =
    slots === null
      ? sql`null`
      : sql`(select holds.until_ms from holds where holds.credential_id = ${id} and holds.until_ms > ${now}
          order by holds.until_ms desc limit 1 offset ${whole(slots - 1)})`;
  const query = sql<Found>`select ${now} as now_ms, status, until_ms, ${free} as free_ms from credentials where id = ${id}`;
  const [row] = await queries.read(queries.raw(query));
  if (row === undefined) return { kind: 'unusable', status: 'gone' };
  const standing = { status: row.status, untilMs: row.until_ms };
  if (!isUsable(standing, row.now_ms)) return { kind: 'unusable', status: row.status };
  return row.free_ms === null ? null : { kind: 'held', untilMs: row.free_ms };
}
