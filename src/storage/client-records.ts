/** Stored clients of the proxy port, over either engine. */
import { changeOne } from './change-steps.js';
import type { JsonObject } from './credential-ports.js';
import type { ClientRecords, ClientRow } from './ports.js';
import { mustHit, type Queries } from './queries.js';
import type { ClientTable } from './tables.js';

type ClientSaid = Pick<ClientRow, 'name' | 'passwordHash' | 'document'>;

const clientOf = (row: ClientTable): ClientRow => ({
  ...{ name: row.name, passwordHash: row.password_hash, document: JSON.parse(row.document) as JsonObject },
  ...{ createdMs: row.created_ms, updatedMs: row.updated_ms },
});

/** Clients over an engine. */
export class SqlClients implements ClientRecords {
  constructor(private readonly queries: Queries) {}

  async insert(client: ClientSaid): Promise<'inserted' | 'exists'> {
    const now = this.queries.now();
    const insertion = this.queries.db
      .insertInto('clients')
      .values({ name: client.name, ...saidBy(client), created_ms: now, updated_ms: now })
      .onConflict((on) => on.column('name').doNothing());
    const isNew = await changeOne(this.queries, told(client.name), mustHit(insertion));
    return isNew === null ? 'exists' : 'inserted';
  }

  async replace(client: ClientSaid): Promise<ClientRow | null> {
    const update = this.queries.db
      .updateTable('clients')
      .set({ ...saidBy(client), updated_ms: this.queries.now() })
      .where('name', '=', client.name)
      .returningAll();
    const changed = await changeOne(this.queries, told(client.name), mustHit(update));
    return changed === null ? null : clientOf(changed.rows[0] as unknown as ClientTable);
  }

  async all(): Promise<readonly ClientRow[]> {
    const query = this.queries.db.selectFrom('clients').selectAll().orderBy('name');
    return (await this.queries.read(query)).map(clientOf);
  }

  async remove(name: string): Promise<boolean> {
    const removal = this.queries.db.deleteFrom('clients').where('name', '=', name);
    return (await changeOne(this.queries, told(name), mustHit(removal))) !== null;
  }
}

const told = (name: string) => ({ kind: 'client', ref: name }) as const;

const saidBy = ({ passwordHash, document }: ClientSaid) => ({
  ...{ password_hash: passwordHash, document: JSON.stringify(document) },
});
