/** Two groups of sites and all others, on a pool that is parted by them, while gateways come and go: who saw which exit. */
import { at, crawl, exitsOf, patiently, startFleet, type ProcessFleet } from './fleet.js';
import { startSites } from './sites-log.js';
import type { Stage } from './stage.js';

const EXITS = 60;
const groups: Record<string, readonly string[]> = {
  shops: ['www.shop.example', 'shop.example', 'store.example'],
  news: ['news.example', 'm.news.example'],
  others: ['any.example', 'other.example'],
};

/** What the sites saw. */
export interface Parted {
  /** Addresses that came to sites of more than one group. */
  readonly shared: readonly string[];
  /** How many addresses came to each group. */
  readonly seen: Readonly<Record<string, number>>;
  readonly pages: number;
}

/**
 * One gateway more and one less, so many times, while crawlers go on.
 * @param leaving how the eldest leaves, in turn
 */
export async function partedSites(
  stage: Stage,
  sharing: string,
  leaving: readonly NodeJS.Signals[],
): Promise<Parted> {
  const site_groups = [
    { name: 'shops', sites: ['shop.example', 'store.example'] },
    { name: 'news', sites: ['news.example'] },
  ];
  const pool = { sharing, partition: 'by_site_group', site_groups };
  const fleet = await startFleet(stage, { gateways: 2, exits: await startSites(EXITS), pool });
  const urls = Object.values(groups).flatMap((sites) => sites.map((site) => `http://${site}/`));
  // A session that goes everywhere would take its exit along.
  const crawls = [{}, { session: 'one' }].map((how) =>
    crawl(stage, fleet, { requests: Infinity, atOnce: 2, urls, ...how }),
  );
  for (const [n, signal] of leaving.entries()) {
    const joined = await fleet.join();
    for (const each of crawls) await each.also(joined);
    await fleet.settled();
    await patiently('who joined to serve', async () => exitsOf(fleet, joined).size > 5);
    const eldest = at(fleet, n);
    for (const each of crawls) each.without(eldest);
    eldest.child.kill(signal);
    await eldest.ended;
    await fleet.settled();
  }
  for (const each of crawls) await each.end();
  return told(fleet);
}

function told({ exits: { uses } }: ProcessFleet): Parted {
  const seen: Record<string, number> = {};
  const groupsOf = new Map<string, number>();
  for (const [name, sites] of Object.entries(groups)) {
    const exits = new Set(uses.filter(({ site }) => sites.includes(site)).map(({ exit }) => exit));
    seen[name] = exits.size;
    for (const exit of exits) groupsOf.set(exit, (groupsOf.get(exit) ?? 0) + 1);
  }
  const shared = [...groupsOf].filter(([, count]) => count > 1).map(([exit]) => exit);
  return { shared, seen, pages: uses.length };
}
