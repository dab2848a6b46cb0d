/** Words about bans in Redis: 16 buckets, each with its order of changes; messages for speed. */
import type { Random } from '../../core/random.js';
import { banKey } from '../ban-key.js';
import type { BanChanges, Bans, SharedBan } from '../ports.js';
import { BAN_BUCKETS, type RedisKeys } from './keys.js';
import type { Link, Reply } from './link.js';
import { readBan, readBanMessage, readWhole, reasonText } from './records.js';

const MAX_PER_BUCKET = 20_000;
const PAGE = 500;

/** How far one bucket was read. */
interface Place {
  readonly epoch: string;
  readonly place: number;
}

const start: Place = { epoch: '', place: 0 };

/** The bans of a fleet. */
export class RedisBans implements Bans {
  /** @param keepMs how long a word is remembered after its ban has ended */
  constructor(
    private readonly link: Link,
    private readonly keys: RedisKeys,
    private readonly parts: { readonly random: Random; readonly keepMs: number },
  ) {}

  async put(ban: SharedBan): Promise<SharedBan> {
    const keys = this.keys.bans(this.keys.banBucket(ban.exit));
    const field = banKey(ban);
    const reply = await this.link.run(
      'ban-put',
      [keys.words, keys.order, keys.ends, keys.count],
      [
        ...[
          field,
          ban.version,
          Math.max(0, Math.ceil(ban.leftMs)),
          ban.strikes,
          ban.by,
          reasonText(ban.reason),
        ],
        ...[this.parts.keepMs, this.keys.banChannel, this.parts.random.hex(8), MAX_PER_BUCKET],
      ],
    );
    if (reply[0] !== 'held') return ban;
    return this.#read(field, reply[1], readWhole(reply[2]) ?? 0) ?? ban;
  }

  async changes(since: string | null): Promise<BanChanges> {
    const places = readCursor(since);
    const read = await Promise.all(places.map((place, bucket) => this.#readBucket(bucket, place)));
    const isWhole = since === null || read.some(({ isAnew }) => isAnew);
    if (isWhole && since !== null) return this.changes(null);
    return {
      bans: read.flatMap(({ bans }) => bans),
      cursor: read.map(({ at }) => `${at.epoch}:${at.place}`).join(' '),
      isWhole,
    };
  }

  listen(hear: (ban: SharedBan) => void): () => void {
    return this.link.listen({
      heard: (channel, message) => {
        if (channel !== this.keys.banChannel) return;
        const ban = readBanMessage(message);
        if (ban === null) this.link.counts.ignored++;
        else hear(ban);
      },
    });
  }

  /** Page by page. Whether the count began anew counts only for a bucket that was known. */
  async #readBucket(bucket: number, from: Place): Promise<{ bans: SharedBan[]; at: Place; isAnew: boolean }> {
    const keys = this.keys.bans(bucket);
    const bans: SharedBan[] = [];
    let isAnew = false;
    for (let at = from; ;) {
      const reply = await this.link.run(
        'bans-since',
        [keys.words, keys.order, keys.count],
        [at.epoch, at.place, PAGE],
      );
      const page = this.#readPage(reply);
      bans.push(...page.bans);
      isAnew ||= page.isAnew && from.epoch !== '';
      at = page.at;
      if (!page.hasMore) return { bans, at, isAnew };
    }
  }

  #readPage([, epoch, isAnew, place, hasMore, nowMs, ...rest]: Reply): {
    bans: SharedBan[];
    at: Place;
    isAnew: boolean;
    hasMore: boolean;
  } {
    const bans: SharedBan[] = [];
    for (let n = 0; n + 1 < rest.length; n += 2) {
      const ban = this.#read(rest[n], rest[n + 1], readWhole(nowMs) ?? 0);
      if (ban !== null) bans.push(ban);
    }
    const at = { epoch: readEpoch(epoch), place: readWhole(place) ?? 0 };
    // A place that can't be read must not be asked for for ever.
    return { bans, at, isAnew: isAnew === '1', hasMore: hasMore === '1' && readWhole(place) !== null };
  }

  #read(field: unknown, value: unknown, nowMs: number): SharedBan | null {
    const ban = readBan(field, value, nowMs);
    if (ban === null) this.link.counts.ignored++;
    return ban;
  }
}

function readEpoch(epoch: unknown): string {
  return typeof epoch === 'string' && /^[0-9a-f]{1,32}$/.test(epoch) ? epoch : '';
}

function readCursor(cursor: string | null): Place[] {
  const parts = cursor?.split(' ') ?? [];
  return Array.from({ length: BAN_BUCKETS }, (_, bucket) => {
    const [epoch = '', place = ''] = parts[bucket]?.split(':') ?? [];
    return cursor === null ? start : { epoch, place: readWhole(place) ?? 0 };
  });
}
