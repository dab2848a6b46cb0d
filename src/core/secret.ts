/** A value that can be used and can't be printed. */
import { inspect } from 'node:util';

const MARK = '[secret]';

/** Wraps a password or key. Every way of turning it into text gives `[secret]`; only `reveal()` gives the value. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself. Call it where the value goes on the wire, nowhere else. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return MARK;
  }

  toJSON(): string {
    return MARK;
  }

  [inspect.custom](): string {
    return MARK;
  }
}
