/**
 * Tokens and the slots that they hold, over either engine. What may be done is asked again within the unit that does it;
 * when a unit hits nothing, the reason is read afterwards, and where there is none any more it is tried again.
 */
import { sql, type RawBuilder, type SqlBool } from 'kysely';
import { credentialColumns, credentialOf, secretOf } from './credential-records.js';
import type {
  Issued,
  JsonObject,
  LiveTokenQuery,
  NewToken,
  TokenRecords,
  TokenRow,
  TokenState,
  TokenUse,
  TokenUsed,
} from './credential-ports.js';
import { StorageAway } from './ports.js';
import { mustHit, step, type Queries } from './queries.js';
import type { CredentialTable, TokenTable } from './tables.js';
import { issueSteps, usable, whyNotIssued } from './token-issue.js';
import { refusalOf } from './token-refusal.js';

/** So often a race may be lost in a row. */
const MOST_TRIES = 20;

/** A token from its columns. */
export const tokenOf = (row: TokenTable): TokenRow => ({
  ...{ hash: row.hash, credentialId: row.credential_id, credentialKey: row.credential_key },
  ...{ policy: row.policy, holder: row.holder, context: JSON.parse(row.context) as JsonObject },
  ...{ state: row.state, issuedMs: row.issued_ms, expiresMs: row.expires_ms },
  ...{ uses: row.uses, maxUses: row.max_uses, addresses: JSON.parse(row.addresses) as string[] },
});

type TokenAndStanding = TokenTable & {
  readonly now_ms: number;
  readonly credential_status: CredentialTable['status'] | null;
  readonly credential_until: number | null;
};

/** Tokens over an engine. */
export class SqlTokens implements TokenRecords {
  constructor(private readonly queries: Queries) {}

