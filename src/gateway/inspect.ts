/**
 * Looks at an answer before anybody decides what becomes of it: which rules does it meet? The answer is held back only
 * as long as the rules in force at this place want, and streams at once where none wants its body.
 */
import { createHash } from 'node:crypto';
import type { Framing } from '../http1/body.js';
import type { BodyFault, BodySource } from '../http1/stream.js';
import type { HopAnswer } from '../open/channel.js';
import type { Abandonment } from '../open/dial.js';
import type { Fault } from '../core/fault.js';
import type { RuleFinding } from '../outcome/finding.js';
import { decisive, findingOf } from '../outcome/rules.js';
import type { HeadSeen, HeadStage, RuleHit } from '../outcome/rule-sights.js';
import { codingOf, type NotInspected } from './decode-body.js';
import type { Judgement } from './judge-body.js';
import { PeekedBody } from './peek-body.js';
import type { GatewayServices } from './services.js';
import type { Ask } from './understand.js';

/** Most of a coded body that is read for the rules, in bytes as they come. */
const MOST_CODED = 64 * 1024;

/** What is looked at. */
export interface Sight {
  readonly ask: Ask;
  readonly answer: HopAnswer;
  readonly firstByteMs: number;
  readonly abandonment: Abandonment;
}

/** What came of it. */
export interface Inspected {
  /** The body to deliver, whole. */
  readonly body: BodySource;
  readonly firstByteMs: number;
  readonly hits: readonly RuleHit[];
  readonly finding: RuleFinding | null;
  /** Why the body was not looked at though rules wanted it; null where it was, or none did. */
  readonly notInspected: NotInspected | null;
  /** What was held of the body, as it came, and what broke it meanwhile, if anything did. */
  readonly held: {
    readonly bytes: Buffer;
    readonly isWhole: boolean;
    readonly broken: BodyFault | null;
  } | null;
}

const NO_HITS: readonly RuleHit[] = [];

/** Rules that a fault meets. */
export function inspectFault(
  ask: Ask,
  fault: Fault,
): { hits: readonly RuleHit[]; finding: RuleFinding | null } {
  const { target, controls } = ask.context;
  const hits = controls.detect ? ask.rules.runtime.detection.book.at(target).judgeFault(fault) : NO_HITS;
  const hit = decisive(hits);
  const none = { status: null, bodyHash: null, bodyStart: null };
  return { hits, finding: hit === null ? null : findingOf(hit, none) };
}

/** Looks at an answer; at once where no body is waited for. Never rejects. */
export function inspectAnswer(services: GatewayServices, sight: Sight): Inspected | Promise<Inspected> {
  const { ask, answer } = sight;
  const { detection } = ask.rules.runtime;
  const rules = detection.book.at(ask.context.target);
  const head = headSeen(services, sight);
  const stage = rules.judgeHead(head);
  const wanted = bytesWanted(stage, head, detection.capture === null ? 0 : detection.lookAt);
  if (wanted === 0)
    return inspected(answer.body, stage.hits, {
      status: head.status,
      decoded: null,
      held: null,
      firstByteMs: head.firstByteMs,
    });
  const peeked = new PeekedBody(answer.body);
  return holdAndJudge(services, sight, { stage, peeked, wanted });
}

/** Bytes of the body, as it comes, that must be there before it can be judged. */
function bytesWanted(stage: HeadStage, head: HeadSeen, forCapture: number): number {
  const least = head.isReadable ? forCapture : 0;
  if (stage.pending.length === 0) return least;
  if (!head.fields.has('content-encoding')) return Math.max(stage.holdBytes, least);
  // What inflates is a quarter of its size at most, as pages go; a bit more costs nobody a round trip.
  return Math.max(
    Math.min(stage.holdBytes, Math.max(Math.ceil(stage.holdBytes / 2), 8192), MOST_CODED),
    least,
  );
}

function headSeen(services: GatewayServices, { ask, answer, firstByteMs }: Sight): HeadSeen {
  const { detection } = ask.rules.runtime;
  const { status, fields } = answer.head;
  const hasBody = answer.framing.kind !== 'none';
  return {
    status,
    fields,
    firstByteMs,
    usual: detection.usesBaseline ? services.baseline.usual(kindOf(ask, answer)) : UNKNOWN,
    length: lengthOf(answer.framing),
    isReadable: hasBody && isOfType(fields.get('content-type'), detection.types),
  };
}

