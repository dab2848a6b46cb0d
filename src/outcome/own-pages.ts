/**
 * Whose word counts when two exits got the same suspect answer for one page. As a rule it is then the page's own. But
 * exits that a site has shut out agree as well: so an exit that was refused so often in a row that the site's own share of
 * refused pages doesn't explain it is no witness. Where everything is refused, to everybody, all are.
 */
import { dropEldest, touched } from '../core/eldest.js';

interface SitePages {
  /** Share of suspect answers, smoothed over the last ones. */
  share: number;
  /** Suspect answers in a row, by exit. */
  readonly inARow: Map<number, number>;
}

const MOST_SITES = 10_000;
const MOST_EXITS = 1000;
const WEIGHT = 0.03;
/** Of a site that refuses something for the first time nothing is known. */
const FIRST_SHARE = 0.5;
/** No site is trusted to refuse less of its pages than this. */
const LEAST_SHARE = 0.05;
/** Less likely than this, and something else is behind it. */
const ODD = 0.01;

/** Watches all sites that gave suspect answers; one for the process. Bounded: what is oldest goes first. */
export class OwnPages {
  readonly #sites = new Map<string, SitePages>();

  /** How many sites are watched. */
  get siteCount(): number {
    return this.#sites.size;
  }

  /** An exit got a good page. */
  good(site: string, exit: number): void {
    // Told of every good answer; most sites refuse nothing.
    if (this.#sites.size === 0) return;
    const pages = this.#sites.get(site);
    if (pages === undefined) return;
    pages.inARow.delete(exit);
    pages.share = Math.max(LEAST_SHARE, pages.share - WEIGHT * pages.share);
  }

  /** An exit got an answer that may be a block by its status alone. @returns whether it is a witness for the page */
  suspect(site: string, exit: number): boolean {
    const pages = touched(this.#sites, site, MOST_SITES, newSite);
    const inARow = (pages.inARow.get(exit) ?? 0) + 1;
    const isWitness = pages.share ** inARow >= ODD;
    pages.share += WEIGHT * (1 - pages.share);
    if (!pages.inARow.delete(exit) && pages.inARow.size >= MOST_EXITS) dropEldest(pages.inARow);
    pages.inARow.set(exit, inARow);
    return isWitness;
  }
}

function newSite(): SitePages {
  return { share: FIRST_SHARE, inARow: new Map() };
}
