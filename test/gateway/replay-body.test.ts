import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReplayBody, ReplayBudget } from '../../src/gateway/replay-body.js';
import type { BodyFault, BodySink, BodySource } from '../../src/http1/stream.js';

/** A client's body that the test feeds. */
class FedSource implements BodySource {
  sink: BodySink | null = null;
  resumes = 0;
  pipe(sink: BodySink): void {
    this.sink = sink;
  }
  resume(): void {
    this.resumes++;
  }
  cancel(): void {
    this.sink = null;
  }
}

/** What one attempt got. */
class Taker implements BodySink {
  text = '';
  fate: 'open' | 'ended' | BodyFault['kind'] = 'open';
  isFull = false;
  data(chunk: Buffer): boolean {
    this.text += chunk.toString();
    return !this.isFull;
  }
  end(): void {
    this.fate = 'ended';
  }
  fail(fault: BodyFault): void {
    this.fate = fault.kind;
  }
}

function rig(limit: number, total = 1000) {
  const source = new FedSource();
  const budget = new ReplayBudget(() => total);
  const body = new ReplayBody(source, limit, budget);
  const attempt = (isFull = false) => {
    const taker = new Taker();
    taker.isFull = isFull;
    const view = body.open();
    view.pipe(taker);
    return { taker, view };
  };
  const feed = (text: string): boolean => source.sink?.data(Buffer.from(text)) ?? true;
  return { source, budget, body, attempt, feed };
}

describe('G7 a request body that can be sent again', () => {
  it('starts each attempt at byte 0, and goes on with what still comes', () => {
    const { source, attempt, feed } = rig(100);
    const first = attempt();
    feed('one ');
    feed('two ');
    first.view.cancel();
    const second = attempt();
    expect(second.taker.text).toBe('one two ');
    feed('three');
    source.sink?.end(null);
    expect(second.taker).toMatchObject({ text: 'one two three', fate: 'ended' });
    expect(first.taker).toMatchObject({ text: 'one two ', fate: 'open' });
    expect(attempt().taker).toMatchObject({ text: 'one two three', fate: 'ended' });
  });

  it('is not repeatable past its own bound, and gives its share back', () => {
    const { budget, body, attempt, feed } = rig(8);
    const { taker } = attempt();
    feed('12345678');
    expect([body.isReplayable, budget.bytes]).toEqual([true, 8]);
    feed('9');
    expect([body.isReplayable, budget.bytes]).toEqual([false, 0]);
    expect(taker.text).toBe('123456789');
  });

  it('is not repeatable past the bound of the process', () => {
    const { budget, body, attempt, feed } = rig(100, 10);
    attempt();
    feed('12345678');
    feed('901');
    expect([body.isReplayable, budget.bytes]).toEqual([false, 0]);
  });

  it('gives its share back when it is closed', () => {
    const { budget, body, attempt, feed } = rig(100);
    attempt();
    feed('12345678');
    body.close();
    expect(budget.bytes).toBe(0);
  });

  it('holds the client on while an attempt is full, and between attempts', () => {
    const { source, attempt, feed } = rig(100);
    const first = attempt(true);
    expect(feed('one ')).toBe(false);
    first.view.resume();
    expect(source.resumes).toBe(1);
    first.view.cancel();
    expect(feed('two ')).toBe(false);
    const second = attempt();
    expect(second.taker.text).toBe('one two ');
    expect(source.resumes).toBe(2);
  });

  it('replays no faster than the attempt takes it', () => {
    const { attempt, feed } = rig(100);
    attempt();
    feed('one ');
    feed('two ');
    const slow = attempt(true);
    expect(slow.taker.text).toBe('one ');
    slow.view.resume();
    expect(slow.taker.text).toBe('one two ');
  });

  it('tells every attempt of a cut', () => {
    const { source, attempt, feed } = rig(100);
    const first = attempt();
    feed('one');
    source.sink?.fail({ kind: 'gone', detail: '' });
    expect(first.taker.fate).toBe('gone');
    expect(attempt().taker).toMatchObject({ text: 'one', fate: 'gone' });
  });

  it('gives each attempt the same bytes, whatever the pace', () => {
    const texts = fc.array(fc.string({ minLength: 1, maxLength: 8 }), { maxLength: 12 });
    fc.assert(
      fc.property(texts, fc.array(fc.nat(12), { maxLength: 4 }), (chunks, switches) => {
        const { source, attempt, feed } = rig(10_000);
        let current = attempt();
        chunks.forEach((chunk, index) => {
          if (switches.includes(index)) {
            current.view.cancel();
            current = attempt(index % 2 === 0);
            current.view.resume();
            while (current.taker.text.length < chunks.slice(0, index).join('').length) current.view.resume();
          }
          feed(chunk);
          current.view.resume();
        });
        source.sink?.end(null);
        current.view.resume();
        expect(current.taker).toMatchObject({ text: chunks.join(''), fate: 'ended' });
      }),
      { seed: 11, numRuns: 200 },
    );
  });
});
