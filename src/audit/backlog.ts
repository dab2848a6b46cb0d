/** Numbered records of the own chain that not every sink has taken; bounded. */
import type { AuditRow } from '../storage/ports.js';

/** Records in a row, by their place in the chain. */
export class AuditBacklog {
  private rows: AuditRow[] = [];
  /** Place of the first one that is kept. */
  first = 1;
  /** Hash of the record before that. */
  hashBefore = '';

  /** Place of the last one; one less than `first` where none is kept. */
  get last(): number {
    return this.first + this.rows.length - 1;
  }

  get size(): number {
    return this.rows.length;
  }

  add(row: AuditRow): void {
    this.rows.push(row);
  }

  /** Records from place `n` on, at most so many. */
  from(n: number, most: number): readonly AuditRow[] {
    const at = n - this.first;
    return this.rows.slice(at, at + most);
  }

  /** The record in this place; null where it isn't kept any more. */
  at(n: number): AuditRow | null {
    return this.rows[n - this.first] ?? null;
  }

  /** Forgets those up to and with place `n`. */
  dropTo(n: number): void {
    const gone = this.rows.splice(0, Math.max(0, n - this.first + 1));
    const last = gone.at(-1);
    if (last === undefined) return;
    this.hashBefore = last.hash;
    this.first = last.n + 1;
  }
}
