/**
 * What our keys in Redis are called. Keys that one script touches share a hash tag `{of:bucket}`, so that they live on
 * one node of a cluster, and the buckets are few and spread over the nodes. Whatever a client named is put in as an
 * HMAC under the fleet's secret: who reads Redis learns no session and can't aim at one.
 */
import { createHmac, hkdfSync } from 'node:crypto';
import { aeadOpen, aeadSeal, NONCE_BYTES } from '../../core/aead.js';
import type { Secret } from '../../core/secret.js';
import { bucketOf, LEASE_BUCKETS } from '../../facts/lease.js';
import type { Random } from '../../core/random.js';

const BUCKETS = LEASE_BUCKETS;
/** Bans are few, and every gateway asks each bucket for changes every two seconds. */
export const BAN_BUCKETS = 16;
const unbound = Buffer.alloc(0);

/** Names of keys and channels, and the secret behind them. */
export class RedisKeys {
  /** What the secret is called among gateways: the same for the same secret, and of no use to find it. */
  readonly secretName: string;
  readonly #hashKey: Buffer;
  readonly #sealKey: Buffer;

  constructor(
    private readonly prefix: string,
    secret: Secret,
    private readonly random: Random,
  ) {
    const derive = (label: string): Buffer =>
      Buffer.from(hkdfSync('sha256', secret.reveal(), 'turnpike', label, 32));
    this.#hashKey = derive('keys in redis');
    this.#sealKey = derive('names in redis');
    this.secretName = derive('name of the secret').toString('base64url').slice(0, 12);
  }

  /** Channel of words about bans. */
  get banChannel(): string {
    return `${this.prefix}:bans`;
  }

  /** Channel of pins that moved or went. */
  get pinChannel(): string {
    return `${this.prefix}:pins`;
  }

  /** Channel of exits that are leased and wanted. */
  get wantedChannel(): string {
    return `${this.prefix}:wanted`;
  }

  /** What stands for a text that a client chose. */
  hashed(text: string): string {
    return createHmac('sha256', this.#hashKey).update(text).digest('base64url').slice(0, 24);
  }

  /** The key of a pin. @param hashed what {@link hashed} made of the pin's key */
  pin(hashed: string): string {
    return `${this.prefix}:{pins:${bucketOf(hashed, BUCKETS)}}:${hashed}`;
  }

  /** What all keys of pins look like, for SCAN. */
  get pinPattern(): string {
    return `${this.prefix}:{pins:*`;
  }

  /** Words, order of changes, ends of remembrance, count and epoch. */
  bans(bucket: number): { words: string; order: string; ends: string; count: string } {
    const start = `${this.prefix}:{bans:${bucket}}`;
    return {
      words: `${start}:words`,
      order: `${start}:order`,
      ends: `${start}:ends`,
      count: `${start}:count`,
    };
  }

  /** The bucket of an exit's bans. */
  banBucket(exit: string): number {
    return bucketOf(exit, BAN_BUCKETS);
  }

  /** Count and epoch of the leases of a bucket. */
  leaseCount(pool: string, bucket: number): string {
    return `${this.prefix}:{${tagName(pool)}:${bucket}}:count`;
  }

  /** Leases of an exit. */
  leases(pool: string, bucket: number, exit: string): string {
    return `${this.prefix}:{${tagName(pool)}:${bucket}}:lease:${exit}`;
  }

  /** The key of a rate. */
  limit(key: string): string {
    return this.#hashedIn('limits', key);
  }

  /** The keys of the rates of a group and of its candidates. */
  groupLimits(group: string, candidates: readonly string[]): [string, ...string[]] {
    const start = this.#hashedIn('groups', group);
    return [start, ...candidates.map((candidate) => `${start}:${this.hashed(candidate)}`)];
  }

  /** The key of a turn. */
  turn(key: string): string {
    return this.#hashedIn('turns', key);
  }

  /** What members say of themselves, and until when they count. */
  get members(): readonly [string, string] {
    return [`${this.prefix}:{members:0}:values`, `${this.prefix}:{members:0}:ends`];
  }

  /** A key on one of a few places of a cluster, for probes. */
  probe(turn: number): string {
    return `${this.prefix}:{probe:${turn % BUCKETS}}`;
  }

  /** A name that only gateways of the fleet can read. */
  seal(text: string): string {
    const nonce = Buffer.from(this.random.hex(NONCE_BYTES), 'hex');
    const sealed = aeadSeal(this.#sealKey, nonce, Buffer.from(text, 'utf8'), unbound);
    return sealed.toString('base64url');
  }

  /** The name again; null for what the fleet didn't seal. */
  unseal(sealed: string): string | null {
    return aeadOpen(this.#sealKey, Buffer.from(sealed, 'base64url'), unbound)?.toString('utf8') ?? null;
  }

  #hashedIn(what: string, key: string): string {
    const hashed = this.hashed(key);
    return `${this.prefix}:{${what}:${bucketOf(hashed, BUCKETS)}}:${hashed}`;
  }
}

/** Names of pools stand in hash tags and must not end them; others' tags (`pins`, `bans` …) have no `pool-`. */
function tagName(pool: string): string {
  return `pool-${encodeURIComponent(pool)}`;
}
