import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/core/random.js';
import { OwnPages } from '../../src/outcome/own-pages.js';

const SITE = 'shop.example';

function served(pages: OwnPages, count: number, exit = 1): void {
  for (let n = 0; n < count; n++) pages.good(SITE, exit);
}

describe('N3 whose word counts when two exits get the same suspect answer', () => {
  /** Of this site it is known that nearly all its pages are good. */
  function knownSite(): OwnPages {
    const pages = new OwnPages();
    pages.suspect(SITE, 99);
    served(pages, 200, 99);
    return pages;
  }

  it('an exit is a witness for one page, and for no second one in a row', () => {
    const pages = knownSite();
    expect([pages.suspect(SITE, 1), pages.suspect(SITE, 1)]).toEqual([true, false]);
    expect(pages.suspect('other.example', 1)).toBe(true);
  });

  it('a good page makes it a witness again', () => {
    const pages = knownSite();
    pages.suspect(SITE, 1);
    pages.good(SITE, 1);
    expect(pages.suspect(SITE, 1)).toBe(true);
  });

  it.each(['a site of which little is known', 'one that refuses everything to everybody'])(
    '%s: all are witnesses',
    (what) => {
      const pages = new OwnPages();
      const rounds = what.startsWith('one') ? 20 : 1;
      for (let round = 0; round < rounds; round++)
        for (let exit = 0; exit < 10; exit++) pages.suspect(SITE, exit);
      expect([pages.suspect(SITE, 1), pages.suspect(SITE, 2), pages.suspect(SITE, 77)]).toEqual([
        true,
        true,
        true,
      ]);
    },
  );

  it('B07 half of its pages are its own, in whatever order: so nearly all are witnesses', () => {
    const random = seededRandom(3);
    const pages = new OwnPages();
    let odd = 0;
    for (let n = 0; n < 2000; n++) {
      const exit = random.below(4);
      if (random.below(2) === 0) pages.good(SITE, exit);
      else if (!pages.suspect(SITE, exit)) odd++;
    }
    expect(odd).toBeLessThan(40);
  });

  it('knows only so many sites, and so many exits of each', () => {
    const pages = knownSite();
    pages.suspect(SITE, 0);
    for (let exit = 1; exit < 1100; exit++) pages.suspect(SITE, exit);
    expect(pages.siteCount).toBe(1);
    for (let n = 0; n < 10_050; n++) pages.suspect(`site${n}.example`, 1);
    expect(pages.siteCount).toBe(10_000);
  });

  it('a good page of a site that it does not know changes nothing', () => {
    const pages = new OwnPages();
    pages.suspect(SITE, 1);
    pages.good('other.example', 1);
    expect(pages.siteCount).toBe(1);
  });
});
