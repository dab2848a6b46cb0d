/** Policies by name, over either engine. */
import { changeOne } from './change-steps.js';
import type { JsonObject } from './credential-ports.js';
import type { Step } from './executor.js';
import type { PolicyRecords, PolicyRow } from './ports.js';
import { mustHit, type Queries } from './queries.js';
import type { PolicyTable } from './tables.js';

const policyOf = (row: PolicyTable): PolicyRow => ({
  ...{ id: row.id, name: row.name, document: JSON.parse(row.document) as JsonObject },
  ...{ revision: row.revision, createdMs: row.created_ms, updatedMs: row.updated_ms },
});

/** Policies over an engine. */
export class SqlPolicies implements PolicyRecords {
  constructor(private readonly queries: Queries) {}

  async insert({
    id,
    name,
    document,
  }: Parameters<PolicyRecords['insert']>[0]): Promise<'inserted' | 'exists'> {
    const now = this.queries.now();
    const insertion = this.queries.db
      .insertInto('policies')
      .values({ id, name, document: JSON.stringify(document), revision: 1, created_ms: now, updated_ms: now })
      .onConflict((on) => on.column('name').doNothing());
    const isNew = await this.changed(name, mustHit(insertion));
    return isNew === null ? 'exists' : 'inserted';
  }

  async all(): Promise<readonly PolicyRow[]> {
    const query = this.queries.db.selectFrom('policies').selectAll().orderBy('name');
    return (await this.queries.read(query)).map(policyOf);
  }

  async find(name: string): Promise<PolicyRow | null> {
    const query = this.queries.db.selectFrom('policies').selectAll().where('name', '=', name);
    const [row] = await this.queries.read(query);
    return row === undefined ? null : policyOf(row);
  }

  async replace(name: string, document: JsonObject): Promise<PolicyRow | null> {
    const update = this.queries.db
      .updateTable('policies')
      .set((eb) => ({
        ...{ document: JSON.stringify(document), revision: eb('revision', '+', 1) },
        updated_ms: this.queries.now(),
      }))
      .where('name', '=', name)
      .returningAll();
    const changed = await this.changed(name, mustHit(update));
    return changed === null ? null : policyOf(changed.rows[0] as unknown as PolicyTable);
  }

  async remove(name: string): Promise<boolean> {
    const removal = this.queries.db.deleteFrom('policies').where('name', '=', name);
    return (await this.changed(name, mustHit(removal))) !== null;
  }

  private changed(name: string, change: Step) {
    return changeOne(this.queries, { kind: 'policy', ref: name }, change);
  }
}
