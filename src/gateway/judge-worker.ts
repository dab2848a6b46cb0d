/** The far end: a thread that decodes and judges what would hold up everybody else. Started by `judge-worker-client.ts`. */
import { parentPort, workerData } from 'node:worker_threads';
import { Fields } from '../http1/fields.js';
import { compileRules } from '../outcome/compile-rules.js';
import type { RuleSpec } from '../outcome/rule.js';
import type { HeadSeen, RulePlace } from '../outcome/rule-sights.js';
import { RuleBook } from '../outcome/rules.js';
import { decodeBody, type NotInspected } from './decode-body.js';

/** What the thread is started with. */
export interface WorkerSetup {
  readonly specs: readonly RuleSpec[];
  readonly lookAt: number;
}

/** One body. */
export interface WorkerAsk {
  readonly id: number;
  readonly place: RulePlace;
  readonly head: Omit<HeadSeen, 'fields'> & { readonly fields: readonly (readonly [string, string])[] };
  readonly raw: Uint8Array;
  readonly coding: string | null;
  readonly isWhole: boolean;
}

/** What came of it; rules by their index among the compiled ones. */
export type WorkerAnswer =
  | {
      readonly id: number;
      readonly kind: 'judged';
      readonly hits: readonly { readonly index: number; readonly field: string; readonly found: string }[];
      readonly bytes: Uint8Array;
    }
  | { readonly id: number; readonly kind: 'not_inspected'; readonly why: NotInspected };

function bookOf(setup: WorkerSetup): RuleBook {
  const result = compileRules(setup.specs);
  if (result.kind === 'problems') throw new Error('rules came to the worker unchecked');
  return new RuleBook(result.compiled, setup.lookAt);
}

async function answerTo(ask: WorkerAsk, book: RuleBook): Promise<WorkerAnswer> {
  const { id, coding, isWhole } = ask;
  const rules = book.at(ask.place);
  const stage = rules.judgeHead({ ...ask.head, fields: Fields.of(...ask.head.fields) });
  const raw = Buffer.from(ask.raw.buffer, ask.raw.byteOffset, ask.raw.byteLength);
  const decoded = await decodeBody(raw, { coding, limit: stage.lookAt, isWhole });
  if (decoded.kind === 'not_inspected') return { id, ...decoded };
  const { bytes, isEnd } = decoded;
  const length = ask.head.length ?? (isWhole ? raw.length : null);
  const hits = rules.judgeBody(stage, { bytes, isWhole: isEnd, length });
  const shown = hits.map(({ rule, field, found }) => ({
    index: book.compiled.rules.indexOf(rule),
    field,
    found,
  }));
  return { id, kind: 'judged', hits: shown, bytes };
}

const port = parentPort;
if (port !== null) {
  const book = bookOf(workerData as WorkerSetup);
  port.on('message', (ask: WorkerAsk) => {
    void answerTo(ask, book).then((answer) => port.postMessage(answer));
  });
}
