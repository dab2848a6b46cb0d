/**
 * The line to Redis: runs scripts, none longer than 200 ms, and none while Redis counts as away. Decides by what came of
 * calls whether it does, and probes until it is back. It knows no keys and no values.
 */
import { Cluster } from 'ioredis';
import type { Redis } from 'ioredis';
import type { Clock, Timer } from '../../core/clock.js';
import type { Random } from '../../core/random.js';
import { breakerAfter, probeAfterMs, untried } from '../../facts/breaker.js';
import type { StoreOutcome } from '../../facts/breaker.js';
import { StoreAway } from '../ports.js';
import { makeClient } from './client.js';
import type { RedisClient, RedisPlace } from './client.js';
import { faultOf, isAwayCode } from './faults.js';
import { readReply } from './records.js';
import type { ScriptName, Scripts } from './scripts.js';

const CALL_MS = 200;
/** So many failed probes, and a connection that hangs on the way is given up for a new one. */
const PROBES_PER_CONNECTION = 4;
/** In a cluster so many places are probed together, to meet all of its primaries. */
const PROBES_OF_CLUSTER = 8;

/** What a line is made of. */
export interface LinkParts {
  readonly place: RedisPlace;
  readonly scripts: Scripts;
  readonly clock: Clock;
  readonly random: Random;
  /** Channels to hear. */
  readonly channels: readonly string[];
  /** A key for the n-th probe, so that probes of a cluster come round. */
  probeKey(turn: number): string;
}

/** What happens on the line. */
export interface LinkListener {
  /** Redis is away or back; `cause` is a code. */
  changed?(isUp: boolean, cause: string): void;
  /** Messages come from now on; whatever was said before must be read. */
  subscribed?(): void;
  heard?(channel: string, message: string): void;
}

/** Counts, for metrics. */
export interface LinkCounts {
  calls: number;
  timeouts: number;
  /** Replies that were errors, or of no known shape. */
  refusals: number;
  /** Values that were not ours. */
  ignored: number;
  outages: number;
}

/** A tagged reply. */
export type Reply = readonly [tag: string, ...rest: unknown[]];

/** Probes that fail before it is said that there is no Redis at the start. */
const PROBES_BEFORE_WORD = 3;

/** The line. */
export class Link {
  readonly counts: LinkCounts = { calls: 0, timeouts: 0, refusals: 0, ignored: 0, outages: 0 };
  readonly #listeners = new Set<LinkListener>();
  readonly #commands: RedisClient;
  readonly #messages: RedisClient;
  #breaker = untried;
  #cause = 'untried';
  /** The code of the last error that belonged to no call. */
  #said = 'connection';
  /** Whether anybody was told how things stand: who begins without Redis hears of it as of one that went away. */
  #isTold = false;
  #turn = 0;
  #probing: Timer | null = null;
  #isClosed = false;

  constructor(private readonly parts: LinkParts) {
    this.#commands = makeClient(parts.place, parts.random);
    this.#messages = makeClient(parts.place, parts.random);
    // Faults show in calls and in `close`; a login that is refused shows nowhere else.
    this.#commands.on('error', (error: unknown) => (this.#said = faultOf(error)));
    this.#messages.on('error', () => undefined);
    // A client that is told to leave while it still asks the Sentinels where to go ends for good.
    for (const client of this.#clients)
      client.on('end', () => {
        if (!this.#isClosed) connect(client);
      });
    this.#commands.on('close', () => this.#note('broken', 'closed'));
    this.#commands.on('ready', () => {
      if (this.#breaker.isOpen && !this.#isClosed) this.#probeSoon(0);
    });
    this.#messages.on('ready', () => void this.#subscribe());
    this.#messages.on('message', (channel: string, message: string) => {
      for (const each of this.#listeners) each.heard?.(channel, message);
    });
  }

  /** Whether calls are made now. */
  get isUp(): boolean {
    return !this.#breaker.isOpen && !this.#isClosed;
  }

  /** Why Redis counts as away, or did last. */
  get cause(): string {
    return this.#cause;
  }

