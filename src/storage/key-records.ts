/** The keys of keys and small values that belong to them, over either engine. */
import { sql } from 'kysely';
import { changeOne, changeSteps } from './change-steps.js';
import type { KeyRecords, KeyRow } from './ports.js';
import { mustHit, step, whole, type Queries } from './queries.js';
import type { KeyTable } from './tables.js';

const keyOf = (row: KeyTable): KeyRow => ({
  ...{ id: row.id, term: row.term, state: row.state, wrapped: row.wrapped, wraps: row.wraps },
  createdMs: row.created_ms,
});

/** Keys over an engine. */
export class SqlKeys implements KeyRecords {
  constructor(private readonly queries: Queries) {}

  async all(): Promise<readonly KeyRow[]> {
    const query = this.queries.db.selectFrom('vault_keys').selectAll().orderBy('term');
    return (await this.queries.read(query)).map(keyOf);
  }

  async insert(key: Pick<KeyRow, 'id' | 'term' | 'state' | 'wrapped'>): Promise<'inserted' | 'exists'> {
    const { id, term, state, wrapped } = key;
    const insertion = this.queries.db
      .insertInto('vault_keys')
      .values({ id, term, state, wrapped, wraps: 0, created_ms: this.queries.now() })
      .onConflict((on) => on.doNothing());
    const isNew = await changeOne(this.queries, { kind: 'key', ref: id }, mustHit(insertion));
    return isNew === null ? 'exists' : 'inserted';
  }

  async move(moves: Parameters<KeyRecords['move']>[0]): Promise<boolean> {
    if (moves.length === 0) return true;
    // One primary at a time: who steps down goes first.
    const inOrder = [...moves].sort((a, b) => Number(a.to === 'primary') - Number(b.to === 'primary'));
    const steps = inOrder.map(({ id, from, to }) => {
      const update = this.queries.db
        .updateTable('vault_keys')
        .set({ state: to, ...(to === 'destroyed' ? { wrapped: null } : {}) });
      return mustHit(update.where('id', '=', id).where('state', '=', from));
    });
    return this.whole(
      steps,
      moves.map(({ id }) => id),
    );
  }

  async rewrap(
    keys: Parameters<KeyRecords['rewrap']>[0],
    values: ReadonlyMap<string, Buffer>,
  ): Promise<boolean> {
    const wraps = keys.map(({ id, was, wrapped }) =>
      mustHit(
        this.queries.db
          .updateTable('vault_keys')
          .set({ wrapped })
          .where('id', '=', id)
          .where('wrapped', '=', was),
      ),
    );
    const sets = [...values].map(([name, value]) =>
      step(
        this.queries.db
          .insertInto('vault_values')
          .values({ name, value })
          .onConflict((on) => on.column('name').doUpdateSet({ value })),
      ),
    );
    return this.whole(
      [...wraps, ...sets],
      keys.map(({ id }) => id),
    );
  }

  async addWraps(id: string, count: number): Promise<void> {
    await this.queries.write(
      this.queries.db
        .updateTable('vault_keys')
        .set({ wraps: sql<number>`wraps + ${whole(count)}` })
        .where('id', '=', id),
    );
  }

  async value(name: string): Promise<Buffer | null> {
    return (await this.queries.read(this.valueQuery(name)))[0]?.value ?? null;
  }

  async setValue(name: string, value: Buffer): Promise<Buffer> {
    const insertion = this.queries.db
      .insertInto('vault_values')
      .values({ name, value })
      .onConflict((on) => on.column('name').doNothing());
    await this.queries.write(insertion);
    return (await this.value(name)) ?? value;
  }

  async claim(name: string, holder: string, forMs: number): Promise<boolean> {
    const claim = sql`insert into claims (name, holder, until_ms) values (${name}, ${holder}, ${this.queries.in(forMs)})
      on conflict (name) do update set holder = excluded.holder, until_ms = excluded.until_ms
      where claims.holder = excluded.holder or claims.until_ms <= ${this.queries.now()}`;
    return (await this.queries.write(this.queries.raw(claim))) > 0;
  }

  private valueQuery(name: string) {
    return this.queries.db.selectFrom('vault_values').select('value').where('name', '=', name);
  }

  private async whole(steps: Parameters<Queries['executor']['unit']>[0], ids: readonly string[]) {
    const all = [...steps, ...changeSteps(this.queries, 'key', ids)];
    return (await this.queries.executor.unit(all)).kind === 'done';
  }
}
