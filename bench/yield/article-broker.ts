/**
 * The broker of an article on sharing proxies between crawlers, as it is written there: read the whole set, shuffle, try up
 * to twenty, lock with SET NX EX; ban on 403, 429 and any exception; the task that should bring banned ones back never
 * finds any. On a real Redis.
 */
import { connect, type Socket } from 'node:net';
import { ERROR, getThrough, type GetPage } from './crawlers.js';
import type { Exits } from './exits.js';

const TRIES = 20;
const LOCK_S = 30;
const BAN_S = 3600;
/** The worker sleeps when no proxy is free. */
const NONE_FREE_MS = 100;

/** The few replies that the broker needs: simple strings, integers, bulk strings and arrays of them. */
type Reply = string | number | null | Reply[];

/** A pipelined connection that speaks RESP2. */
class Redis {
  readonly #waiting: ((reply: Reply) => void)[] = [];
  #held = '';

  constructor(private readonly socket: Socket) {
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.#held += text;
      for (let parsed = parse(this.#held, 0); parsed !== null; parsed = parse(this.#held, 0)) {
        this.#held = this.#held.slice(parsed.end);
        this.#waiting.shift()?.(parsed.reply);
      }
    });
  }

  ask(...words: string[]): Promise<Reply> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.socket.write(
        `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`,
        'latin1',
      );
    });
  }
}

function parse(text: string, at: number): { reply: Reply; end: number } | null {
  const lineEnd = text.indexOf('\r\n', at);
  if (lineEnd < 0) return null;
  const rest = text.slice(at + 1, lineEnd);
  const end = lineEnd + 2;
  switch (text.charAt(at)) {
    case ':':
      return { reply: Number(rest), end };
    case '$': {
      if (rest === '-1') return { reply: null, end };
      const bodyEnd = end + Number(rest);
      return text.length < bodyEnd + 2 ? null : { reply: text.slice(end, bodyEnd), end: bodyEnd + 2 };
    }
    case '*':
      return parseArray(text, end, Number(rest));
    default:
      return { reply: rest, end };
  }
}

function parseArray(text: string, from: number, length: number): { reply: Reply; end: number } | null {
  const items: Reply[] = [];
  let end = from;
  for (let n = 0; n < length; n++) {
    const item = parse(text, end);
    if (item === null) return null;
    items.push(item.reply);
    end = item.end;
  }
  return { reply: items, end };
}

/** The broker with its workers' `get`, and how many proxies are left in its set. */
export async function articleBroker(
  exits: Exits,
  redisPort: number,
): Promise<{ readonly getPage: GetPage; readonly left: () => Promise<number> }> {
  const socket = connect(redisPort, '127.0.0.1');
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  const redis = new Redis(socket);
  await redis.ask('FLUSHALL');
  await redis.ask('SADD', 'proxies', ...exits.addresses);
  const getFree = async (): Promise<string | null> => {
    const all = await redis.ask('SMEMBERS', 'proxies');
    const shuffled = Array.isArray(all) ? shuffle(all.map(String)) : [];
    for (const proxy of shuffled.slice(0, TRIES)) {
      if ((await redis.ask('EXISTS', `banned:${proxy}`)) === 1) continue;
      const lock = await redis.ask('SET', `lock:${proxy}`, 'server-1', 'NX', 'EX', String(LOCK_S));
      if (lock === 'OK') return proxy;
    }
    return null;
  };
  const getPage: GetPage = async (url) => {
    const proxy = await getFree();
    if (proxy === null) {
      await new Promise((resolve) => setTimeout(resolve, NONE_FREE_MS));
      return ERROR;
    }
    const got = await getThrough({ host: proxy, port: exits.port }, url);
    if (got.status === 403 || got.status === 429 || got.kind === 'error') {
      await redis.ask('SET', `banned:${proxy}`, '1', 'EX', String(BAN_S));
      await redis.ask('DEL', `lock:${proxy}`);
      await redis.ask('SREM', 'proxies', proxy);
    } else {
      await redis.ask('DEL', `lock:${proxy}`);
    }
    return got;
  };
  return { getPage, left: async () => Number(await redis.ask('SCARD', 'proxies')) };
}

function shuffle<Item>(items: Item[]): Item[] {
  for (let at = items.length - 1; at > 0; at--) {
    const other = Math.floor(Math.random() * (at + 1));
    [items[at], items[other]] = [items[other] as Item, items[at] as Item];
  }
  return items;
}
