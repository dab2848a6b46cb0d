/** The fleet in Redis: what each gateway says of itself, and until when it counts. */
import type { Member } from '../../facts/member.js';
import type { Members } from '../ports.js';
import type { RedisKeys } from './keys.js';
import type { Link } from './link.js';
import { readMember, writeMember } from './records.js';

const MAX_MEMBERS = 1000;

/** The members of a fleet. */
export class RedisMembers implements Members {
  constructor(
    private readonly link: Link,
    private readonly keys: RedisKeys,
  ) {}

  announce(self: Member, ttlMs: number): Promise<readonly Member[]> {
    return this.#call([self.id, writeMember(self), Math.ceil(ttlMs), MAX_MEMBERS]);
  }

  async leave(id: string): Promise<void> {
    await this.link.run('member-leave', this.keys.members, [id]);
  }

  list(): Promise<readonly Member[]> {
    return this.#call(['', '', 0, MAX_MEMBERS]);
  }

  async #call(args: readonly (string | number)[]): Promise<readonly Member[]> {
    const [, ...rest] = await this.link.run('member-announce', this.keys.members, args);
    const members: Member[] = [];
    for (let n = 0; n + 1 < rest.length && members.length < MAX_MEMBERS; n += 2) {
      const member = readMember(rest[n], rest[n + 1]);
      if (member === null) this.link.counts.ignored++;
      else members.push(member);
    }
    return members.sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}
