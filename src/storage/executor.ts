/**
 * How statements reach an engine: one read, or a unit that is done whole or not at all. No transaction stays open while
 * this process thinks, so that nothing else waits for it. Knows no record and no engine.
 */

/** What a statement takes and what a row gives. */
export type SqlValue = null | number | string | Buffer;
/** A row as the engine gives it, by the names of its columns. */
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** SQL with its values. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
}

/** One statement of a unit. */
export interface Step extends Statement {
  /** Whether the unit is undone when this step finds or changes no row. */
  readonly mustHit: boolean;
}

/** What a step found or changed. */
export interface StepResult {
  readonly rows: readonly SqlRow[];
  readonly count: number;
}

/** A unit was done, or is undone since this step hit nothing. */
export type UnitResult =
  | { readonly kind: 'done'; readonly results: readonly StepResult[] }
  | { readonly kind: 'missed'; readonly step: number };

/** One engine. Everything rejects with StorageAway in bounded time where it can't be done. */
export interface Executor {
  read(statement: Statement): Promise<readonly SqlRow[]>;
  /** Durable once it resolves with `done`. */
  unit(steps: readonly Step[]): Promise<UnitResult>;
  /** Writes a whole copy to a new file. @throws {StorageRefused} where the engine has its own way */
  backup(path: string): Promise<void>;
  /** Ends what is under way, then lets go of the engine. */
  close(): Promise<void>;
}

/** Why a store can't be used until somebody mends it. */
export type RefusedWhy =
  | 'not_ours'
  | 'corrupt'
  | 'newer_schema'
  | 'not_writable'
  | 'locked'
  | 'no_such_place'
  | 'login_refused'
  | 'no_backup'
  | 'unfit';

/** A store that can't be used, with a message that says what to do. Waiting doesn't mend it, unlike StorageAway. */
export class StorageRefused extends Error {
  override readonly name = 'StorageRefused';

  constructor(
    readonly why: RefusedWhy,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
