import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TurnpikeEvent } from '../../src/core/events.js';
import { Secret } from '../../src/core/secret.js';
import { TimerWheel } from '../../src/core/timer-wheel.js';
import type { FetchedList } from '../../src/exits/list-fetch.js';
import type { PoolSource, PoolSources } from '../../src/exits/load-pools.js';
import { noUpstreamLogins } from '../../src/exits/upstream-logins.js';
import { PoolKeeper } from '../../src/exits/pool-keeper.js';
import { FakeClock } from '../support/fake-clock.js';
import { waitFor } from '../support/wait.js';

let folder = '';
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'turnpike-keeper-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const list: PoolSource = {
  ...{ kind: 'list', url: new Secret('http://lists.example/'), refreshMs: 1000, allow: [], options: {} },
};
const specOf = (...sources: PoolSource[]): PoolSources => ({
  ...{ name: 'main', strategy: 'random', slotsPerExit: 5, sources },
});
const fresh = (text: string): FetchedList => ({
  ...{ kind: 'fresh', bytes: Uint8Array.from(Buffer.from(text)), stamp: { etag: text, lastModified: null } },
});

/** Keepers whose server gives what is scripted, one answer for each time that it is asked. */
function keepers(...answers: FetchedList[]) {
  const clock = new FakeClock();
  const events: TurnpikeEvent[] = [];
  const swapped: number[] = [];
  let held = 0;
  const make = (): PoolKeeper =>
    new PoolKeeper({
      intern: () => 1,
      logins: noUpstreamLogins,
      hold: () => {
        held++;
        let isHeld = true;
        return () => {
          if (isHeld) held--;
          isHeld = false;
        };
      },
      wheel: new TimerWheel(clock),
      emit: (event) => events.push(event),
      fetchList: () => Promise.resolve(answers.shift() ?? { kind: 'failed', reason: 'nothing is scripted' }),
      workerFile: new URL('file:///no-thread.js'),
      onSwap: ({ upstreams }) => swapped.push(upstreams.length),
    });
  return { make, clock, events, swapped, held: () => held };
}

const labelsOf = (keeper: PoolKeeper): (string | undefined)[] =>
  keeper
    .pools()
    .get('main')
    ?.upstreams.map(({ label }) => label) ?? [];

describe('the keeper of the next configuration', () => {
  it('goes on with the last good list when it comes without any exit, or does not come', async () => {
    const { make } = keepers(fresh('http://a:1'), fresh('<html>down</html>'), {
      kind: 'failed',
      reason: 'x',
    });
    const first = make();
    await first.open([specOf(list)]);
    const second = make();
    await second.open([specOf(list)], first);
    expect(labelsOf(second)).toEqual(['http://a:1']);
    const third = make();
    await third.open([specOf(list)], second);
    expect(labelsOf(third)).toEqual(['http://a:1']);
    for (const keeper of [first, second, third]) keeper.close();
  });

  it('is not opened when a file has no exit any more', async () => {
    const { make, held } = keepers();
    const file = join(folder, 'list.txt');
    const source: PoolSource = { kind: 'file', file, options: {} };
    writeFileSync(file, 'http://a:1');
    const first = make();
    await first.open([specOf(source)]);
    first.settle();
    writeFileSync(file, '# empty');
    await expect(make().open([specOf(source)], first)).rejects.toThrow(/no upstream any more/);
    expect([labelsOf(first), held()]).toEqual([['http://a:1'], 0]);
    first.close();
  });

  it('does not put its lists into the one before, which may go on', async () => {
    const { make, clock, swapped } = keepers(fresh('http://a:1'), fresh('http://b:1'));
    const file = join(folder, 'list.txt');
    writeFileSync(file, 'http://c:1');
    const spec = specOf(list, { kind: 'file', file, options: {} });
    const first = make();
    await first.open([spec]);
    const dropped = make();
    await dropped.open([spec], first);
    expect(labelsOf(dropped)).toEqual(['http://b:1', 'http://c:1']);
    dropped.close();
    writeFileSync(file, 'http://c:1\nhttp://d:1');
    clock.advance(6000);
    await waitFor('the file to be read anew', () => swapped.length > 0);
    expect(labelsOf(first)).toEqual(['http://a:1', 'http://c:1', 'http://d:1']);
    first.close();
  });

  it('takes over nothing where the sources are others', async () => {
    const { make } = keepers(fresh('http://a:1'), { kind: 'failed', reason: 'x' });
    const first = make();
    await first.open([specOf(list)]);
    const other = make();
    await other.open([specOf({ ...list, url: new Secret('http://other.example/') })], first);
    expect(labelsOf(other)).toEqual([]);
    for (const keeper of [first, other]) keeper.close();
  });

  it('says nothing any more once it is closed, whatever comes late', async () => {
    const { make, clock, swapped, events } = keepers(fresh('http://a:1'), fresh('http://a:1\nhttp://b:1'));
    const keeper = make();
    await keeper.open([specOf(list)]);
    keeper.start();
    clock.advance(1000);
    keeper.close();
    await Promise.resolve();
    const before = events.length;
    clock.advance(100_000);
    expect([swapped, events.length]).toEqual([[], before]);
  });

  it('tells of bad lines when it is in force, once', async () => {
    const { make, events } = keepers(fresh('http://a:1\nnonsense line'));
    const keeper = make();
    await keeper.open([specOf(list)]);
    const notes = (): number => events.filter(({ type }) => type === 'note').length;
    expect(notes()).toBe(0);
    keeper.settle();
    keeper.settle();
    expect(notes()).toBe(1);
    keeper.close();
  });
});