  /** Tells what happens from now on. Returns what ends it. */
  listen(listener: LinkListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Begins to connect; never waits and never fails, since a gateway starts without Redis. */
  start(): void {
    this.#clients.forEach(connect);
    this.#probeSoon(probeAfterMs(this.parts.random.float()));
  }

  get #clients(): readonly RedisClient[] {
    return [this.#commands, this.#messages];
  }

  /** Runs a script. Rejects with {@link StoreAway} in any case but a reply. */
  async run(name: ScriptName, keys: readonly string[], args: readonly (string | number)[]): Promise<Reply> {
    if (!this.isUp) throw new StoreAway(this.#cause);
    const reply = readReply(await this.#attempt(() => this.#evaluate(name, keys, args)));
    if (reply !== null) return [reply.tag, ...reply.rest];
    this.counts.refusals++;
    throw new StoreAway('bad_reply');
  }

  /** Hands over the values of all keys like `pattern`, some at a time, until `visit` says no. For people only. */
  async scan(pattern: string, visit: (entries: readonly ScannedEntry[]) => boolean): Promise<void> {
    if (!this.isUp) throw new StoreAway(this.#cause);
    const commands = this.#commands;
    const nodes = commands instanceof Cluster ? commands.nodes('master') : [commands];
    for (const node of nodes) {
      let cursor = '0';
      do {
        const [next, keys] = await this.#attempt(() => node.scan(cursor, 'MATCH', pattern, 'COUNT', 1000));
        cursor = next;
        if (keys.length > 0 && !visit(await this.#attempt(() => valuesOf(node, keys)))) return;
      } while (cursor !== '0');
    }
  }

  /** Hangs up; nothing is called any more. */
  close(): void {
    this.#isClosed = true;
    this.#probing?.cancel();
    for (const client of this.#clients) client.disconnect();
  }

  async #evaluate(
    name: ScriptName,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    const { lua, sha } = this.parts.scripts[name];
    // A cluster is made with a queue, for nodes that are met for the first time; it must never hold what nobody sends.
    if (this.#commands.status !== 'ready') throw new Error(`the client is ${this.#commands.status}`);
    try {
      return await this.#commands.evalsha(sha, keys.length, ...keys, ...args);
    } catch (error) {
      if (faultOf(error) !== 'NOSCRIPT') throw error;
      return this.#commands.eval(lua, keys.length, ...keys, ...args);
    }
  }

  /** One call within its time; tells the breaker. */
  async #attempt<T>(call: () => Promise<T>): Promise<T> {
    this.counts.calls++;
    let timer: Timer | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = this.parts.clock.after(CALL_MS, () => resolve('late'));
    });
    try {
      const calling = call();
      calling.catch(() => undefined);
      const result = await Promise.race([calling.then((value) => ({ value })), late]);
      if (result === 'late') {
        this.counts.timeouts++;
        this.#note('timeout', 'timeout');
        throw new StoreAway('timeout');
      }
      this.#note('good', '');
      return result.value;
    } catch (error) {
      if (error instanceof StoreAway) throw error;
      const code = faultOf(error);
      if (isAwayCode(code)) this.#note('broken', code);
      else this.counts.refusals++;
      throw new StoreAway(code, { cause: error });
    } finally {
      timer?.cancel();
    }
  }

  #note(outcome: StoreOutcome, cause: string): void {
    const before = this.#breaker;
    if (before.isOpen && outcome === 'good') return;
    this.#breaker = breakerAfter(before, outcome);
    if (outcome !== 'good') this.#cause = cause;
    if (before.isOpen || !this.#breaker.isOpen || this.#isClosed) return;
    this.counts.outages++;
    // What hangs or is no primary any more is left; a new connection may find another.
    if (cause !== 'closed') this.#commands.disconnect(true);
    this.#tell();
    this.#probeSoon(probeAfterMs(this.parts.random.float()));
  }

  #tell(): void {
    this.#isTold = true;
    for (const each of this.#listeners) each.changed?.(this.isUp, this.#cause);
  }

  #probeSoon(ms: number): void {
    this.#probing?.cancel();
    this.#probing = this.parts.clock.after(ms, () => void this.#probe());
  }

  async #probe(): Promise<void> {
    const count = this.#commands instanceof Cluster ? PROBES_OF_CLUSTER : 1;
    const keys = Array.from({ length: count }, (_, n) => this.parts.probeKey(this.#turn * count + n));
    this.#turn++;
    try {
      await this.#attempt(() => Promise.all(keys.map((key) => this.#evaluate('probe', [key], []))));
      this.#breaker = breakerAfter(this.#breaker, 'good');
    } catch (error) {
      // The breaker was told; of an error that doesn't concern it, this is the word.
      this.#breaker = breakerAfter(this.#breaker, 'broken');
      if (error instanceof StoreAway) this.#cause = error.message;
      if (isAwayCode(this.#said) && this.#said !== 'connection') this.#cause = this.#said;
    }
    if (this.#isClosed) return;
    if (!this.#isTold && this.#breaker.isOpen && this.#turn >= PROBES_BEFORE_WORD) {
      this.counts.outages++;
      this.#tell();
    }
    if (!this.#breaker.isOpen) {
      this.#tell();
      return;
    }
    if (this.#breaker.count === 0 && this.#turn % PROBES_PER_CONNECTION === 0)
      this.#commands.disconnect(true);
    this.#probeSoon(probeAfterMs(this.parts.random.float()));
  }

  async #subscribe(): Promise<void> {
    try {
      await this.#messages.subscribe(...this.parts.channels);
      for (const each of this.#listeners) each.subscribed?.();
    } catch {
      // The next `ready` tries again; until then the poll is the truth.
    }
  }
}

/** Begins to connect. What goes wrong is told by `error` and `close`, and shows in calls. */
function connect(client: RedisClient): void {
  client.connect().catch(() => undefined);
}

/** A key that was found, its value where it is a text, and the time it has left. */
export interface ScannedEntry {
  readonly value: unknown;
  readonly leftMs: unknown;
}

async function valuesOf(node: Redis, keys: readonly string[]): Promise<ScannedEntry[]> {
  const pipeline = node.pipeline();
  for (const key of keys) pipeline.get(key).pttl(key);
  const replies = (await pipeline.exec()) ?? [];
  return keys.map((_, n) => ({ value: replies[2 * n]?.[1], leftMs: replies[2 * n + 1]?.[1] }));
}
