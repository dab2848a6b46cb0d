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
    const [tag, number] = await this.link.run('limit-pick', keys, [...argsOf(rate), ...argsOf(each)]);
    const count = readWhole(number) ?? 0;
    if (tag === 'group' || tag === 'candidates') {
      return { kind: 'limited', which: tag, retryAfterMs: boundedWait(count, tag === 'group' ? rate : each) };
    }
    const candidate = candidates[count];
    if (tag !== 'picked' || candidate === undefined) throw new StoreAway('bad_reply');
    return { kind: 'picked', hold: { group, rate, each, candidate, isAlone: false } };
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
