/**
 * The thread that reads big lists: parses the sources of one pool, builds its index, and hands the exits over portion
 * by portion, as fast as they are asked for. Lives for one pool.
 */
import { parentPort } from 'node:worker_threads';
import { packUpstreams } from '../upstreams/packed-upstreams.js';
import { buffersOf, buildPoolIndex } from '../upstreams/pool-index.js';
import { readSources } from '../upstreams/pool-source.js';
import type { SourceContent } from '../upstreams/pool-source.js';
import type { Upstream } from '../upstreams/upstream.js';
import { textOf } from './sources.js';
import type { FromWorker, ToWorker, WorkerSource } from './worker-messages.js';

/** Exits a portion: a millisecond of work for the thread that serves. */
const PORTION = 1000;

function contentOf(source: WorkerSource): SourceContent {
  if (source.kind !== 'list') return source;
  const { bytes, ...rest } = source;
  return { ...rest, text: textOf(bytes) };
}

/** Everything there is to say about the exits, in order, made when it is asked for. */
function* portions(upstreams: readonly Upstream[], counts: readonly number[]): Generator<FromWorker> {
  let at = 0;
  for (const [source, count] of counts.entries()) {
    const end = at + count;
    for (; at < end; at += PORTION) {
      yield { kind: 'rows', source, rows: packUpstreams(upstreams.slice(at, Math.min(at + PORTION, end))) };
    }
    at = end;
  }
  yield { kind: 'index', index: buildPoolIndex(upstreams) };
}

function work(port: NonNullable<typeof parentPort>): void {
  let left: Iterator<FromWorker> | null = null;
  const say = (message: FromWorker): void =>
    port.postMessage(message, message.kind === 'index' ? buffersOf(message.index) : []);
  port.on('message', (message: ToWorker) => {
    if (message.kind === 'job') {
      const { upstreams, counts, problems } = readSources(message.pool, message.sources.map(contentOf));
      left = portions(upstreams, counts);
      say({ kind: 'parsed', counts, problems });
      return;
    }
    const next = left?.next();
    if (next?.done === false) say(next.value);
  });
}

if (parentPort !== null) work(parentPort);
