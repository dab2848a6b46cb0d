/**
 * Asks the servers of a shared state about themselves, for the launch check: what they say (INFO), their clocks, and the
 * ends of keys under our prefix. It writes nothing and judges nothing.
 */
import { Cluster, type Redis } from 'ioredis';
import type { Clock } from '../../core/clock.js';
import type { Random } from '../../core/random.js';
import { makeClient, type RedisClient, type RedisPlace } from './client.js';
import { faultOf } from './faults.js';
import type { RedisKeys } from './keys.js';
import { readPin } from './records.js';

/** What one server said. */
export interface NodeAnswers {
  readonly at: string;
  /** INFO, when nothing had been asked yet and a while later, and the time between the two. */
  readonly info: string;
  readonly later: { readonly info: string; readonly afterMs: number };
  readonly aheadMs: number;
  readonly keys: number;
  readonly endless: number;
  readonly sample: string | null;
  readonly pins: { readonly seen: number; readonly foreign: number };
}

/** What all said, or why they couldn't. */
export type Asked =
  | { readonly kind: 'away'; readonly code: string }
  | { readonly kind: 'there'; readonly nodes: readonly NodeAnswers[]; readonly isWide: boolean };

/** What asking needs. */
export interface AskParts {
  readonly place: RedisPlace;
  readonly prefix: string;
  readonly keys: RedisKeys;
  readonly clock: Clock;
  readonly random: Random;
}

const PATIENCE_MS = 3000;
/** So long nothing is asked, to see how busy a server is without us. */
const STILL_MS = 500;
const MAX_KEYS = 20_000;
const SCAN_COUNT = 1000;
const MAX_PINS = 200;
const CONNECTIONS = 6;

/** Asks all of them. Never rejects. */
export async function askNodes(parts: AskParts): Promise<Asked> {
  const { place, prefix, clock } = parts;
  const opened = await open(parts, place);
  if (opened.kind === 'away') return opened;
  const { client } = opened;
  try {
    const nodes = client instanceof Cluster ? client.nodes('master') : [client];
    const answers = await within(
      clock,
      PATIENCE_MS * 5,
      Promise.all(nodes.map((node) => askNode(node, parts))),
    );
    const isWide = await mayRead(client, `${prefix}-is-not-the-start-of-this`);
    return { kind: 'there', nodes: answers, isWide };
  } catch (error) {
    return { kind: 'away', code: codeOf(error) };
  } finally {
    client.disconnect();
  }
}

/** What some connections, one after the other, hear from the server they reach (INFO); in a cluster there are several. */
export async function askAgain(parts: AskParts): Promise<readonly string[]> {
  const heard: string[] = [];
  for (let n = 0; n < CONNECTIONS; n++) {
    const opened = await open(parts, parts.place);
    if (opened.kind === 'away') continue;
    heard.push(await opened.client.info('server').catch(() => ''));
    opened.client.disconnect();
  }
  return heard;
}

/** Whether a client without a login is served. */
export async function servesAnybody(parts: AskParts): Promise<boolean> {
  const opened = await open(parts, { ...parts.place, username: null, password: null });
  if (opened.kind === 'away') return false;
  const isServed = await mayRead(opened.client, parts.keys.probe(0));
  opened.client.disconnect();
  return isServed;
}

type Opened =
  { readonly kind: 'away'; readonly code: string } | { readonly kind: 'open'; readonly client: RedisClient };

async function open({ clock, random }: AskParts, place: RedisPlace): Promise<Opened> {
  const client = makeClient(place, random);
  let said = 'connection';
  client.on('error', (error: unknown) => (said = faultOf(error)));
  const ready = new Promise<void>((resolve, reject) => {
    client.once('ready', resolve);
    client.connect().catch(reject);
  });
  try {
    await within(clock, PATIENCE_MS, ready);
    return { kind: 'open', client };
  } catch (error) {
    client.disconnect();
    const code = codeOf(error);
    return { kind: 'away', code: code === 'timeout' || code === 'connection' ? said : code };
  }
}

async function mayRead(client: RedisClient, key: string): Promise<boolean> {
  try {
    await client.get(key);
    return true;
  } catch {
    return false;
  }
}

async function askNode(node: Redis, parts: AskParts): Promise<NodeAnswers> {
  const { clock } = parts;
  const info = await node.info();
  const startMs = clock.nowMs();
  await new Promise<void>((resolve) => void clock.after(STILL_MS, resolve));
  const later = { info: await node.info(), afterMs: clock.nowMs() - startMs };
  const beforeMs = clock.wallMs();
  const [seconds, micros] = await node.time();
  const aheadMs = Number(seconds) * 1000 + Number(micros) / 1000 - (beforeMs + clock.wallMs()) / 2;
  const at = `${node.options.host ?? '?'}:${node.options.port ?? '?'}`;
  return { at, info, later, aheadMs, ...(await lookAtKeys(node, parts)) };
}

type KeyAnswers = Pick<NodeAnswers, 'keys' | 'endless' | 'sample' | 'pins'>;

/** Looks at the first of our keys, in the order that Redis has them. */
async function lookAtKeys(node: Redis, { prefix, keys }: AskParts): Promise<KeyAnswers> {
  const found = { keys: 0, endless: 0, sample: null as string | null, pins: { seen: 0, foreign: 0 } };
  const pinStart = keys.pinPattern.slice(0, -1);
  let cursor = '0';
  do {
    const [next, some] = await node.scan(cursor, 'MATCH', `${prefix}:*`, 'COUNT', SCAN_COUNT);
    cursor = next;
    const ends = await Promise.all(some.map((key) => node.pttl(key)));
    found.keys += some.length;
    ends.forEach((ms, n) => {
      if (ms !== -1) return;
      found.endless++;
      found.sample ??= some[n] ?? null;
    });
    const pins = some.filter((key) => key.startsWith(pinStart)).slice(0, MAX_PINS - found.pins.seen);
    const values = await Promise.all(pins.map((key) => node.get(key).catch(() => null)));
    for (const value of values) {
      const record = readPin(value);
      if (record === null) continue;
      found.pins.seen++;
      if (keys.unseal(record.sealed) === null) found.pins.foreign++;
    }
  } while (cursor !== '0' && found.keys < MAX_KEYS);
  return found;
}

class Late extends Error {}

/** @throws Late when it takes too long; what was asked goes on */
function within<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(ms, () => reject(new Late()));
    work.then(resolve, reject).finally(() => timer.cancel());
  });
}

function codeOf(error: unknown): string {
  return error instanceof Late ? 'timeout' : faultOf(error);
}
