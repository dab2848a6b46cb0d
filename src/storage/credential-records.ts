/** Credentials and their sealed secrets, over either engine. */
import { sql, type SqlBool } from 'kysely';
import { changeSteps, insertionSteps } from './change-steps.js';
import type {
  CredentialChange,
  CredentialQuery,
  CredentialRecords,
  CredentialRow,
  JsonObject,
  NewCredential,
  SealedSecret,
  UseRow,
} from './credential-ports.js';
import { mustHit, portions, step, whole, type Queries } from './queries.js';
import type { CredentialTable } from './tables.js';

/** What a credential is without its secret. */
export const credentialColumns = [
  ...(['id', 'key', 'type', 'meta', 'status', 'until_ms', 'reason'] as const),
  ...(['version', 'revision', 'created_ms', 'updated_ms'] as const),
] as const;
const secretColumns = ['id', 'version', 'kek_id', 'sealed'] as const;

type Columns = Pick<CredentialTable, (typeof credentialColumns)[number]>;

/** A credential from its columns. */
export const credentialOf = (row: Columns): CredentialRow => ({
  ...{ id: row.id, key: row.key, type: row.type, meta: JSON.parse(row.meta) as JsonObject },
  ...{ status: row.status, untilMs: row.until_ms, reason: row.reason },
  ...{ version: row.version, revision: row.revision },
  ...{ createdMs: row.created_ms, updatedMs: row.updated_ms },
});

/** A sealed secret from its columns. */
export const secretOf = (row: Pick<CredentialTable, (typeof secretColumns)[number]>): SealedSecret => ({
  ...{ id: row.id, version: row.version, kekId: row.kek_id, sealed: row.sealed },
});

/** Credentials over an engine. */
export class SqlCredentials implements CredentialRecords {
  constructor(private readonly queries: Queries) {}

  async insert(rows: readonly NewCredential[]): Promise<readonly ('inserted' | 'exists')[]> {
    const { executor } = this.queries;
    // In one order, so that two of these never wait for each other.
    const inOrder = [...rows].sort((a, b) => (a.key < b.key ? -1 : 1));
    const steps = [...portions(inOrder)].flatMap((portion) => [
      step(this.insertion(portion)),
      ...insertionSteps(
        this.queries,
        portion.map(({ id }) => id),
      ),
    ]);
    const result = await executor.unit(steps);
    const inserted = new Set<unknown>();
    for (const { rows: found } of result.kind === 'done' ? result.results : [])
      for (const row of found) inserted.add(row['id']);
    return rows.map(({ id }) => (inserted.has(id) ? 'inserted' : 'exists'));
  }

  async find(key: string): Promise<(CredentialRow & { readonly secret: SealedSecret }) | null> {
    const { db } = this.queries;
    const query = db.selectFrom('credentials').selectAll().where('key', '=', key);
    const [row] = await this.queries.read(query);
    return row === undefined ? null : { ...credentialOf(row), secret: secretOf(row) };
  }

  async list({ after, limit, type, status }: CredentialQuery): Promise<readonly CredentialRow[]> {
    let query = this.select().orderBy('key').limit(limit);
    if (after !== null) query = query.where('key', '>', after);
    if (type !== undefined) query = query.where('type', '=', type);
    if (status !== undefined) query = query.where('status', '=', status);
    // Said again for the index that leaves out the many.
    if (status !== undefined && status !== 'active') query = query.where(sql<SqlBool>`status <> 'active'`);
    return (await this.queries.read(query)).map(credentialOf);
  }

  async rows(keys: readonly string[]): Promise<readonly CredentialRow[]> {
    const found: CredentialRow[] = [];
    for (const portion of portions(keys)) {
      const rows = await this.queries.read(this.select().where('key', 'in', portion));
      for (const row of rows) found.push(credentialOf(row));
    }
    return found;
  }

  async change(
    key: string,
    change: CredentialChange,
    revision: number | null,
  ): ReturnType<CredentialRecords['change']> {
    const update = this.update(key, change, revision).returning(credentialColumns);
    const changed = await this.queries.executor.unit([
      mustHit(update),
      ...changeSteps(this.queries, 'credential', [key]),
    ]);
    if (changed.kind === 'done') {
      const row = changed.results[0]?.rows[0] as unknown as Columns;
      return { kind: 'changed', row: credentialOf(row) };
    }
    const [row] = await this.rows([key]);
    const isGone = row === undefined || (change.id !== undefined && row.id !== change.id);
    return { kind: isGone ? 'gone' : 'conflict' };
  }