  async issue(token: NewToken): Promise<Issued> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const result = await this.queries.executor.unit(issueSteps(this.queries, token));
      if (result.kind === 'done') {
        const row = result.results.at(-1)?.rows[0] as unknown as TokenTable;
        return { kind: 'issued', token: tokenOf(row) };
      }
      const why = await whyNotIssued(this.queries, token);
      if (why !== null) return why;
    }
    throw new StorageAway('too many ask for the same credential at once');
  }

  async use(use: TokenUse): Promise<TokenUsed> {
    const known = addressList([use.address]);
    // First or known address: nothing needs to be read before.
    const first = sql<string>`case when addresses = '[]' then ${known} else addresses end`;
    const isKnown = sql<SqlBool>`(addresses = '[]' or addresses like ${`%${JSON.stringify(use.address)}%`})`;
    const used = await this.useWith(use, first, isKnown);
    if (used !== null) return used;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const found = await this.standing(use.hash);
      if (found === undefined || (use.holder !== null && found.holder !== use.holder))
        return { kind: 'unknown' };
      const token = tokenOf(found);
      const status = found.credential_status;
      const credential = status === null ? null : { status, untilMs: found.credential_until };
      const why = refusalOf(token, credential, { use, nowMs: found.now_ms });
      if (why === 'leaked') {
        const revoked = await this.end(use.hash, 'revoked', null);
        return { kind: 'refused', why, token: revoked ?? token, status: null };
      }
      if (why !== null)
        return { kind: 'refused', why, token, status: why === 'credential' ? (status ?? 'gone') : null };
      const list = token.addresses.includes(use.address)
        ? token.addresses
        : [...token.addresses, use.address];
      const asRead = sql<SqlBool>`addresses = ${found.addresses}`;
      const again = await this.useWith(use, sql<string>`${addressList(list)}`, asRead);
      if (again !== null) return again;
    }
    throw new StorageAway('too many ask for the same token at once');
  }

  async unuse(hash: string): Promise<void> {
    await this.queries.write(
      this.queries.db
        .updateTable('tokens')
        .set((eb) => ({ uses: eb('uses', '-', 1) }))
        .where('hash', '=', hash)
        .where('uses', '>', 0),
    );
  }

  async end(hash: string, how: Exclude<TokenState, 'live'>, holder: string | null): Promise<TokenRow | null> {
    const { db } = this.queries;
    let ending = db
      .updateTable('tokens')
      .set({ state: how, over_ms: this.queries.now() })
      .where('hash', '=', hash)
      .where('state', '=', 'live');
    if (holder !== null) ending = ending.where('holder', '=', holder);
    const result = await this.queries.executor.unit([
      mustHit(ending.returningAll()),
      step(db.deleteFrom('holds').where('token_hash', '=', hash)),
    ]);
    if (result.kind === 'done') return tokenOf(result.results[0]?.rows[0] as unknown as TokenTable);
    const token = await this.find(hash);
    return token !== null && (holder === null || token.holder === holder) ? token : null;
  }

  async find(hash: string): Promise<TokenRow | null> {
    const query = this.queries.db.selectFrom('tokens').selectAll().where('hash', '=', hash);
    const [row] = await this.queries.read(query);
    return row === undefined ? null : tokenOf(row);
  }

  async live({ after, limit, credential, holder, policy }: LiveTokenQuery): Promise<readonly TokenRow[]> {
    let query = this.queries.db
      .selectFrom('tokens')
      .selectAll()
      .where('state', '=', 'live')
      .where('expires_ms', '>', this.queries.now())
      .orderBy('hash')
      .limit(limit);
    if (after !== null) query = query.where('hash', '>', after);
    if (credential !== undefined) query = query.where('credential_key', '=', credential);
    if (holder !== undefined) query = query.where('holder', '=', holder);
    if (policy !== undefined) query = query.where('policy', '=', policy);
    return (await this.queries.read(query)).map(tokenOf);
  }

  async revokeOf(credentialId: string): Promise<number> {
    const { db } = this.queries;
    const locked = sql`select id from credentials where id = ${credentialId} ${this.queries.lock()}`;
    const ending = db
      .updateTable('tokens')
      .set({ state: 'revoked', over_ms: this.queries.now() })
      .where('credential_id', '=', credentialId)
      .where('state', '=', 'live')
      .where('expires_ms', '>', this.queries.now());
    const result = await this.queries.executor.unit([
      step(this.queries.raw(locked)),
      step(ending),
      step(db.deleteFrom('holds').where('credential_id', '=', credentialId)),
    ]);
    return result.kind === 'done' ? (result.results[1]?.count ?? 0) : 0;
  }

  async sweep(keepMs: number, limit: number): Promise<number> {
    const { db } = this.queries;
    const before = this.queries.in(-keepMs);
    const old = db.selectFrom('tokens').select('hash').where('over_ms', '<', before).limit(limit);
    const over = db
      .selectFrom('holds')
      .select('token_hash')
      .where('until_ms', '<=', this.queries.now())
      .limit(limit);
    await this.queries.write(db.deleteFrom('holds').where('token_hash', 'in', over));
    return this.queries.write(db.deleteFrom('tokens').where('hash', 'in', old));
  }

  async liveCounts(): Promise<ReadonlyMap<string, number>> {
    const query = this.queries.db
      .selectFrom('holds')
      .innerJoin('credentials', 'credentials.id', 'holds.credential_id')
      .select((eb) => ['credentials.key', eb.fn.countAll<number>().as('count')])
      .where('holds.until_ms', '>', this.queries.now())
      .groupBy('credentials.key');
    const rows = await this.queries.read(query);
    return new Map(rows.map(({ key, count }) => [key, count]));
  }

  /** Counts a use where everything allows it and the addresses are as expected. */
  private async useWith(
    { hash, holder }: TokenUse,
    addresses: RawBuilder<string>,
    expected: RawBuilder<SqlBool>,
  ): Promise<TokenUsed | null> {
    const { db } = this.queries;
    const now = this.queries.now();
    let use = db
      .updateTable('tokens')
      .set((eb) => ({ uses: eb('uses', '+', 1), addresses }))
      .where('hash', '=', hash)
      .where('state', '=', 'live')
      .where('expires_ms', '>', now)
      .where(sql<SqlBool>`(max_uses is null or uses < max_uses)`)
      .where(expected)
      .where(sql<SqlBool>`exists (select 1 from credentials where credentials.id = tokens.credential_id
        and ${usable(now)})`);
    if (holder !== null) use = use.where('holder', '=', holder);
    const read = db
      .selectFrom('tokens')
      .innerJoin('credentials', 'credentials.id', 'tokens.credential_id')
      .select(credentialColumns.map((name) => `credentials.${name}` as const))
      .select(['credentials.kek_id', 'credentials.sealed'])
      .where('tokens.hash', '=', hash);
    const result = await this.queries.executor.unit([mustHit(use.returningAll()), mustHit(read)]);
    if (result.kind !== 'done') return null;
    const token = result.results[0]?.rows[0] as unknown as TokenTable;
    const credential = result.results[1]?.rows[0] as unknown as CredentialTable;
    return {
      ...{ kind: 'used', token: tokenOf(token) },
      ...{ credential: credentialOf(credential), secret: secretOf(credential) },
    };
  }

  private async standing(hash: string): Promise<TokenAndStanding | undefined> {
    const query = sql<TokenAndStanding>`select tokens.*, ${this.queries.now()} as now_ms,
        credentials.status as credential_status, credentials.until_ms as credential_until
      from tokens left join credentials on credentials.id = tokens.credential_id
      where tokens.hash = ${hash}`;
    return (await this.queries.read(this.queries.raw(query)))[0];
  }
}

const addressList = (addresses: readonly string[]) => JSON.stringify(addresses);
