/** Rates in Redis: one number a rate, exact over all gateways. */
import type { Rate } from '../../facts/limit.js';
import { StoreAway } from '../ports.js';
import type { LimitHold, LimitPick, LimitPicked, Limits, LimitTake } from '../ports.js';
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
    const [tag, number] = await this.link.run(
      'limit-take',
      [this.keys.limit(key)],
      [...argsOf(rate), wanted],
    );
    const count = readWhole(number) ?? 0;
    return tag === 'taken'
      ? { granted: Math.min(count, wanted), retryAfterMs: 0 }
      : { granted: 0, retryAfterMs: boundedWait(count, rate) };
  }

  async pick({ group, rate, candidates, each }: LimitPick): Promise<LimitPicked> {
    const keys = this.keys.groupLimits(group, candidates);
    const [tag, ...rest] = await this.link.run('limit-pick', keys, [...argsOf(rate), ...argsOf(each)]);
    const numbers = rest.map((number) => readWhole(number) ?? 0);
    const waitsOf = (waits: readonly number[]): number[] => waits.map((ms) => boundedWait(ms, each));
    const [first = 0, ...others] = numbers;
    if (tag === 'group') return { kind: 'limited', which: tag, retryAfterMs: boundedWait(first, rate) };
    if (tag === 'candidates') return { kind: 'limited', which: tag, waits: waitsOf(numbers) };
    const candidate = candidates[first];
    if (tag !== 'picked' || candidate === undefined) throw new StoreAway('bad_reply');
    const hold = { group, rate, each, candidate, isAlone: false };
    return { kind: 'picked', hold, waits: waitsOf(others) };
  }

  async putBack({ group, rate, each, candidate }: LimitHold): Promise<void> {
    const [common, own] = this.keys.groupLimits(group, [candidate]);
    const backs = [
      { key: common, rate },
      { key: own, rate: each },
    ].flatMap(({ key, rate: one }) =>
      one === null || key === undefined ? [] : [{ key, stepMs: one.perMs / one.count }],
    );
    if (backs.length === 0) return;
    const keysOf = backs.map(({ key }) => key);
    await this.link.run(
      'limit-back',
      keysOf,
      backs.map(({ stepMs }) => stepMs),
    );
  }
}

const argsOf = (rate: Rate | null): [count: number, perMs: number, burst: number] =>
  rate === null ? [0, 0, 0] : [rate.count, rate.perMs, rate.burst ?? rate.count];

/** No wait is longer than what the rate can mean. */
const boundedWait = (ms: number, rate: Rate | null): number =>
  Math.min(Math.max(ms, 1), (rate?.perMs ?? 500) * 2);
