/** Rates in Redis: one number a rate, exact over all gateways. */
import type { Rate } from '../../facts/limit.js';
import type { Limits, LimitTake } from '../ports.js';
import type { RedisKeys } from './keys.js';
import type { Link } from './link.js';
import { readWhole } from './records.js';

/** The rates of a fleet. */
export class RedisLimits implements Limits {
  constructor(
    private readonly link: Link,
    private readonly keys: RedisKeys,
  ) {}

  async take(key: string, rate: Rate, wanted: number): Promise<LimitTake> {
    const args = [rate.count, rate.perMs, rate.burst ?? rate.count, wanted];
    const [tag, number] = await this.link.run('limit-take', [this.keys.limit(key)], args);
    const count = readWhole(number) ?? 0;
    return tag === 'taken'
      ? { granted: Math.min(count, wanted), retryAfterMs: 0 }
      : { granted: 0, retryAfterMs: Math.min(Math.max(count, 1), rate.perMs * 2) };
  }
}
