/** The six ports of one store, made together: in memory, which is a fleet of one, or on Redis. */
import type { Clock } from '../core/clock.js';
import type { Random } from '../core/random.js';
import type { Secret } from '../core/secret.js';
import { MemoryBans } from './memory/bans.js';
import { MemoryLeases } from './memory/leases.js';
import { MemoryLimits } from './memory/limits.js';
import { MemoryMembers } from './memory/members.js';
import { MemoryPins } from './memory/pins.js';
import { MemoryTurns } from './memory/turns.js';
import type { Bans, Leases, Limits, Members, Pins, TellingLeases, TellingPins, Turns } from './ports.js';
import { RedisBans } from './redis/bans.js';
import type { RedisPlace } from './redis/client.js';
import { RedisKeys } from './redis/keys.js';
import { RedisLeases } from './redis/leases.js';
import { RedisLimits } from './redis/limits.js';
import { Link } from './redis/link.js';
import { RedisMembers } from './redis/members.js';
import { RedisPins } from './redis/pins.js';
import { loadScripts } from './redis/scripts.js';
import { RedisTurns } from './redis/turns.js';

/** All ports of a store. */
export interface Stores<P extends Pins = Pins> {
  readonly pins: P;
  readonly bans: Bans;
  readonly leases: Leases;
  readonly limits: Limits;
  readonly turns: Turns;
  readonly members: Members;
}

/** What every store is made of. */
export interface StoreParts {
  readonly clock: Clock;
  readonly random: Random;
  /** How long a word about a ban is remembered after its end. */
  readonly banKeepMs: number;
}

/** Where a Redis is and what our keys in it are called. */
export interface RedisAsk {
  readonly place: RedisPlace;
  readonly prefix: string;
  readonly secret: Secret;
}

/** Stores of this process. */
export function memoryStores({ clock, random, banKeepMs }: StoreParts): Stores {
  return {
    pins: new MemoryPins(clock),
    bans: new MemoryBans(clock, banKeepMs),
    leases: new MemoryLeases(clock, random),
    limits: new MemoryLimits(clock),
    turns: new MemoryTurns(clock, random),
    members: new MemoryMembers(clock),
  };
}

/** Stores on Redis, and the line to it, which is not started. */
export function redisStores(
  { place, prefix, secret }: RedisAsk,
  { clock, random, banKeepMs }: StoreParts,
): Stores<TellingPins> & {
  readonly leases: TellingLeases;
  readonly link: Link;
  readonly secretName: string;
} {
  const keys = new RedisKeys(prefix, secret, random);
  const link = new Link({
    ...{ place, clock, random, scripts: loadScripts() },
    channels: [keys.banChannel, keys.pinChannel, keys.wantedChannel],
    probeKey: (turn) => keys.probe(turn),
  });
  return {
    link,
    secretName: keys.secretName,
    pins: new RedisPins(link, keys),
    bans: new RedisBans(link, keys, { random, keepMs: banKeepMs }),
    leases: new RedisLeases(link, keys, random),
    limits: new RedisLimits(link, keys),
    turns: new RedisTurns(link, keys, random),
    members: new RedisMembers(link, keys),
  };
}
