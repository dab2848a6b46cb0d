/** G5: gateways that share nothing pick the same exit for the same session. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ask } from '../support/ask.js';
import type { TestGateway } from '../support/gateway.js';
import { createStage } from '../support/stage.js';

const stage = createStage();

/** A process that builds the pool from its list and says which exit each of 10,000 sessions gets. */
const choosing = `
const dist = process.argv[1];
const { readFileSync } = await import('node:fs');
const { parseList } = await import(dist + 'upstreams/list.js');
const { buildPool } = await import(dist + 'upstreams/pool.js');
const { choose } = await import(dist + 'upstreams/choose.js');
const { Ledger } = await import(dist + 'exits/ledger.js');
const { Cursors } = await import(dist + 'upstreams/strategies.js');
const { systemRandom } = await import(dist + 'core/random.js');
const upstreams = parseList(readFileSync(process.argv[2], 'utf8')).entries;
const view = new Ledger({}, systemRandom);
const rules = { name: 'main', strategy: 'hash', slotsPerExit: Infinity };
const pool = buildPool({ ...rules, upstreams }, (upstream) => view.intern(upstream));
const filter = { country: null, city: null, asn: null, tags: [], upstream: null };
const about = { pool, view, cursors: new Cursors(), nowMs: 1, random: systemRandom, site: 's', pace: null, filter };
const ids = [];
for (let n = 0; n < 10000; n++) {
  const choice = choose({ ...about, avoid: new Set(), pinned: null, sessionKey: '7:crawler:s-' + n, hashKey: null });
  ids.push(pool.upstreams[choice.index].id);
}
process.stdout.write(ids.join(' '));
`;

async function choicesOf(list: string): Promise<string[]> {
  const dist = new URL('../../dist/', import.meta.url).href;
  const args = ['--input-type=module', '-e', choosing, dist, list];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 1 << 24 });
  return stdout.split(' ');
}

/** Lists in a folder that goes with the test. */
function lists(): (name: string, lines: readonly string[]) => string {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-hash-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return (name, lines) => {
    writeFileSync(join(folder, name), lines.join('\n'));
    return join(folder, name);
  };
}

const orders = (lines: readonly string[]): readonly (readonly string[])[] => [
  lines,
  [...lines].reverse(),
  [...lines.slice(5), ...lines.slice(0, 5)],
];

describe('G5 without a shared store', () => {
  it.each([10, 400])('three processes pick the same of %i exits for 10,000 sessions', async (count) => {
    const file = lists();
    const lines = Array.from({ length: count }, (_, n) => `10.0.${n >> 8}.${n & 255}:8000`);
    const files = orders(lines).map((each, n) => file(`${n}.txt`, each));
    const [first = [], ...others] = await Promise.all(files.map(choicesOf));
    expect(first).toHaveLength(10_000);
    for (const other of others) expect(other).toEqual(first);
    const fewer = await choicesOf(file('fewer.txt', lines.slice(1)));
    const moved = first.filter((each, n) => each !== fewer[n]).length;
    expect(moved / first.length).toBeLessThanOrEqual(1.3 / count);
    expect(moved).toBeGreaterThan(0);
  });

  it('three gateways send the same sessions through the same exits', async () => {
    const exit = await stage.good('exit');
    const file = lists();
    const lines = Array.from({ length: 10 }, (_, n) => `http://user-${n}:pw@${exit.host}:${exit.port}`);
    const exitsOf = async (gateway: TestGateway): Promise<string[]> => {
      const answers = Array.from({ length: 60 }, (_, n) =>
        ask(gateway, 'http://site.example/', { fields: [`X-Session-Id: s-${n}`] }),
      );
      return (await Promise.all(answers)).map((answer) => answer.field('x-turnpike-upstream') ?? '');
    };
    const found: string[][] = [];
    for (const [n, each] of orders(lines).entries()) {
      const upstreams = [{ file: file(`${n}.txt`, each) }];
      found.push(
        await exitsOf(await stage.gateway([], { pools: { main: { strategy: 'hash', upstreams } } })),
      );
    }
    expect(found[1]).toEqual(found[0]);
    expect(found[2]).toEqual(found[0]);
    expect(new Set(found[0]).size).toBeGreaterThan(6);
  });
});
