/** N03: upstreams whose name does not resolve: the others serve, and the name is asked for again. */
import dns from 'node:dns';
import { describe, expect, it, vi } from 'vitest';
import { ask } from '../support/ask.js';
import { jumpingClock } from '../support/jumping-clock.js';
import { createStage } from '../support/stage.js';

const stage = createStage();

/** Names under `.test` resolve to 127.0.0.1 as long as they are in the set. */
function resolving(names: ReadonlySet<string>): { asked: string[] } {
  const asked: string[] = [];
  const real = dns.lookup;
  const fake = (name: string, options: dns.LookupAllOptions, done: (...args: unknown[]) => void): void => {
    if (!name.endsWith('.test')) {
      real(name, options, done as never);
      return;
    }
    asked.push(name);
    const error = Object.assign(new Error('ENOTFOUND'), { code: 'ENOTFOUND' });
    setImmediate(() => {
      if (!names.has(name)) done(error);
      else if (options.all) done(null, [{ address: '127.0.0.1', family: 4 }]);
      else done(null, '127.0.0.1', 4);
    });
  };
  vi.spyOn(dns, 'lookup').mockImplementation(fake as unknown as typeof dns.lookup);
  return { asked };
}

describe('N03 one of three names does not resolve', () => {
  it('serves by the others, sets it aside, and takes it in once it resolves', async () => {
    const names = new Set(['a.test', 'b.test']);
    const { asked } = resolving(names);
    const exits = await Promise.all(['a', 'b', 'c'].map((name) => stage.good(name)));
    const urls = exits.map((exit, n) => `http://${['a', 'b', 'c'][n]}.test:${exit.port}`);
    const clock = jumpingClock();
    const gateway = await stage.gateway(urls, {}, { parts: { clock } });
    const crawl = async (count: number): Promise<Set<string>> => {
      const bodies = new Set<string>();
      for (let n = 0; n < count; n++)
        bodies.add((await ask(gateway, 'http://site.example/')).body.toString());
      return bodies;
    };
    expect(await crawl(12)).toEqual(new Set(['a', 'b']));
    const ban = await gateway.event('exit_banned');
    expect(ban).toMatchObject({ upstreamLabel: urls[2], reason: 'dns', site: null });
    expect(asked.filter((name) => name === 'c.test').length).toBe(2);
    names.add('c.test');
    clock.jump(ban.forMs);
    expect(await crawl(6)).toEqual(new Set(['a', 'b', 'c']));
  });
});
