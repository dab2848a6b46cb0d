/**
 * G7 S8: everything fails, in every way that exits can, at more than 50 requests a second. Nobody waits beyond the
 * deadline, the outage is not amplified, and no POST of which a byte was written is sent again.
 */
import net from 'node:net';
import { expect, it } from 'vitest';
import { headFor } from '../support/ask.js';
import { crawlAtRate, type Shot } from '../support/crawl-load.js';
import { scrape, sumOf, tell } from '../support/process-figures.js';
import { startServe, type ServeProcess } from '../support/serve-process.js';
import { createStage } from '../support/stage.js';

const stage = createStage();
const PER_SECOND = 120;
const [WARM_SECONDS, SECONDS] = [12, 20];
/** Of the route; every third client names a shorter one. */
const [ROUTE_MS, OWN_MS] = [1500, 700];
const GRACE_MS = 100;

/**
 * What an exit does to a connection on which a request came. That a body stops is not among them: by then the answer
 * has begun, which is what the deadline is for, and timeouts.body_idle ends it.
 */
type Failing = (socket: net.Socket) => void;

const half = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n<html>half of it';
const ways: Readonly<Record<string, Failing>> = {
  resets: (socket) => socket.resetAndDestroy(),
  closes: (socket) => socket.end(),
  'says nothing': () => undefined,
  'cuts its head': (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-'),
  'cuts its body': (socket) => socket.end(half),
  'is unavailable': (socket) =>
    socket.write('HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\ndown'),
  'speaks something else': (socket) => socket.end('220 mail.example ESMTP\r\n'),
};

/** Exits that fail, and how often each marked POST reached one of them. */
async function startFailing(failing: Failing, posts: Map<string, number>): Promise<string> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      const mark = /^POST [^]*\r\nX-Mark: (\d+)\r\n/.exec(chunk.toString('latin1'))?.[1];
      if (mark !== undefined) posts.set(mark, (posts.get(mark) ?? 0) + 1);
      failing(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stage.keep({
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    },
  });
  return `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`;
}

interface Seen {
  readonly asked: number;
  readonly beyondMs: number[];
  readonly statuses: Map<number, number>;
}

function requestNo(n: number, marks: number): { head: string; deadlineMs: number; isPost: boolean } {
  const isOwn = n % 3 === 0;
  const fields = [`X-Mark: ${marks}`, ...(isOwn ? [`X-Turnpike-Timeout: ${OWN_MS / 1000}`] : [])];
  const isPost = n % 10 === 0;
  const options = isPost ? { method: 'POST', body: 'order', fields } : { fields };
  const head = headFor(`http://site-${n % 40}.example/page-${n}`, options);
  return { head: `${head}${options.body ?? ''}`, deadlineMs: isOwn ? OWN_MS : ROUTE_MS, isPost };
}

let marks = 0;

/** Requests at a fixed rate for so long, whatever becomes of them, until the last is answered. */
async function storm({ port }: ServeProcess, seconds: number): Promise<Seen> {
  const beyondMs: number[] = [];
  const statuses = new Map<number, number>();
  const shot = (nth: number): Shot => {
    const { head, deadlineMs, isPost } = requestNo(nth, marks++);
    return {
      head,
      // What is refused before its body was read closes the connection.
      isLast: isPost,
      onAnswer: (answer, ms) => {
        beyondMs.push(ms - deadlineMs);
        const status = answer?.status ?? 0;
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      },
    };
  };
  const asked = await crawlAtRate({ port, perSecond: PER_SECOND, seconds, shot });
  return { asked, beyondMs, statuses };
}

const attemptsOf = async (gateway: ServeProcess): Promise<number> =>
  sumOf(await scrape(gateway), 'turnpike_attempts_total');

it.each([
  // All exits stay in use and no site is found down, so that only budget and deadline hold the tries back.
  ['with everything tried', { bans: { max_ejected: 0 }, guard: { enabled: false } }],
  ['as it comes', {}],
])('an outage at 120 requests a second, %s', async (what, config) => {
  const posts = new Map<string, number>();
  const urls = await Promise.all(
    Object.values(ways).flatMap((failing) => [startFailing(failing, posts), startFailing(failing, posts)]),
  );
  const gateway = stage.keep(
    await startServe(urls, {
      timeouts: { exchange: `${ROUTE_MS}ms`, first_byte: '600ms', acquire: '500ms' },
      detection: { hold: '400ms' },
      log: { level: 'error' },
      ...config,
    }),
  );
  await storm(gateway, WARM_SECONDS);
  const before = await attemptsOf(gateway);
  const { asked, beyondMs, statuses } = await storm(gateway, SECONDS);
  const attempts = (await attemptsOf(gateway)) - before;
  const late = beyondMs.filter((ms) => ms > GRACE_MS).length;
  const again = [...posts.values()].filter((count) => count > 1).length;
  tell(`outage ${what}`, {
    requests: asked,
    'tries per request': (attempts / asked).toFixed(3),
    'beyond the deadline by more than 100 ms': late,
    'the latest, ms beyond': Math.max(...beyondMs),
    'POSTs that reached an exit': posts.size,
    'sent again': again,
    statuses: [...statuses].map(([status, count]) => `${status}×${count}`).join(' '),
  });
  expect([beyondMs.length, statuses.get(0) ?? 0]).toEqual([asked, 0]);
  expect(late).toBe(0);
  expect(attempts).toBeLessThanOrEqual(1.2 * asked);
  expect([posts.size > 0 || what === 'as it comes', again]).toEqual([true, 0]);
});
