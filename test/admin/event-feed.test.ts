import { describe, expect, it } from 'vitest';
import { EventFeed, type Outlet } from '../../src/admin/event-feed.js';
import type { TurnpikeEvent } from '../../src/core/events.js';
import { FakeClock } from '../support/fake-clock.js';

const note = (what: string): TurnpikeEvent => ({ type: 'note', level: 'info', what, detail: {} });
const connected: TurnpikeEvent = { type: 'client_connected', listener: 'a' };

/** A reader that takes everything, or nothing until it is let go. */
class Reader implements Outlet {
  readonly texts: string[] = [];
  isEnded = false;
  isSlow = false;
  private free: (() => void) | null = null;

  write(text: string): boolean {
    this.texts.push(text);
    return !this.isSlow;
  }

  whenFree(call: () => void): void {
    this.free = call;
  }

  destroy(): void {
    this.isEnded = true;
  }

  catchUp(): void {
    this.isSlow = false;
    this.free?.();
  }

  whats(): unknown[] {
    return this.texts
      .flatMap((text) => /^data: (.*)$/m.exec(text)?.[1] ?? [])
      .map((data) => JSON.parse(data).what);
  }
}

const feedOf = (limits = { listeners: 2, queue: 3, heartbeatMs: 1000 }) => {
  const clock = new FakeClock();
  return { clock, feed: new EventFeed(clock, limits) };
};

describe('EventFeed', () => {
  it('tells every listener, in order, as server-sent events', () => {
    const { feed } = feedOf();
    const [all, some] = [new Reader(), new Reader()];
    feed.listen(all, null);
    feed.listen(some, new Set(['client_connected']));
    for (const event of [note('a'), connected, note('b')]) feed.subscribe(event);
    expect(all.texts[1]).toMatch(/^id: 1\nevent: note\ndata: \{"time":\d+,"type":"note".*\}\n\n$/);
    expect(all.whats()).toEqual(['a', undefined, 'b']);
    expect(some.texts.slice(1).map((text) => /event: (.*)/.exec(text)?.[1])).toEqual(['client_connected']);
  });

  it('keeps a bounded number for one that is slow, and tells them when it takes again', () => {
    const { feed } = feedOf();
    const reader = new Reader();
    feed.listen(reader, null);
    reader.isSlow = true;
    for (const what of ['a', 'b', 'c', 'd']) feed.subscribe(note(what));
    expect(reader.whats()).toEqual(['a']);
    reader.catchUp();
    expect(reader.whats()).toEqual(['a', 'b', 'c', 'd']);
    expect([reader.isEnded, feed.dropped(), feed.size]).toEqual([false, 0, 1]);
  });

  it('drops and counts one that is too slow, and only that one', () => {
    const { feed } = feedOf();
    const [slow, quick] = [new Reader(), new Reader()];
    feed.listen(slow, null);
    feed.listen(quick, null);
    slow.isSlow = true;
    for (const what of ['a', 'b', 'c', 'd', 'e']) feed.subscribe(note(what));
    expect([slow.isEnded, quick.isEnded, feed.dropped(), feed.size]).toEqual([true, false, 1, 1]);
    expect(quick.whats()).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('sends a heartbeat as long as anybody listens', () => {
    const { feed, clock } = feedOf();
    const reader = new Reader();
    const end = feed.listen(reader, null);
    clock.advance(1000);
    clock.advance(1000);
    expect(reader.texts.filter((text) => text === ': heartbeat\n\n')).toHaveLength(2);
    end();
    clock.advance(5000);
    expect(reader.texts).toHaveLength(3);
    expect(feed.size).toBe(0);
  });

  it('says when it is full, and ends all when it closes', () => {
    const { feed } = feedOf();
    const readers = [new Reader(), new Reader()];
    expect(feed.isFull).toBe(false);
    for (const reader of readers) feed.listen(reader, null);
    expect(feed.isFull).toBe(true);
    feed.close();
    expect(readers.map(({ isEnded }) => isEnded)).toEqual([true, true]);
    expect(feed.size).toBe(0);
  });

  it('Z08 takes logins out of URLs', () => {
    const { feed } = feedOf();
    const reader = new Reader();
    feed.listen(reader, null);
    feed.subscribe(note('http://user:CANARY/@x@host:1'));
    expect(reader.texts.join('')).not.toContain('CANARY');
  });
});
