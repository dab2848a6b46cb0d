/**
 * `turnpike demo`: a small world on loopback, a crawl through the gateway, and the story of it. It checks what it
 * claims: exit code 0 means that all of it happened.
 */
import { join } from 'node:path';
import type { Clock } from '../core/clock.js';
import { systemClock } from '../core/clock.js';
import { Crawler } from './demo/crawler.js';
import { errors, metrics, totals } from './demo/errors-and-totals.js';
import { comingBack, rotation, sessions, throttling, tunnels } from './demo/scenes.js';
import { Stage } from './demo/stage.js';
import { Story, count, spell } from './demo/story.js';
import { buildWorld, SITE_PAGES, SITE_WINDOW_MS } from './demo/world.js';
import type { World } from './demo/world.js';
import { exitCodes } from './exit-codes.js';
import { processOutput } from './output.js';
import type { Output } from './output.js';
import { startTrouble } from './start-trouble.js';

/** What the demo can be told; tests hand in what is otherwise the process's. */
export interface DemoOptions {
  /** Keeps the world up after the crawl, until `until` resolves. */
  readonly stay: boolean;
  readonly output?: Output;
  readonly isColoured?: boolean;
  readonly clock?: Clock;
  /** Resolves when whoever stayed wants to go; Ctrl-C where not given. */
  readonly until?: () => Promise<void>;
}

/** Runs the demo. Exit code 0 when everything that it claims happened, 1 when something did not, 2 when it could not begin. */
export async function runDemo(options: DemoOptions): Promise<number> {
  const { output = processOutput, clock = systemClock } = options;
  const story = new Story(output, options.isColoured ?? (process.stdout.isTTY && process.stdout.hasColors()));
  let world: World;
  try {
    world = await buildWorld(clock);
  } catch (error) {
    output.tell(`turnpike demo: can not start: ${startTrouble(error)}`);
    if (isWithoutLoopbackNet(error)) output.tell(LOOPBACK_HINT);
    return exitCodes.notStarted;
  }
  try {
    await crawl(world, story, clock);
    if (options.stay) await stayIn(world, story, options.until ?? interrupted);
  } finally {
    await world.close();
  }
  return story.failures.length === 0 ? exitCodes.ok : exitCodes.failed;
}

const LOOPBACK_HINT =
  'The exits of the demo have addresses of their own, 127.31.0.11 to 127.31.0.17. Linux has them by itself;\n' +
  'on macOS add each first (sudo ifconfig lo0 alias 127.31.0.11 and so on), or run the demo in a container.';

function isWithoutLoopbackNet(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRNOTAVAIL';
}

async function crawl(world: World, story: Story, clock: Clock): Promise<void> {
  const startedMs = clock.nowMs();
  const crawler = new Crawler(world.proxy);
  const stage = new Stage(world, crawler, story, clock);
  introduce(world, story);
  try {
    await rotation(stage);
    await sessions(stage);
    await tunnels(stage);
    const rested = await throttling(stage);
    await errors(stage);
    if (rested !== null) await comingBack(stage, rested);
    await metrics(stage);
    totals(stage);
  } finally {
    crawler.close();
  }
  const { failures } = story;
  story.line();
  const took = spell(clock.nowMs() - startedMs);
  if (failures.length === 0) story.line(story.in('bold', `All of this happened, in ${took}.`));
  else story.line(story.in('red', `${count(failures.length, 'claim')} did not hold.`));
}

function introduce(world: World, story: Story): void {
  const { proxy, admin, siteUrl, exits, blockedExit } = world;
  story.line(story.in('bold', 'Turnpike demo: a small world on loopback, and a crawl through it'));
  story.line();
  story.line(`site     ${siteUrl}  a real HTTP server; blocks ${blockedExit.address}, gives an address`);
  story.line(`         at most ${SITE_PAGES} pages in ${spell(SITE_WINDOW_MS)}, then 429 with Retry-After`);
  story.line(`exits    ${exits.length} in proxies.txt; those that live are proxy-chain servers:`);
  for (const { name, address, remark } of exits)
    story.line(`         ${name}  ${address}  ${remark}`.trimEnd());
  story.line(
    `gateway  http://${proxy.host}:${proxy.port}  metrics http://${admin.host}:${admin.port}/metrics`,
  );
}

/** Prints what to play with, and waits. */
async function stayIn(world: World, story: Story, until: () => Promise<void>): Promise<void> {
  const { proxy, admin, siteUrl, folder } = world;
  const curl = `curl -i -x http://${proxy.host}:${proxy.port}`;
  story.chapter('The world stays up until Ctrl-C. In another terminal:');
  const lines = [
    ['each time by the next exit', `${curl} ${siteUrl}/page/1`],
    ['a session, by header', `${curl} -H 'X-Session-Id: mine' ${siteUrl}/cart`],
    ['a session, by user name', `${curl} -U me+session=mine:any ${siteUrl}/cart`],
    ['a tunnel', `${curl} -p ${siteUrl}/page/1`],
    ['why this exit', `${curl} -H 'X-Turnpike-Explain: on' ${siteUrl}/page/1`],
    ['an error', `${curl} http://10.0.0.1/`],
    ['metrics', `curl -s http://${admin.host}:${admin.port}/metrics | grep ^turnpike`],
    ['the access log', `tail -f ${join(folder, 'turnpike.log')}`],
    ['its configuration', `cat ${join(folder, 'turnpike.yaml')} ${join(folder, 'proxies.txt')}`],
  ];
  for (const [what = '', command = ''] of lines) {
    story.line(story.in('dim', `# ${what}`));
    story.line(command);
  }
  await until();
  story.line('\nclosing …');
}

function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
  });
}
