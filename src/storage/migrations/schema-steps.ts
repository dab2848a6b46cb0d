/**
 * What turns one version of the schema into the next, in SQL for both engines. A step that was published is never
 * changed: what is to be different is a new step at the end. Knows nothing of how and when they are run.
 */
import { firstSchema } from './0001-first.js';

/** Where the engines don't agree. */
export interface Words {
  readonly engine: 'sqlite' | 'postgres';
  readonly bytes: 'blob' | 'bytea';
  /** Text that sorts by its bytes. */
  readonly text: string;
  /** Ends a table that is kept by its primary key alone. */
  readonly flat: string;
}

/** The words of an engine. */
export const wordsOf = (engine: Words['engine']): Words =>
  engine === 'sqlite'
    ? { engine, bytes: 'blob', text: 'text', flat: ' without rowid' }
    : { engine, bytes: 'bytea', text: 'text collate "C"', flat: '' };

/** Version n is what stands after the first n steps. */
export const schemaSteps: readonly ((words: Words) => readonly string[])[] = [firstSchema];
/** The version that this program reads and writes. */
export const schemaVersion = schemaSteps.length;
