/**
 * Judges bodies: decodes them within bounds and asks the rules. What would hold up everybody else (patterns and
 * selectors on more than a little text, zstd on more than a little) goes to a worker, which is started for the first of
 * these and has a time limit.
 */
import type { RulePlace, HeadStage, RuleHit } from '../outcome/rule-sights.js';
import type { RuleBook } from '../outcome/rules.js';
import { decodeBody, type Decoded, type NotInspected } from './decode-body.js';
import type { JudgeWorker } from './judge-worker-client.js';

/** A body to be judged. */
export interface BodyJob {
  readonly book: RuleBook;
  readonly place: RulePlace;
  readonly stage: HeadStage;
  /** The beginning of the body as it came. */
  readonly raw: Buffer;
  /** Null: more than one. */
  readonly coding: string | null;
  readonly isWhole: boolean;
}

/** What came of it. */
export type Judgement =
  | { readonly kind: 'judged'; readonly hits: readonly RuleHit[]; readonly bytes: Uint8Array }
  | { readonly kind: 'not_inspected'; readonly why: NotInspected };

/** Text up to which the engines run where everything else runs. */
export const MOST_ON_LOOP = 4096;
/** Compressed size up to which zstd, which has no threads of its own here, is decoded there. */
const MOST_ZSTD_ON_LOOP = 8192;

/** Judges. One for the process. */
export class BodyJudge {
  constructor(private readonly worker: JudgeWorker) {}

  /** At once where nothing has to be waited for. Never rejects. */
  judge(job: BodyJob): Judgement | Promise<Judgement> {
    const { raw, coding, isWhole, stage } = job;
    if (coding === 'zstd' && raw.length > MOST_ZSTD_ON_LOOP) return this.worker.judge(job);
    const decoding = decodeBody(raw, { coding, limit: stage.lookAt, isWhole });
    return decoding instanceof Promise
      ? decoding.then((decoded) => this.judgeDecoded(job, decoded))
      : this.judgeDecoded(job, decoding);
  }

  private judgeDecoded(job: BodyJob, decoded: Decoded): Judgement | Promise<Judgement> {
    if (decoded.kind === 'not_inspected') return decoded;
    const { raw, isWhole, stage } = job;
    const { bytes, isEnd } = decoded;
    const rules = job.book.at(job.place);
    if (bytes.length > MOST_ON_LOOP && rules.wantsEngine(stage, bytes))
      return this.worker.judge({ ...job, raw: bytes, coding: 'identity', isWhole: isEnd });
    const hits = rules.judgeBody(stage, { bytes, isWhole: isEnd, length: isWhole ? raw.length : null });
    return { kind: 'judged', hits, bytes };
  }

  /** Ends the worker. */
  close(): Promise<void> {
    return this.worker.close();
  }
}
