/** The fleet as one process can know it: itself, and who else told this object. */
import type { Clock } from '../../core/clock.js';
import type { Member } from '../../facts/member.js';
import type { Members } from '../ports.js';

/** Members in a map. */
export class MemoryMembers implements Members {
  readonly #members = new Map<string, { readonly member: Member; readonly dueMs: number }>();

  constructor(private readonly clock: Clock) {}

  async announce(self: Member, ttlMs: number): Promise<readonly Member[]> {
    this.#members.set(self.id, { member: self, dueMs: this.clock.nowMs() + ttlMs });
    return this.list();
  }

  async leave(id: string): Promise<void> {
    this.#members.delete(id);
  }

  async list(): Promise<readonly Member[]> {
    const nowMs = this.clock.nowMs();
    for (const [id, { dueMs }] of this.#members) if (dueMs <= nowMs) this.#members.delete(id);
    const members = [...this.#members.values()].map(({ member }) => member);
    return members.sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}
