import { afterAll, afterEach, beforeAll } from 'vitest';
import { systemRandom } from '../../src/core/random.js';
import { RedisBans } from '../../src/state/redis/bans.js';
import { RedisLeases } from '../../src/state/redis/leases.js';
import { RedisLimits } from '../../src/state/redis/limits.js';
import { RedisMembers } from '../../src/state/redis/members.js';
import { RedisPins } from '../../src/state/redis/pins.js';
import { RedisTurns } from '../../src/state/redis/turns.js';
import { connected, makeLink, passRedisMs, singleAt, startRedis } from '../support/real-redis.js';
import type { RealRedis, TestLink } from '../support/real-redis.js';
import { bansContract, KEEP_MS } from './bans.js';
import { leasesContract } from './leases.js';
import { limitsContract } from './limits.js';
import { membersContract } from './members.js';
import { pinsContract } from './pins.js';
import { turnsContract } from './turns.js';
import type { UnderTest } from './under-test.js';

let redis: RealRedis;
const links: TestLink[] = [];

beforeAll(async () => {
  redis = await startRedis();
});
afterEach(() => {
  for (const { link } of links.splice(0)) link.close();
});
afterAll(() => redis.close());

const onRedis =
  <T>(make: (line: TestLink) => T) =>
  async (): Promise<UnderTest<T>> => {
    await redis.admin.flushall();
    const line = await connected(makeLink(singleAt(redis.port), { isShifted: true, isPatient: true }));
    links.push(line);
    return { store: make(line), passMs: (ms) => passRedisMs(redis.admin, ms) };
  };

const name = 'redis';
pinsContract(
  name,
  onRedis(({ link, keys }) => new RedisPins(link, keys)),
);
bansContract(
  name,
  onRedis(({ link, keys }) => new RedisBans(link, keys, { random: systemRandom, keepMs: KEEP_MS })),
);
leasesContract(
  name,
  onRedis(({ link, keys }) => new RedisLeases(link, keys, systemRandom)),
);
limitsContract(
  name,
  onRedis(({ link, keys }) => new RedisLimits(link, keys)),
);
turnsContract(
  name,
  onRedis(({ link, keys }) => new RedisTurns(link, keys, systemRandom)),
);
membersContract(
  name,
  onRedis(({ link, keys }) => new RedisMembers(link, keys)),
);