  async remove(key: string): Promise<boolean> {
    const removal = this.queries.db.deleteFrom('credentials').where('key', '=', key);
    const steps = [mustHit(removal), ...changeSteps(this.queries, 'credential', [key])];
    return (await this.queries.executor.unit(steps)).kind === 'done';
  }

  async sealedUnder(kekId: string, limit: number): Promise<readonly SealedSecret[]> {
    const query = this.queries.db
      .selectFrom('credentials')
      .select(secretColumns)
      .where('kek_id', '=', kekId)
      .orderBy('id')
      .limit(limit);
    return (await this.queries.read(query)).map(secretOf);
  }

  async countUnder(kekId: string): Promise<number> {
    const query = this.queries.db
      .selectFrom('credentials')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('kek_id', '=', kekId);
    return (await this.queries.read(query))[0]?.count ?? 0;
  }

  async reseal(seals: readonly (SealedSecret & { readonly from: string })[]): Promise<number> {
    if (seals.length === 0) return 0;
    const inOrder = [...seals].sort((a, b) => (a.id < b.id ? -1 : 1));
    const steps = inOrder.map(({ id, version, from, kekId, sealed }) =>
      step(
        this.queries.db
          .updateTable('credentials')
          .set({ kek_id: kekId, sealed })
          .where('id', '=', id)
          .where('version', '=', version)
          .where('kek_id', '=', from),
      ),
    );
    const result = await this.queries.executor.unit(steps);
    return result.kind === 'done' ? result.results.reduce((sum, { count }) => sum + count, 0) : 0;
  }

  async addUses(
    uses: ReadonlyMap<string, { readonly uses: number; readonly lastUsedMs: number }>,
  ): Promise<void> {
    const rows = [...uses].sort(([a], [b]) => (a < b ? -1 : 1));
    if (rows.length === 0) return;
    await this.queries.executor.unit(rows.map(([id, use]) => step(this.useQuery(id, use))));
  }

  async usedSince(sinceMs: number): Promise<readonly UseRow[]> {
    const query = this.queries.db
      .selectFrom('credential_uses')
      .innerJoin('credentials', 'credentials.id', 'credential_uses.credential_id')
      .select(['credentials.id', 'credentials.key', 'credential_uses.uses'])
      .where('credential_uses.last_used_ms', '>=', sinceMs);
    return this.queries.read(query);
  }

  private select() {
    return this.queries.db.selectFrom('credentials').select(credentialColumns);
  }

  private insertion(rows: readonly NewCredential[]) {
    const now = this.queries.now();
    const values = rows.map((row) => ({
      ...{ id: row.id, key: row.key, type: row.type, meta: JSON.stringify(row.meta) },
      ...{ status: row.status, until_ms: row.untilMs, reason: row.reason, version: 1, revision: 1 },
      ...{ kek_id: row.kekId, sealed: row.sealed, created_ms: now, updated_ms: now },
    }));
    return this.queries.db
      .insertInto('credentials')
      .values(values)
      .onConflict((on) => on.column('key').doNothing())
      .returning('id');
  }

  private update(key: string, change: CredentialChange, revision: number | null) {
    const { id, meta, status, forMs, reason, secret } = change;
    const until = forMs === undefined || forMs === null ? null : this.queries.in(forMs);
    let query = this.queries.db
      .updateTable('credentials')
      .set((eb) => ({ revision: eb('revision', '+', 1), updated_ms: this.queries.now() }))
      .where('key', '=', key);
    if (revision !== null) query = query.where('revision', '=', revision);
    if (id !== undefined) query = query.where('id', '=', id);
    if (meta !== undefined) query = query.set({ meta: JSON.stringify(meta) });
    if (status !== undefined) query = query.set({ status, until_ms: until, reason: reason ?? null });
    else if (reason !== undefined) query = query.set({ reason });
    if (secret === undefined) return query;
    return query
      .set({ kek_id: secret.kekId, sealed: secret.sealed, version: secret.version })
      .where('version', '=', secret.version - 1);
  }

  /** Nothing where the credential is gone. */
  private useQuery(id: string, { uses, lastUsedMs }: { uses: number; lastUsedMs: number }) {
    return this.queries.raw(sql`
      insert into credential_uses (credential_id, uses, last_used_ms)
      select id, ${whole(uses)}, ${whole(lastUsedMs)} from credentials where id = ${id}
      on conflict (credential_id) do update set uses = credential_uses.uses + excluded.uses,
        last_used_ms = case when excluded.last_used_ms > credential_uses.last_used_ms
          then excluded.last_used_ms else credential_uses.last_used_ms end`);
  }
}
