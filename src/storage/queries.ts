/**
 * Builds SQL and never runs it: Kysely knows the tables and the engine's grammar, the Executor runs what comes out.
 * What the engines do differently stands here, in one place.
 */
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
  type Compilable,
  type Dialect,
  type RawBuilder,
} from 'kysely';
import type { Clock } from '../core/clock.js';
import type { Executor, SqlValue, Statement, Step } from './executor.js';
import type { Tables } from './tables.js';

export type Engine = 'sqlite' | 'postgres';

const dialects: Readonly<Record<Engine, Dialect>> = {
  sqlite: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
  postgres: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
};

/** A whole number as both engines type it. */
export const whole = (value: number): RawBuilder<number> => sql<number>`cast(${Math.round(value)} as bigint)`;

/** What may be a value: the driver of SQLite ends the process when it is given anything else. */
function valueOf(value: unknown): SqlValue {
  if (value === null || typeof value === 'string' || Buffer.isBuffer(value)) return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new TypeError(`no value for a database: ${typeof value}`);
}

/** A query as the Executor takes it. */
export function statementOf(query: Compilable): Statement {
  const { sql: text, parameters } = query.compile();
  return { sql: text, parameters: parameters.map(valueOf) };
}

/** A step of a unit. */
export const step = (query: Compilable): Step => ({ ...statementOf(query), mustHit: false });
/** A step that undoes the unit where it finds or changes nothing. */
export const mustHit = (query: Compilable): Step => ({ ...statementOf(query), mustHit: true });

/** What the records are written with. */
export class Queries {
  readonly db: Kysely<Tables>;

  constructor(
    readonly engine: Engine,
    readonly executor: Executor,
    private readonly clock: Clock,
  ) {
    this.db = new Kysely<Tables>({ dialect: dialects[engine] });
  }

  /** The store's time, which stands still within a unit. */
  now(): RawBuilder<number> {
    return this.engine === 'sqlite' ? whole(this.clock.wallMs()) : sql<number>`turnpike_now_ms()`;
  }

  /** The store's time and so much more. */
  in(ms: number, now = this.now()): RawBuilder<number> {
    return sql<number>`(${now} + ${whole(ms)})`;
  }

  /** What a SELECT ends with to lock its rows until the unit is done; SQLite has one writer at a time anyway. */
  lock(): RawBuilder<unknown> {
    return this.engine === 'sqlite' ? sql`` : sql`for no key update`;
  }

  /** SQL that Kysely has no words for. */
  raw<Row>(text: RawBuilder<Row>): Compilable<Row> {
    return { compile: () => text.compile(this.db) };
  }

  /** Runs a query; its rows are what Kysely says they are. */
  async read<Row>(query: Compilable<Row>): Promise<readonly Row[]> {
    return (await this.executor.read(statementOf(query))) as readonly Row[];
  }

  /** Runs one write. Returns how many rows it changed. */
  async write(query: Compilable): Promise<number> {
    const result = await this.executor.unit([step(query)]);
    return result.kind === 'done' ? (result.results[0]?.count ?? 0) : 0;
  }
}

/** Rows for one statement: below the parameters that SQLite takes. */
const PORTION = 500;

/** In portions that fit into one statement. */
export function* portions<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += PORTION) yield items.slice(at, at + PORTION);
}
