/**
 * The thread that reads big lists: parses the sources of one pool, builds its index, and hands the exits over portion
 * by portion, as fast as they are asked for. Lives for one pool.
 */
import { parentPort } from 'node:worker_threads';
import { packUpstreams, unpackUpstreams } from '../upstreams/packed-upstreams.js';
import { buffersOf, buildPoolIndex } from '../upstreams/pool-index.js';
import { SourceReader, type SourceProblem } from '../upstreams/pool-source.js';
import type { Upstream } from '../upstreams/upstream.js';
import { contentOf } from './sources.js';
import type { FromWorker, ToWorker } from './worker-messages.js';

/** Exits a portion: a millisecond of work for the thread that serves. */
const PORTION = 1000;

type Job = ToWorker & { readonly kind: 'job' };

/**
 * Everything there is to say about the exits, in order, made when it is asked for. What is kept here for the index is
 * packed too: a million objects would cost the collector more than reading them.
 */
function* answers({ pool, sources }: Job): Generator<FromWorker> {
  const all: Upstream[] = [];
  const counts: number[] = [];
  const problems: SourceProblem[] = [];
  const reader = new SourceReader(pool, sources.length);
  for (const [place, source] of sources.entries()) {
    const content = contentOf(source);
    const before = all.length;
    let portion: Upstream[] = [];
    const packed = (): FromWorker => {
      const rows = packUpstreams(portion);
      // Exits of a template know more than columns can say.
      for (const each of content.kind === 'template' ? portion : unpackUpstreams(rows, content.options))
        all.push(each);
      portion = [];
      return { kind: 'rows', source: place, rows };
    };
    for (const entry of reader.read(content)) {
      if (entry.kind === 'problem') problems.push(reader.problemOf(content, entry));
      else if (portion.push(entry.upstream) >= PORTION) yield packed();
    }
    if (portion.length > 0) yield packed();
    counts.push(all.length - before);
  }
  yield { kind: 'parsed', counts, problems };
  yield { kind: 'index', index: buildPoolIndex(all) };
}

function work(port: NonNullable<typeof parentPort>): void {
  let left: Iterator<FromWorker> | null = null;
  port.on('message', (message: ToWorker) => {
    if (message.kind === 'job') {
      left = answers(message);
      return;
    }
    const next = left?.next();
    if (next?.done !== false) return;
    port.postMessage(next.value, next.value.kind === 'index' ? buffersOf(next.value.index) : []);
  });
}

if (parentPort !== null) work(parentPort);
