import { describe, expect, it } from 'vitest';
import { OwnPages } from '../../src/outcome/own-pages.js';

const SITE = 'shop.example';

function served(pages: OwnPages, count: number, exit = 1): void {
  for (let n = 0; n < count; n++) pages.good(SITE, exit);
}

describe('N3 whose word counts when two exits get the same suspect answer', () => {
  it('an exit is a witness for one page, and for no second one in a row', () => {
    const pages = new OwnPages();
    expect([pages.suspect(SITE, 1), pages.suspect(SITE, 2)]).toEqual([true, true]);
    expect([pages.suspect(SITE, 1), pages.suspect(SITE, 2)]).toEqual([false, false]);
    expect(pages.suspect('other.example', 1)).toBe(true);
  });

  it('a good page makes it a witness again', () => {
    const pages = new OwnPages();
    pages.suspect(SITE, 1);
    pages.good(SITE, 1);
    expect(pages.suspect(SITE, 1)).toBe(true);
  });

  it('where everything is refused to everybody, all are witnesses', () => {
    const pages = new OwnPages();
    for (let round = 0; round < 20; round++) for (let exit = 0; exit < 10; exit++) pages.suspect(SITE, exit);
    expect(pages.suspect(SITE, 77)).toBe(true);
    for (let exit = 0; exit < 10; exit++) pages.good(SITE, exit);
    expect([pages.suspect(SITE, 1), pages.suspect(SITE, 1), pages.suspect(SITE, 1)]).toEqual([
      true,
      true,
      true,
    ]);
  });

  it('a site with many refused pages of its own takes more in a row to be odd', () => {
    const pages = new OwnPages();
    const row = (): number => {
      let count = 0;
      while (count < 50 && pages.suspect(SITE, 9)) count++;
      pages.good(SITE, 9);
      return count;
    };
    const before = row();
    for (let n = 0; n < 30; n++) {
      pages.suspect(SITE, n);
      served(pages, 2, n);
    }
    expect(row()).toBeGreaterThan(before);
  });

  it('forgets a site that refuses nothing any more, and knows only so many', () => {
    const pages = new OwnPages();
    pages.suspect(SITE, 1);
    served(pages, 1);
    expect(pages.siteCount).toBe(0);
    for (let n = 0; n < 10_050; n++) pages.suspect(`site${n}.example`, 1);
    expect(pages.siteCount).toBe(10_000);
    for (let exit = 0; exit < 1100; exit++) pages.suspect(SITE, exit);
    expect(pages.suspect(SITE, 0)).toBe(true);
  });

  it('a good page of a site that it does not know changes nothing', () => {
    const pages = new OwnPages();
    pages.suspect(SITE, 1);
    pages.good('other.example', 1);
    expect(pages.siteCount).toBe(1);
  });
});
