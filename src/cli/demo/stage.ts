/** What every scene works with: the world, the crawler, the story, and names instead of addresses. */
import type { Clock } from '../../core/clock.js';
import type { Ask, Crawler, Page } from './crawler.js';
import { count } from './story.js';
import type { Story } from './story.js';
import type { World } from './world.js';

/** A page with what led to it. */
export interface Visit {
  readonly page: Page;
  /** Name of the exit that served it; `?` where no exit did. */
  readonly exit: string;
  /** For each try that failed, what it was: `exit-3 refused`. */
  readonly detours: readonly string[];
}

/** The stage. */
export class Stage {
  /** Pages that the crawler wanted and got, and those that it wanted. */
  pagesGood = 0;
  pagesAsked = 0;
  private readonly nameByAddress: ReadonlyMap<string, string>;

  constructor(
    readonly world: World,
    readonly crawler: Crawler,
    readonly story: Story,
    readonly clock: Clock,
  ) {
    this.nameByAddress = new Map(world.exits.map(({ address, name }) => [address, name]));
  }

  /** Gets a page of the site and notes how it came. */
  async visit(ask: Omit<Ask, 'url'> & { readonly path: string }): Promise<Visit> {
    const page = await this.crawler.get({ ...ask, url: `${this.world.siteUrl}${ask.path}` });
    this.pagesAsked++;
    if (page.status === 200) this.pagesGood++;
    const detours = this.world.chronicle
      .triesOf(page.requestId)
      .filter((attempt) => attempt.retried)
      .map((attempt) => `${this.nameOf(attempt.upstreamLabel)} ${worded(attempt.reason)}`);
    return { page, exit: this.nameOf(page.upstreamAddress), detours };
  }

  /** The name of the exit with this address or URL. */
  nameOf(addressOrUrl: string): string {
    const address = addressOrUrl.replace(/^\w+:\/\//, '').replace(/:\d+$/, '');
    return this.nameByAddress.get(address) ?? '?';
  }

  /** One line about a visit. */
  tell(what: string, { page, exit, detours }: Visit, remark = ''): void {
    const tries =
      detours.length === 0 ? '' : `${count(page.attempts, 'try', 'tries')}: ${detours.join(', ')}`;
    const extra = [tries, remark].filter((part) => part !== '').join('  ');
    const paint = page.status === 200 ? 'green' : 'red';
    this.story.line(
      `${what.padEnd(26)} ${this.story.in(paint, String(page.status))}  ${exit}${extra === '' ? '' : `  ${this.story.in('yellow', extra)}`}`,
    );
  }

  /** Waits. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.after(ms, resolve));
  }
}

/** `status_403` as people say it. */
function worded(reason: string): string {
  const status = /^status_(\d+)$/.exec(reason)?.[1];
  return status === undefined ? reason : `got ${status}`;
}
