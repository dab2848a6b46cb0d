/** Big lists go through the compiled thread, so `npm run build` comes before this test. */
import { describe, expect, it } from 'vitest';
import { buildPoolFrom, INLINE_BYTES } from '../../src/exits/build-pool.js';
import type { WorkerSource } from '../../src/exits/worker-messages.js';
import { pickByHash } from '../../src/upstreams/hash.js';
import type { PoolRules } from '../../src/upstreams/pool.js';
import type { UpstreamOptions } from '../../src/upstreams/upstream.js';

const workerFile = new URL('../../dist/exits/list-worker.js', import.meta.url);
const rules: PoolRules = { name: 'main', strategy: 'random', slotsPerExit: 5 };
let next = 0;
const parts = { intern: () => next++, workerFile };

function listOf(count: number): string {
  const lines = ['host,port,username,password,country'];
  for (let n = 0; n < count; n++) {
    lines.push(
      `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255},8080,user-${n},p@ss:${n},${n % 2 === 0 ? 'de' : 'us'}`,
    );
  }
  return lines.join('\n');
}

const source = (text: string, options: UpstreamOptions = {}): WorkerSource => ({
  kind: 'list',
  name: 'list.csv',
  from: 'file',
  bytes: Uint8Array.from(Buffer.from(text)),
  options,
});

describe('buildPoolFrom', () => {
  it('gives the same pool from the thread as from here', async () => {
    const text = `${listOf(9000)}\nnonsense,,,,,,\n10.0.0.1,8080,user-1,other,`;
    const options: UpstreamOptions = { tags: ['dc'], turnpike: true };
    const template: WorkerSource = {
      ...{ kind: 'template', name: 'template', text: 'http://u-{session}:p@v.example:1', exits: 3 },
      ...{ epochs: new Map([[0, 2]]), options: {} },
    };
    const url: WorkerSource = {
      kind: 'url',
      name: 'url',
      url: 'http://me:pw@h.example:1',
      options: { country: 'fr' },
    };
    const sources = (part: string): WorkerSource[] => [source(part, options), template, url];
    expect(text.length).toBeGreaterThan(INLINE_BYTES);
    const threaded = await buildPoolFrom(rules, sources(text), parts);
    expect(threaded.counts).toEqual([9000, 3, 1]);
    expect(threaded.problems.map(({ line }) => line)).toEqual([9002, 9003]);
    const { pool } = threaded;
    expect(pool.upstreams).toHaveLength(9004);
    const one = pool.upstreams[41];
    expect([one?.protocol, one?.host, one?.port, one?.label]).toEqual([
      ...['http', '10.0.0.41', 8080, 'http://10.0.0.41:8080'],
    ]);
    expect([one?.country, one?.tags, one?.turnpike]).toEqual(['us', ['dc'], true]);
    expect(pool.upstreams[41]?.login?.password.reveal()).toBe('p@ss:41');
    expect(pool.upstreams[9000]?.template?.epoch).toBe(2);
    expect(new Set(pool.slots).size).toBe(9004);
    // The same in small portions, which are read here.
    const small = await buildPoolFrom(rules, sources(listOf(4000)), parts);
    const half = listOf(9000).split('\n').slice(0, 4001).join('\n');
    expect(half.length).toBeLessThan(INLINE_BYTES);
    small.pool.upstreams.slice(0, 4000).forEach((upstream, n) => {
      expect(upstream.id).toBe(pool.upstreams[n]?.id);
    });
    const german = pool.byCountry.get('de');
    expect(german?.members).toHaveLength(4500);
    expect(pool.indexById.get(pool.upstreams[7000]?.id ?? '')).toBe(7000);
    if (german !== undefined) expect(pickByHash(german.ring, 'key', () => true) % 2).toBe(0);
  });

  it('says so when the thread can not be had, or there is too much for ketama', async () => {
    const text = listOf(9000);
    const gone = { ...parts, workerFile: new URL('gone.js', workerFile) };
    await expect(buildPoolFrom(rules, [source(text)], gone)).rejects.toThrow();
    const ketama: PoolRules = { ...rules, algorithm: 'ketama' };
    await expect(buildPoolFrom(ketama, [source(text)], parts)).rejects.toThrow(/at most 1000/);
    await expect(buildPoolFrom(ketama, [source(listOf(1001))], parts)).rejects.toThrow(/at most 1000/);
    expect((await buildPoolFrom(ketama, [source(listOf(1000))], parts)).pool.ketama).not.toBeNull();
  });

  it('lets this thread turn between portions', async () => {
    let turns = 0;
    let isLoading = true;
    const turn = (): void => {
      turns++;
      if (isLoading) setImmediate(turn);
    };
    turn();
    const { pool } = await buildPoolFrom(rules, [source(listOf(60_000))], parts);
    isLoading = false;
    expect(pool.upstreams).toHaveLength(60_000);
    expect(turns).toBeGreaterThan(30);
  });
});