const UNKNOWN = { size: null, firstByteMs: null };

/** What the baseline knows this answer by. */
export function kindOf(ask: Ask, answer: HopAnswer): { host: string; path: string; coding: string } {
  const { host, path } = ask.context.target;
  return { host, path, coding: answer.head.fields.get('content-encoding') ?? '' };
}

function lengthOf(framing: Framing): number | null {
  if (framing.kind === 'length') return framing.length;
  return framing.kind === 'none' ? 0 : null;
}

/** Whether the field names one of the types, or JSON with a name of its own; where there is none, anything may come. */
export function isOfType(contentType: string | undefined, types: ReadonlySet<string>): boolean {
  if (contentType === undefined) return true;
  if (types.has(contentType)) return true;
  const end = contentType.indexOf(';');
  const type = (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
  return types.has(type) || (type.endsWith('+json') && types.has('application/json'));
}

interface Holding {
  readonly stage: HeadStage;
  readonly peeked: PeekedBody;
  readonly wanted: number;
}

function holdAndJudge(
  services: GatewayServices,
  sight: Sight,
  holding: Holding,
): Inspected | Promise<Inspected> {
  const waiting = hold(services, sight, holding);
  return waiting === null
    ? judgeHeld(services, sight, holding)
    : waiting.then(() => judgeHeld(services, sight, holding));
}

function judgeHeld(
  services: GatewayServices,
  sight: Sight,
  { stage, peeked }: Holding,
): Inspected | Promise<Inspected> {
  const held = { bytes: peeked.bytes(), isWhole: peeked.isWhole, broken: peeked.broken };
  const { status, firstByteMs } = stage.head;
  if (stage.pending.length === 0)
    return inspected(peeked, stage.hits, { status, decoded: null, held, firstByteMs });
  const settle = (judged: Judgement): Inspected => {
    if (judged.kind === 'judged')
      return inspected(peeked, judged.hits, { status, decoded: judged.bytes, held, firstByteMs });
    return {
      ...inspected(peeked, stage.hits, { status, decoded: null, held, firstByteMs }),
      notInspected: judged.why,
    };
  };
  const judging = services.judge.judge({
    book: sight.ask.rules.runtime.detection.book,
    place: sight.ask.context.target,
    stage,
    raw: held.bytes,
    coding: codingOf(stage.head.fields),
    isWhole: held.isWhole,
  });
  return judging instanceof Promise ? judging.then(settle) : settle(judging);
}

/** Reads until enough is there, the body ends, the time is over or the client leaves. */
function hold(services: GatewayServices, sight: Sight, { peeked, wanted }: Holding): Promise<void> | null {
  let goOn: () => void = () => undefined;
  peeked.read(wanted, () => goOn());
  if (peeked.isRead || sight.abandonment.isAbandoned) return null;
  return new Promise((resolve) => {
    const deadline = services.wheel.arm(sight.ask.rules.runtime.detection.holdMs, () => goOn());
    goOn = () => {
      deadline.cancel();
      sight.abandonment.listen(null);
      peeked.stopReading();
      resolve();
    };
    sight.abandonment.listen(goOn);
  });
}

interface Looked {
  readonly status: number;
  readonly decoded: Uint8Array | null;
  readonly held: Inspected['held'];
  readonly firstByteMs: number;
}

function inspected(body: BodySource, hits: readonly RuleHit[], looked: Looked): Inspected {
  const hit = hits.length === 0 ? null : decisive(hits);
  const finding = hit === null ? null : findingOf(hit, { status: looked.status, ...traceOf(looked.decoded) });
  const { held, firstByteMs } = looked;
  return { body, hits, finding, notInspected: null, held, firstByteMs };
}

const START_CHARS = 200;

/** What is kept of a body that spoke against an exit. */
function traceOf(decoded: Uint8Array | null): { bodyHash: string | null; bodyStart: string | null } {
  if (decoded === null) return { bodyHash: null, bodyStart: null };
  const start = Buffer.from(decoded.subarray(0, START_CHARS * 4)).toString('utf8');
  return {
    bodyHash: createHash('sha256').update(decoded).digest('hex'),
    bodyStart: start
      .replace(/[\s\u0000-\u001f\u007f]+/g, ' ')
      .trim()
      .slice(0, START_CHARS),
  };
}
