/** The knowing chooser: sees the site's own state, so nothing can do better. The measure for all others. */
import { ERROR, getThrough, type GetPage } from './crawlers.js';
import { CLIENT_DEADLINE_MS } from './scenarios.js';
import type { Exits } from './exits.js';
import type { SimulatedSite } from './site.js';

/** Looks at the site's state this often while no exit would be served. */
const LOOK_MS = 5;

/** Sends each page by the living exit that has rested longest among those that the site would serve; else waits. */
export function knowingChooser(site: SimulatedSite, exits: Exits, slow: ReadonlySet<string>): GetPage {
  const resting = exits.addresses.filter((address) => !exits.isDead(address) && !slow.has(address));
  const underWay = new Set<string>();
  const take = (): string | undefined => {
    const nowMs = performance.now();
    const at = resting.findIndex((address) => !underWay.has(address) && site.wouldServe(address, nowMs));
    return at < 0 ? undefined : resting.splice(at, 1)[0];
  };
  return async (url) => {
    const giveUpMs = performance.now() + CLIENT_DEADLINE_MS;
    let address = take();
    while (address === undefined && performance.now() < giveUpMs) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      address = take();
    }
    if (address === undefined) return ERROR;
    underWay.add(address);
    resting.push(address);
    try {
      return await getThrough({ host: address, port: exits.port }, url);
    } finally {
      underWay.delete(address);
    }
  };
}
