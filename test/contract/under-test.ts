/** What a contract suite gets from each implementation. */

/** A store under test, and how to let its time pass. */
export interface UnderTest<T> {
  readonly store: T;
  passMs(ms: number): void | Promise<void>;
}

/** Makes a new, empty store. */
export type MakeStore<T> = () => UnderTest<T> | Promise<UnderTest<T>>;
