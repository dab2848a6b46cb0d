/** How often credentials were given out, written to the store some at a time: `least_used` goes by it on all gateways. */
import type { CredentialRecords } from '../storage/credential-ports.js';
import { StorageAway } from '../storage/ports.js';

interface Use {
  readonly uses: number;
  readonly lastUsedMs: number;
}

/** Uses that wait to be written. */
export class UseCounts {
  #waiting = new Map<string, Use>();

  constructor(private readonly records: Pick<CredentialRecords, 'addUses'>) {}

  /** Notes a use of the credential with this id. */
  note(id: string, atMs: number): void {
    this.#waiting.set(id, { uses: this.waiting(id) + 1, lastUsedMs: atMs });
  }

  /** Uses that the store doesn't know yet. */
  waiting(id: string): number {
    return this.#waiting.get(id)?.uses ?? 0;
  }

  /** Writes what waits; what the store can't take now waits on. */
  async flush(): Promise<void> {
    const writing = this.#waiting;
    if (writing.size === 0) return;
    this.#waiting = new Map();
    try {
      await this.records.addUses(writing);
    } catch (error) {
      for (const [id, { uses, lastUsedMs }] of writing) {
        const since = this.#waiting.get(id);
        this.#waiting.set(id, {
          uses: uses + (since?.uses ?? 0),
          lastUsedMs: Math.max(lastUsedMs, since?.lastUsedMs ?? 0),
        });
      }
      if (!(error instanceof StorageAway)) throw error;
    }
  }
}
