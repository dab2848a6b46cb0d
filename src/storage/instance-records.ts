/** Which processes use the store, and what was done once under a name, over either engine. */
import { sql } from 'kysely';
import type { InstanceRecords, InstanceRow, OnceRecords, OnceRow } from './ports.js';
import { mustHit, step, type Queries } from './queries.js';

/** Names that are over and are forgotten with each new one. */
const FORGOTTEN_AT_ONCE = 20;

/** Instances over an engine. */
export class SqlInstances implements InstanceRecords {
  constructor(private readonly queries: Queries) {}

  async announce({ id, newestKek }: InstanceRow, keepMs: number): Promise<void> {
    const { db } = this.queries;
    const said = { newest_kek: newestKek, until_ms: this.queries.in(keepMs) };
    const word = db
      .insertInto('instances')
      .values({ id, ...said })
      .onConflict((on) => on.column('id').doUpdateSet(said));
    const old = db.deleteFrom('instances').where('until_ms', '<=', this.queries.now()).where('id', '<>', id);
    await this.queries.executor.unit([step(word), step(old)]);
  }

  async leave(id: string): Promise<void> {
    await this.queries.write(this.queries.db.deleteFrom('instances').where('id', '=', id));
  }

  async live(): Promise<readonly InstanceRow[]> {
    const query = this.queries.db
      .selectFrom('instances')
      .select(['id', 'newest_kek'])
      .where('until_ms', '>', this.queries.now())
      .orderBy('id');
    return (await this.queries.read(query)).map((row) => ({ id: row.id, newestKek: row.newest_kek }));
  }
}

/** What was done once, over an engine. */
export class SqlOnce implements OnceRecords {
  constructor(private readonly queries: Queries) {}

  async begin(name: string, fingerprint: string, keepMs: number): Promise<OnceRow | null> {
    const now = this.queries.now();
    const taken = sql`insert into once (name, fingerprint, until_ms)
      values (${name}, ${fingerprint}, ${this.queries.in(keepMs)})
      on conflict (name) do update
      set fingerprint = excluded.fingerprint, status = null, body = null, until_ms = excluded.until_ms
      where once.until_ms <= ${now}`;
    const old = sql`delete from once where name in
      (select name from once where until_ms <= ${now} order by name limit ${FORGOTTEN_AT_ONCE})`;
    const steps = [mustHit(this.queries.raw(taken)), step(this.queries.raw(old))];
    // The row may go between the two; then it is there for the taking.
    for (;;) {
      if ((await this.queries.executor.unit(steps)).kind === 'done') return null;
      const [row] = await this.queries.read(
        this.queries.db.selectFrom('once').select(['fingerprint', 'status', 'body']).where('name', '=', name),
      );
      if (row !== undefined) return row;
    }
  }

  async finish(name: string, answer: { status: number; body: string }, keepMs: number): Promise<void> {
    const kept = { ...answer, until_ms: this.queries.in(keepMs) };
    await this.queries.write(this.queries.db.updateTable('once').set(kept).where('name', '=', name));
  }

  async forget(name: string): Promise<void> {
    await this.queries.write(this.queries.db.deleteFrom('once').where('name', '=', name));
  }
}
