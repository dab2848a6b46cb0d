import { beforeEach, describe, expect, it } from 'vitest';
import { WaitingLines, type Look } from '../../src/gateway/waiting-lines.js';
import { FakeClock } from '../support/fake-clock.js';

let clock: FakeClock;
let lines: WaitingLines<string>;
/** What is there to be had. */
let stock: number;
let leavers: (() => void)[];
let afterMs: number;

beforeEach(() => {
  clock = new FakeClock();
  lines = new WaitingLines<string>(clock);
  stock = 0;
  leavers = [];
  afterMs = 10;
});

function look(name: string): Look<string> {
  if (stock === 0) return { kind: 'later', afterMs };
  stock--;
  return { kind: 'found', found: name };
}

function wait(client: string, name: string, giveUpMs = 10_000, isAgain = false): Promise<string | null> {
  const onGone = (leave: (() => void) | null): void => void (leave !== null && leavers.push(leave));
  return lines.wait('line', { client, need: '', giveUpMs, isAgain, look: () => look(name), onGone }, 0);
}

/** The order in which these waits end. */
function order(waits: readonly Promise<string | null>[]): (string | null)[] {
  const ended: (string | null)[] = [];
  for (const each of waits) void each.then((name) => ended.push(name));
  return ended;
}

const noop = (): void => undefined;
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('N7 waiting for an exit', () => {
  it('clients are served in turn, one at a time', async () => {
    const ended = order([wait('big', 'b0'), wait('big', 'b1'), wait('big', 'b2'), wait('small', 's0')]);
    stock = 2;
    clock.advance(1);
    await settle();
    expect(ended).toEqual(['b0']);
    clock.advance(1);
    await settle();
    expect(ended).toEqual(['b0', 's0']);
    stock = 9;
    clock.advance(100);
    await settle();
    expect(ended).toEqual(['b0', 's0', 'b1', 'b2']);
    expect([lines.size, lines.has('line'), clock.pending]).toEqual([0, false, 0]);
  });

  it('all heads are judged by the same time: what comes free during a round is for the next', () => {
    const times: number[] = [];
    const late = (nowMs: number): Look<string> => {
      times.push(nowMs);
      clock.advance(1);
      return { kind: 'later', afterMs: 10_000 };
    };
    for (const client of ['a', 'b'])
      void lines.wait(
        'line',
        { client, need: '', giveUpMs: 1040, isAgain: false, look: late, onGone: noop },
        0,
      );
    clock.advance(1);
    expect(times).toEqual([1001, 1001]);
    clock.advance(100);
  });

  it('what comes free is had at once, however often it is told', async () => {
    afterMs = 10_000;
    const ended = order([wait('a', 'a0'), wait('a', 'a1')]);
    clock.advance(1);
    stock = 2;
    lines.freed('line');
    lines.freed('line');
    lines.freed('another line');
    expect(clock.pending).toBe(3);
    clock.advance(0.5);
    lines.freed('line');
    clock.advance(0.5);
    await settle();
    expect(ended).toEqual(['a0']);
    clock.advance(1);
    await settle();
    expect(ended).toEqual(['a0', 'a1']);
    lines.freed('line');
    expect(clock.pending).toBe(0);
  });

  it('looks again when it makes sense, and every 50 ms in any case', async () => {
    afterMs = 5000;
    const ended = order([wait('a', 'a0')]);
    clock.advance(1);
    stock = 1;
    clock.advance(49);
    await settle();
    expect(ended).toEqual([]);
    clock.advance(1);
    await settle();
    expect(ended).toEqual(['a0']);
  });

  it('who gives up gets nothing and leaves the line', async () => {
    const ended = order([wait('a', 'a0', clock.nowMs() + 30), wait('b', 'b0')]);
    clock.advance(30);
    await settle();
    expect([ended, lines.size]).toEqual([[null], 1]);
  });

  it('a client that is gone waits no longer', async () => {
    const ended = order([wait('a', 'a0')]);
    leavers[0]?.();
    await settle();
    expect([ended, lines.size, clock.pending]).toEqual([[null], 0, 0]);
  });

  it('who tries again goes before the others of its client', async () => {
    const ended = order([wait('a', 'a0'), wait('a', 'again', 10_000, true)]);
    stock = 2;
    clock.advance(10);
    await settle();
    expect(ended).toEqual(['again', 'a0']);
  });

  it('a look that finds something for one client only serves that one', async () => {
    const never = {
      client: 'a',
      need: '',
      giveUpMs: 10_000,
      isAgain: false,
      look: () => ({ kind: 'later', afterMs: 1 }) as const,
    };
    const blocked = lines.wait('line', { ...never, onGone: () => undefined }, 0);
    const ended = order([blocked, wait('b', 'b0')]);
    stock = 1;
    clock.advance(1);
    await settle();
    expect(ended).toEqual(['b0']);
  });

  it('K01 nobody waits behind a session whose own exit is busy', async () => {
    const never = { kind: 'later', afterMs: 1 } as const;
    const pinned = { client: 'a', need: 'u-1', giveUpMs: 10_000, isAgain: false, look: () => never };
    const busy = lines.wait('line', { ...pinned, onGone: () => undefined }, 0);
    const ended = order([busy, wait('a', 'a0')]);
    stock = 1;
    clock.advance(1);
    await settle();
    expect(ended).toEqual(['a0']);
  });
});
