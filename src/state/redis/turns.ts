/** Turns in Redis: one key a turn, which is there while somebody has it or it rests. */
import type { Random } from '../../core/random.js';
import type { Turn, TurnAnswer, Turns } from '../ports.js';
import type { RedisKeys } from './keys.js';
import type { Link } from './link.js';
import { readWhole } from './records.js';

/** Nothing is held or rests longer, whatever Redis says. */
const LONGEST_MS = 86_400_000;

/** The turns of a fleet. */
export class RedisTurns implements Turns {
  constructor(
    private readonly link: Link,
    private readonly keys: RedisKeys,
    private readonly random: Random,
  ) {}

  async take(key: string, holdMs: number): Promise<TurnAnswer> {
    const turn = { key, id: this.random.hex(16) };
    const args = [turn.id, bounded(holdMs, 1), LONGEST_MS];
    try {
      const [tag, wait] = await this.link.run('turn-take', [this.keys.turn(key)], args);
      if (tag === 'taken') return { kind: 'taken', turn };
      const waitMs = bounded(readWhole(wait) ?? 1, 1);
      return { kind: tag === 'resting' ? 'resting' : 'busy', waitMs };
    } catch (error) {
      // It may have been taken; nobody will use it.
      this.end(turn, 0).catch(() => undefined);
      throw error;
    }
  }

  async end({ key, id }: Turn, restMs: number): Promise<boolean> {
    const args = [id, bounded(restMs, 0)];
    const [tag] = await this.link.run('turn-end', [this.keys.turn(key)], args);
    return tag === 'ended';
  }
}

function bounded(ms: number, leastMs: number): number {
  return Math.min(Math.max(leastMs, Math.ceil(ms)), LONGEST_MS);
}
