import { FailureLimit } from '../../src/access/failure-limit.js';
import type { RulesParts } from '../../src/app/rules.js';
import { PoolKeeper } from '../../src/exits/pool-keeper.js';
import { noUpstreamLogins } from '../../src/exits/upstream-logins.js';
import { TimerWheel } from '../../src/core/timer-wheel.js';
import { systemClock } from '../../src/core/clock.js';

/** Parts of rules whose pools have neither lists on servers nor ones so long that a thread would read them. */
export function rulesParts(): RulesParts {
  let next = 0;
  return {
    failures: new FailureLimit(),
    stored: null,
    keeperInForce: () => null,
    newKeeper: () =>
      new PoolKeeper({
        intern: () => next++,
        hold: () => () => undefined,
        wheel: new TimerWheel(systemClock),
        emit: () => undefined,
        fetchList: () => Promise.resolve({ kind: 'failed', reason: 'there is no network' }),
        logins: noUpstreamLogins,
        workerFile: new URL('file:///no-thread.js'),
        onSwap: () => undefined,
      }),
  };
}
