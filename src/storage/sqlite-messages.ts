/** What the thread of a SQLite file is told and tells. */
import type { RefusedWhy, Statement, Step, UnitResult } from './executor.js';

/** How a thread opens the file. The writer makes and updates the tables; it comes first. */
export interface ThreadSetup {
  readonly path: string;
  readonly role: 'writer' | 'reader';
  /** How long it waits for another process that writes. */
  readonly busyMs: number;
}

export type ToThread =
  | { readonly kind: 'units'; readonly id: number; readonly units: readonly (readonly Step[])[] }
  | { readonly kind: 'read'; readonly id: number; readonly statement: Statement }
  | { readonly kind: 'backup'; readonly id: number; readonly path: string }
  | { readonly kind: 'close'; readonly id: number };

/** What the library said; the code is SQLite's. */
export interface Failed {
  readonly kind: 'failed';
  readonly code: string;
  readonly message: string;
}

export type Outcome = UnitResult | Failed;

export type FromThread =
  | { readonly kind: 'opened' }
  | { readonly kind: 'refused'; readonly why: RefusedWhy; readonly message: string }
  /** One outcome for each unit, in their order. */
  | { readonly kind: 'answer'; readonly id: number; readonly outcomes: readonly Outcome[] };
