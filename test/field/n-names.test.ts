/** N03: upstreams whose name does not resolve: the others serve, and the name is asked for again. */
import { describe, expect, it } from 'vitest';
import type { LookUp } from '../../src/open/resolver.js';
import { ask } from '../support/ask.js';
import { jumpingClock } from '../support/jumping-clock.js';
import { createStage } from '../support/stage.js';

const stage = createStage();

/** Names resolve to 127.0.0.1 as long as they are in the set. */
function resolving(names: ReadonlySet<string>): { asked: string[]; lookUp: LookUp } {
  const asked: string[] = [];
  const lookUp: LookUp = async (name) => {
    asked.push(name);
    if (!names.has(name)) throw Object.assign(new Error('unknown'), { code: 'ENOTFOUND' });
    return ['127.0.0.1'];
  };
  return { asked, lookUp };
}

describe('N03 one of three names does not resolve', () => {
  it('serves by the others, sets it aside, and takes it in once it resolves', async () => {
    const names = new Set(['a.test', 'b.test']);
    const { asked, lookUp } = resolving(names);
    const exits = await Promise.all(['a', 'b', 'c'].map((name) => stage.good(name)));
    const urls = exits.map((exit, n) => `http://${['a', 'b', 'c'][n]}.test:${exit.port}`);
    const clock = jumpingClock();
    const gateway = await stage.gateway(urls, {}, { parts: { clock, lookUp } });
    const crawl = async (count: number): Promise<Set<string>> => {
      const bodies = new Set<string>();
      for (let n = 0; n < count; n++)
        bodies.add((await ask(gateway, 'http://site.example/')).body.toString());
      return bodies;
    };
    expect(await crawl(12)).toEqual(new Set(['a', 'b']));
    const ban = await gateway.event('exit_banned');
    expect(ban).toMatchObject({ upstreamLabel: urls[2], reason: 'dns', site: null });
    // The second try finds the failure remembered.
    expect(asked.sort()).toEqual(['a.test', 'b.test', 'c.test']);
    names.add('c.test');
    clock.jump(ban.forMs);
    expect(await crawl(6)).toEqual(new Set(['a', 'b', 'c']));
  });
});
