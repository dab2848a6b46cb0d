/** G5: gateways that share nothing pick the same exit for the same session. */
import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ask } from '../support/ask.js';
import { createStage } from '../support/stage.js';
import type { TestGateway } from '../support/gateway.js';

const stage = createStage();
const SESSIONS = 10_000;

/** Which exit each session gets, asked 50 at a time. */
async function exitsOf(gateway: TestGateway, count: number): Promise<string[]> {
  const exits: string[] = [];
  for (let from = 0; from < count; from += 50) {
    const answers = await Promise.all(
      Array.from({ length: Math.min(50, count - from) }, (_, n) =>
        ask(gateway, 'http://site.example/', { fields: [`X-Session-Id: s-${from + n}`] }),
      ),
    );
    exits.push(...answers.map((answer) => answer.field('x-turnpike-upstream') ?? ''));
  }
  return exits;
}

describe('G5 three gateways with the same pool and no shared store', () => {
  it('pick the same exit for 10,000 sessions; when one of ten exits leaves, few of them move', async () => {
    const exit = await stage.good('exit');
    const folder = mkdtempSync(join(tmpdir(), 'turnpike-hash-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const lineOf = (n: number): string => `http://user-${n}:pw@${exit.host}:${exit.port}`;
    const lines = Array.from({ length: 10 }, (_, n) => lineOf(n));
    const file = (name: string, content: readonly string[]): string => {
      writeFileSync(join(folder, name), content.join('\n'));
      return join(folder, name);
    };
    const start = (path: string): Promise<TestGateway> =>
      stage.gateway([], { pools: { main: { strategy: 'hash', upstreams: [{ file: path }] } } });
    const gateways = [
      await start(file('a.txt', lines)),
      await start(file('b.txt', [...lines].reverse())),
      await start(file('c.txt', [...lines.slice(5), ...lines.slice(0, 5)])),
    ];
    const [first = [], ...others] = await Promise.all(gateways.map((each) => exitsOf(each, SESSIONS)));
    for (const other of others) expect(other).toEqual(first);
    expect(new Set(first).size).toBe(10);
    const fewer = await exitsOf(await start(file('d.txt', lines.slice(1))), SESSIONS);
    const moved = first.filter((each, n) => each !== fewer[n]).length;
    expect(moved / SESSIONS).toBeLessThanOrEqual(1.3 / 10);
    expect(moved).toBeGreaterThan(0);
  }, 120_000);
});
