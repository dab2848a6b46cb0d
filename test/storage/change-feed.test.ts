import { describe, expect, it } from 'vitest';
import { ChangeFeed, type ChangeListener } from '../../src/storage/change-feed.js';
import { StorageAway, type Change } from '../../src/storage/ports.js';
import { FakeClock } from '../support/fake-clock.js';

/** A store that is told what changed, and may be away. */
function storeOf() {
  const changes: Change[] = [];
  const store = {
    isAway: false,
    change: (kind: Change['kind'], ref: string): void => {
      const at = changes.findIndex((each) => each.kind === kind && each.ref === ref);
      if (at >= 0) changes.splice(at, 1);
      changes.push({ seq: (changes.at(-1)?.seq ?? 0) + 1, kind, ref });
    },
    database: {
      changes: (since: number, limit: number): Promise<readonly Change[]> =>
        store.isAway
          ? Promise.reject(new StorageAway('away'))
          : Promise.resolve(changes.filter(({ seq }) => seq > since).slice(0, limit)),
      lastChange: (): Promise<number> =>
        store.isAway ? Promise.reject(new StorageAway('away')) : Promise.resolve(changes.at(-1)?.seq ?? 0),
    },
  };
  return store;
}

function listenerFor(kind: Change['kind'], heard: string[]): ChangeListener & { fails: boolean } {
  const listener = {
    kind,
    fails: false,
    readAll: () => Promise.resolve(void heard.push(`${kind} all`)),
    changed: (refs: ReadonlySet<string>) => {
      if (listener.fails) return Promise.reject(new StorageAway('the rows'));
      heard.push(...[...refs].map((ref) => `${kind} ${ref}`));
      return Promise.resolve();
    },
  };
  return listener;
}

describe('the feed of changes', () => {
  it('reads all once, then tells each listener of its kind what changed', async () => {
    const [store, clock, heard] = [storeOf(), new FakeClock(), [] as string[]];
    store.change('client', 'before');
    const feed = new ChangeFeed({ database: store.database, clock });
    feed.listen(listenerFor('client', heard));
    feed.listen(listenerFor('credential', heard));
    expect(await feed.start()).toBe(true);
    store.change('client', 'a');
    store.change('credential', 'c');
    store.change('policy', 'p');
    clock.advance(200);
    await feed.look();
    expect(heard).toEqual(['client all', 'credential all', 'client a', 'credential c']);
    feed.close();
    expect(await feed.look()).toBe(false);
  });

  it('misses nothing while the store is away, and says so once', async () => {
    const [store, clock, heard] = [storeOf(), new FakeClock(), [] as string[]];
    const told: (string | null)[] = [];
    store.isAway = true;
    const feed = new ChangeFeed({ database: store.database, clock, onFollowing: (why) => told.push(why) });
    feed.listen(listenerFor('client', heard));
    expect(await feed.start()).toBe(false);
    await feed.look();
    expect([feed.trouble, heard]).toEqual(['away', []]);
    store.isAway = false;
    expect(await feed.look()).toBe(true);
    store.isAway = true;
    await feed.look();
    store.change('client', 'a');
    store.change('client', 'b');
    store.isAway = false;
    await feed.look();
    expect(heard).toEqual(['client all', 'client a', 'client b']);
    expect(told).toEqual(['away', null, 'away', null]);
  });

  it('tells again who could not take it', async () => {
    const [store, heard] = [storeOf(), [] as string[]];
    const feed = new ChangeFeed({ database: store.database, clock: new FakeClock() });
    const listener = listenerFor('client', heard);
    feed.listen(listener);
    await feed.start();
    listener.fails = true;
    store.change('client', 'a');
    expect(await feed.look()).toBe(false);
    listener.fails = false;
    expect(await feed.look()).toBe(true);
    expect(heard).toEqual(['client all', 'client a']);
  });
});
