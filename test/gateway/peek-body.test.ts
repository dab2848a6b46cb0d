/** A body that is read ahead comes out as it went in, whatever the pauses. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PeekedBody } from '../../src/gateway/peek-body.js';
import type { BodySink, BodySource } from '../../src/http1/stream.js';

/** A source that pushes when told to, and obeys pauses. */
class Source implements BodySource {
  private sink: BodySink | null = null;
  isPaused = false;
  isCancelled = false;
  constructor(
    private readonly chunks: string[],
    private readonly isCut = false,
  ) {}

  pipe(sink: BodySink): void {
    this.sink = sink;
  }

  resume(): void {
    this.isPaused = false;
  }

  cancel(): void {
    this.isCancelled = true;
  }

  /** Pushes one thing; false when there was nothing left or nothing may go. */
  step(): boolean {
    if (this.sink === null || this.isPaused) return false;
    const chunk = this.chunks.shift();
    if (chunk !== undefined) {
      const lent = Buffer.from(chunk);
      if (!this.sink.data(lent)) this.isPaused = true;
      lent.fill(0);
      return true;
    }
    const { sink } = this;
    this.sink = null;
    if (this.isCut) sink.fail({ kind: 'closed', detail: 'cut' });
    else sink.end(null);
    return false;
  }
}

class Sink implements BodySink {
  text = '';
  over: 'end' | 'fail' | null = null;
  constructor(private readonly takes: () => boolean) {}

  data(chunk: Buffer): boolean {
    expect(this.over).toBe(null);
    this.text += chunk.toString();
    return this.takes();
  }

  end(): void {
    expect(this.over).toBe(null);
    this.over = 'end';
  }

  fail(): void {
    expect(this.over).toBe(null);
    this.over = 'fail';
  }
}

describe('PeekedBody', () => {
  it('holds as much as is wanted, and stops the source there', () => {
    const source = new Source(['abc', 'def', 'ghi']);
    const peeked = new PeekedBody(source);
    let told = 0;
    peeked.read(5, () => told++);
    source.step();
    expect([peeked.isRead, told]).toEqual([false, 0]);
    source.step();
    expect([peeked.isRead, told, source.isPaused, peeked.isWhole]).toEqual([true, 1, true, false]);
    expect(peeked.bytes().toString()).toBe('abcdef');
    expect(peeked.length).toBe(6);
  });

  it('knows a whole body from one that was cut', () => {
    for (const isCut of [false, true]) {
      const source = new Source(['abc'], isCut);
      const peeked = new PeekedBody(source);
      peeked.read(10, () => undefined);
      while (source.step());
      expect([peeked.isRead, peeked.isWhole]).toEqual([true, !isCut]);
      const sink = new Sink(() => true);
      peeked.pipe(sink);
      expect([sink.text, sink.over]).toEqual(['abc', isCut ? 'fail' : 'end']);
    }
  });

  it('is cancelled with its source', () => {
    const source = new Source(['abc']);
    const peeked = new PeekedBody(source);
    peeked.read(10, () => undefined);
    peeked.cancel();
    expect(source.isCancelled).toBe(true);
  });

  it('gives on exactly what came, in order, with any pauses', () => {
    const body = fc.array(fc.string({ minLength: 1, maxLength: 5 }), { maxLength: 12 });
    fc.assert(
      fc.property(
        body,
        fc.nat(30),
        fc.nat(12),
        fc.infiniteStream(fc.boolean()),
        (chunks, wanted, before, flow) => {
          const source = new Source([...chunks]);
          const peeked = new PeekedBody(source);
          const sink = new Sink(() => flow.next().value === true);
          peeked.read(wanted, () => undefined);
          for (let n = 0; n < before; n++) source.step();
          peeked.pipe(sink);
          for (let n = 0; n < 200 && sink.over === null; n++) {
            source.step();
            peeked.resume();
          }
          expect([sink.text, sink.over]).toEqual([chunks.join(''), 'end']);
        },
      ),
    );
  });
});
