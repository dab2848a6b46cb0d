/**
 * One world in a process of its own: site, exits and crawlers. Says where its exits are, is told where the gateway is,
 * crawls, and prints what came of it as JSON on its channel.
 */
import { articleBroker } from './article-broker.js';
import { crawl, getThrough, type GetPage, type Harvest } from './crawlers.js';
import { startExits, type Exits } from './exits.js';
import { knowingChooser } from './knowing.js';
import { YIELD_SCENARIOS } from './scenarios.js';
import { SimulatedSite } from './site.js';

/** What a world is told at its start. */
export interface WorldAsk {
  readonly scenario: string;
  /** From 1; picks its addresses. */
  readonly world: number;
  readonly seconds: number;
}

/** Who chooses exits. */
export type Chooser =
  | { readonly kind: 'gateway'; readonly port: number }
  | { readonly kind: 'knowing' }
  | { readonly kind: 'article'; readonly redisPort: number };

/** Where the exits are. */
export interface WorldReady {
  readonly addresses: readonly string[];
  readonly port: number;
}

/** What came of the crawl. */
export interface WorldResult {
  readonly halves: readonly [Harvest, Harvest];
  /** Requests that reached the site, and connections to dead exits. */
  readonly attempts: number;
  readonly siteGood: number;
  /** Of the article's broker: proxies still in its set. */
  readonly left: number | null;
}

const ask = JSON.parse(process.argv[2] ?? 'null') as WorldAsk;
const scenario = YIELD_SCENARIOS.find(({ name }) => name === ask.scenario);
if (scenario === undefined) throw new Error(`no scenario ${ask.scenario}`);
const site = new SimulatedSite(scenario);
await new Promise<void>((resolve) => site.server.listen(0, '127.0.0.1', 1024, resolve));
const address = site.server.address();
const base = `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`;
const exits = await startExits(scenario, ask.world);
process.on('message', (chooser: Chooser) => {
  void run(chooser).then((result) => process.send?.(result, () => process.exit(0)));
});
process.on('disconnect', () => process.exit(1));
process.send?.({ addresses: exits.addresses, port: exits.port } satisfies WorldReady);

async function run(chooser: Chooser): Promise<WorldResult> {
  const { getPage, left } = await waysOf(chooser, exits);
  if (scenario?.hasOutage === true) {
    const thirdMs = (ask.seconds * 1000) / 3;
    site.downBetween(performance.now() + thirdMs, performance.now() + 2 * thirdMs);
  }
  const halves = await crawl(getPage, base, ask.seconds);
  const { good, blocked, down } = site.counts;
  return { halves, attempts: good + blocked + down + exits.deadTries(), siteGood: good, left: await left() };
}

async function waysOf(
  chooser: Chooser,
  all: Exits,
): Promise<{ getPage: GetPage; left: () => Promise<number | null> }> {
  const unknown = (): Promise<null> => Promise.resolve(null);
  switch (chooser.kind) {
    case 'gateway':
      return { getPage: (url) => getThrough({ host: '127.0.0.1', port: chooser.port }, url), left: unknown };
    case 'knowing': {
      const slow = new Set(scenario?.slowMs === 0 ? [] : all.addresses.slice(0, 1));
      return { getPage: knowingChooser(site, all, slow), left: unknown };
    }
    case 'article':
      return articleBroker(all, chooser.redisPort);
  }
}
