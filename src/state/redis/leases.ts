/** Leases in Redis: by pool and bucket, the candidates of one bucket in one call. */
import type { Random } from '../../core/random.js';
import { leaseBucket, MAX_CANDIDATES } from '../../facts/lease.js';
import type { Lease, LeaseAsk, TellingLeases } from '../ports.js';
import type { RedisKeys } from './keys.js';
import type { Link } from './link.js';
import { whole } from './pins.js';
import { readWhole } from './records.js';
import type { ScriptName } from './scripts.js';

/** What a batch says of one lease. */
interface Named {
  readonly lease: Pick<Lease, 'pool' | 'exit' | 'keepMs'>;
  /** What the script wants to know of it. */
  readonly said: readonly (string | number)[];
}

const MAX_BATCH = 200;
const LONG_AGO_MS = 366 * 86_400_000;
/** An exit and a pool. */
const WANTED = /^([\w.:@-]{1,128}) ([\w.-]{1,64})$/;

/** The leases of a fleet. */
export class RedisLeases implements TellingLeases {
  constructor(
    private readonly link: Link,
    private readonly keys: RedisKeys,
    private readonly random: Random,
  ) {}

  async acquire(ask: LeaseAsk): Promise<Lease | null> {
    const byBucket = grouped(ask.candidates.slice(0, MAX_CANDIDATES), leaseBucket);
    for (const [bucket, exits] of byBucket) {
      const lease = await this.#acquireIn(bucket, exits, ask);
      if (lease !== null) return lease;
    }
    return null;
  }

  async renew(leases: readonly Lease[], ttlMs: number): Promise<readonly boolean[]> {
    const named = leases.map((lease) => ({ lease, said: nameOf(lease) }));
    return this.#batch('lease-renew', named, [whole(ttlMs)]);
  }

  async release(leases: readonly Lease[], usedAgoMs: readonly number[] = []): Promise<readonly boolean[]> {
    const named = leases.map((lease, n) => ({ lease, said: [...nameOf(lease), ago(usedAgoMs[n])] }));
    return this.#batch('lease-release', named, []);
  }

  listen(hear: (pool: string, exit: string) => void): () => void {
    return this.link.listen({
      heard: (channel, message) => {
        if (channel !== this.keys.wantedChannel) return;
        const [, exit, pool] = WANTED.exec(message) ?? [];
        if (exit === undefined || pool === undefined) this.link.counts.ignored++;
        else hear(pool, exit);
      },
    });
  }

  async #acquireIn(bucket: number, exits: readonly string[], ask: LeaseAsk): Promise<Lease | null> {
    const { pool, keepMs = 0 } = ask;
    const id = this.random.hex(16);
    const keys = [
      this.keys.leaseCount(pool, bucket),
      ...exits.map((exit) => this.keys.leases(pool, bucket, exit)),
    ];
    try {
      const wanted = ask.isWanted === true ? [this.keys.wantedChannel, `${exits[0]} ${pool}`] : ['', ''];
      const args = [id, whole(ask.ttlMs), ask.slots, this.random.hex(8), ...wanted, Math.ceil(keepMs)];
      const [tag, index, fence, epoch, usedAgo] = await this.link.run('lease-acquire', keys, args);
      const exit = exits[readWhole(index) ?? -1];
      const count = readWhole(fence);
      if (tag !== 'leased') return null;
      if (exit !== undefined && count !== null && typeof epoch === 'string')
        return { pool, exit, id, epoch, fence: count, keepMs, usedAgoMs: readWhole(usedAgo) };
      this.link.counts.ignored++;
    } catch (error) {
      // The lease may have been given; nobody will use it.
      const said = ['', `${id}:`, ago(undefined)];
      const lost = exits.map((exit) => ({ lease: { pool, exit, keepMs }, said }));
      this.#batch('lease-release', lost, []).catch(() => undefined);
      throw error;
    }
    return null;
  }

  async #batch(
    script: ScriptName,
    leases: readonly Named[],
    args: readonly number[],
  ): Promise<readonly boolean[]> {
    const isHeld = new Map<Named, boolean>();
    const groups = grouped(leases, ({ lease }) => this.keys.leaseCount(lease.pool, leaseBucket(lease.exit)));
    await Promise.all(
      [...groups].flatMap(([count, all]) =>
        batches(all).map(async (group) => {
          const keys = group.map(({ lease }) =>
            this.keys.leases(lease.pool, leaseBucket(lease.exit), lease.exit),
          );
          const keepMs = Math.ceil(group[0]?.lease.keepMs ?? 0);
          const said = group.flatMap((each) => each.said);
          const [, ...held] = await this.link.run(script, [count, ...keys], [...args, keepMs, ...said]);
          group.forEach((each, n) => isHeld.set(each, held[n] === 1));
        }),
      ),
    );
    return leases.map((each) => isHeld.get(each) === true);
  }
}

/** Epoch and name, as the scripts know a lease. */
function nameOf({ epoch, id, fence }: Lease): readonly [string, string] {
  return [epoch, `${id}:${fence}`];
}

/** Time since the last use; as long as matters where there was none. */
function ago(ms = LONG_AGO_MS): number {
  return Math.min(Math.max(0, Math.floor(ms)), LONG_AGO_MS);
}

function grouped<K, T>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

function batches<T>(items: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / MAX_BATCH) }, (_, n) =>
    items.slice(n * MAX_BATCH, (n + 1) * MAX_BATCH),
  );
}
