/** The crawlers of a world: ask for pages at the wanted pace, each its next one after its last, and count what they get. */
import { request } from 'node:http';
import { CLIENT_DEADLINE_MS, WANTED_PER_S, WORKERS } from './scenarios.js';
import { KIND_FIELD } from './site.js';

/** What a crawler got for one page. */
export interface Got {
  readonly kind: 'good' | 'blocked' | 'down' | 'error';
  /** Whether the answer says itself that it is a block. */
  readonly isMarked: boolean;
  readonly status: number;
}

/** Gets one page, by whatever way. */
export type GetPage = (url: string) => Promise<Got>;

/** Pages of a stretch of time. */
export interface Harvest {
  requests: number;
  good: number;
  blocked: number;
  unmarked: number;
}

const MARKS = new Set(['blocked', 'suspect', 'throttled']);
export const ERROR: Got = { kind: 'error', isMarked: false, status: 0 };

/** GET through the proxy at this address, on a connection of its own. Never rejects. */
export function getThrough(
  proxy: { readonly host: string; readonly port: number },
  url: string,
): Promise<Got> {
  return new Promise((resolve) => {
    const asked = request(
      {
        ...proxy,
        path: url,
        headers: { host: new URL(url).host },
        agent: false,
        timeout: CLIENT_DEADLINE_MS,
      },
      (answer) => {
        const kind = answer.headers[KIND_FIELD];
        const verdict = answer.headers['x-turnpike-verdict'];
        answer.resume();
        answer.on('error', () => resolve(ERROR));
        answer.on('close', () => {
          const known = kind === 'good' || kind === 'blocked' || kind === 'down' ? kind : 'error';
          const isMarked = typeof verdict === 'string' && MARKS.has(verdict);
          resolve(answer.complete ? { kind: known, isMarked, status: answer.statusCode ?? 0 } : ERROR);
        });
      },
    );
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve(ERROR));
    asked.end();
  });
}

/** Crawls for so long. The two halves are counted apart: learning belongs to the first. */
export async function crawl(getPage: GetPage, base: string, seconds: number): Promise<[Harvest, Harvest]> {
  const halves: [Harvest, Harvest] = [emptyHarvest(), emptyHarvest()];
  const startMs = performance.now();
  const endMs = startMs + seconds * 1000;
  const middleMs = startMs + seconds * 500;
  let page = 0;
  const work = async (worker: number): Promise<void> => {
    const stepMs = (WORKERS * 1000) / WANTED_PER_S;
    let dueMs = startMs + (worker * 1000) / WANTED_PER_S;
    for (;;) {
      const waitMs = dueMs - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      if (performance.now() >= endMs) return;
      const got = await getPage(`${base}/product/${page++}`);
      // What comes after the end belongs to nobody's minute.
      if (performance.now() >= endMs) return;
      count(performance.now() < middleMs ? halves[0] : halves[1], got);
      dueMs = Math.max(dueMs + stepMs, performance.now());
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)));
  return halves;
}

function emptyHarvest(): Harvest {
  return { requests: 0, good: 0, blocked: 0, unmarked: 0 };
}

function count(harvest: Harvest, got: Got): void {
  harvest.requests++;
  if (got.kind === 'good') harvest.good++;
  if (got.kind !== 'blocked') return;
  harvest.blocked++;
  if (!got.isMarked) harvest.unmarked++;
}
