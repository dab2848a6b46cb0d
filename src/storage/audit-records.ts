/** The audit over either engine: it only grows. */
import { sql, type SqlBool } from 'kysely';
import type { JsonObject } from './credential-ports.js';
import type { AuditQuery, AuditRecords, AuditRow } from './ports.js';
import { portions, step, type Queries } from './queries.js';
import type { AuditTable } from './tables.js';

const searched = ['action', 'actor', 'credential', 'token', 'target', 'task'] as const;

const auditOf = (row: AuditTable): AuditRow => {
  const { at_ms: atMs, detail, ...same } = row;
  return { ...same, atMs, detail: JSON.parse(detail) as JsonObject };
};

const columnsOf = ({ atMs, detail, ...same }: AuditRow): AuditTable => ({
  ...{ chain: same.chain, n: same.n, at_ms: Math.round(atMs), action: same.action, actor: same.actor },
  ...{ address: same.address, credential: same.credential, token: same.token, policy: same.policy },
  ...{ target: same.target, task: same.task, outcome: same.outcome, hash: same.hash },
  detail: JSON.stringify(detail),
});

/** Audit over an engine. */
export class SqlAudit implements AuditRecords {
  constructor(private readonly queries: Queries) {}

  /** Records that are there already, word by word, are there once: whoever got no answer may ask again. */
  async append(rows: readonly AuditRow[]): Promise<void> {
    if (rows.length === 0) return;
    const result = await this.queries.executor.unit(
      [...portions(rows)].map((portion) =>
        step(
          this.queries.db
            .insertInto('audit')
            .values(portion.map(columnsOf))
            .onConflict((on) => on.doNothing()),
        ),
      ),
    );
    const kept = result.kind === 'done' ? result.results.reduce((sum, { count }) => sum + count, 0) : 0;
    if (kept < rows.length) await this.mustStand(rows);
  }

  async search(query: AuditQuery): Promise<readonly AuditRow[]> {
    const { before, limit, fromMs, toMs } = query;
    let select = this.queries.db
      .selectFrom('audit')
      .selectAll()
      .orderBy('at_ms', 'desc')
      .orderBy('chain', 'desc')
      .orderBy('n', 'desc')
      .limit(limit);
    if (before !== null) {
      const { atMs, chain, n } = before;
      select = select.where(sql<SqlBool>`(at_ms, chain, n) < (${atMs}, ${chain}, ${n})`);
    }
    if (fromMs !== undefined) select = select.where('at_ms', '>=', fromMs);
    if (toMs !== undefined) select = select.where('at_ms', '<=', toMs);
    for (const name of searched) {
      const wanted = query[name];
      if (wanted !== undefined) select = select.where(name, '=', wanted);
    }
    return (await this.queries.read(select)).map(auditOf);
  }

  async read(chain: string, from: number, limit: number): Promise<readonly AuditRow[]> {
    const query = this.queries.db
      .selectFrom('audit')
      .selectAll()
      .where('chain', '=', chain)
      .where('n', '>=', from)
      .orderBy('n')
      .limit(limit);
    return (await this.queries.read(query)).map(auditOf);
  }

  /** Goes from chain to chain in the index, and not through all records. */
  async heads(): ReturnType<AuditRecords['heads']> {
    type Head = Pick<AuditTable, 'chain' | 'n' | 'hash' | 'at_ms'>;
    const query = sql<Head>`with recursive chains (chain) as (
        select min(chain) from audit
        union all
        select (select min(audit.chain) from audit where audit.chain > chains.chain) from chains
        where chains.chain is not null)
      select audit.chain, audit.n, audit.hash, audit.at_ms from chains
      join audit on audit.chain = chains.chain
        and audit.n = (select max(last.n) from audit as last where last.chain = chains.chain)
      order by audit.chain`;
    const rows = await this.queries.read(this.queries.raw(query));
    return rows.map(({ at_ms: atMs, ...head }) => ({ ...head, atMs }));
  }

  /** @throws where a place is taken by another record */
  private async mustStand(rows: readonly AuditRow[]): Promise<void> {
    for (const row of rows) {
      const [there] = await this.read(row.chain, row.n, 1);
      if (there?.n !== row.n || there.hash !== row.hash)
        throw new Error(`place ${row.n} of the audit chain ${row.chain} is taken by another record`);
    }
  }
}
