/**
 * The referee of an upstream's bytes: whatever they are, the client hears a whole and well-formed answer, or one that is
 * visibly cut. Returns complaints; an empty list is a pass.
 */
import type { TurnpikeEvent } from '../../src/core/events.js';
import { judge } from '../http1/llhttp.js';
import type { ScriptedReply } from './recorder.js';
import { readSocksOpening } from './strict-socks.js';
import { readAnswer, statusOf, valuesOf, type StrictMessage } from './strict.js';
import type { Heard } from './talk.js';

/** One reply and all that came of it. */
export interface AnswerOutcome {
  readonly kind: 'answer' | 'socks';
  readonly method: string;
  readonly reply: ScriptedReply;
  readonly heard: Heard;
  readonly events: readonly TurnpikeEvent[];
  /** Whether another exit answers where this reply is none. */
  readonly isHelped: boolean;
}

/** Everything that is wrong with how these bytes were passed on. */
export function judgeAnswer(outcome: AnswerOutcome): string[] {
  const { heard, method, events } = outcome;
  if (heard.hangs) return ['the gateway did not close'];
  const sent = Buffer.concat(outcome.reply.pieces);
  const complaints = events.flatMap((event) =>
    event.type === 'note' && event.level === 'error'
      ? [`an error inside: ${JSON.stringify(event.detail)}`]
      : [],
  );
  for (let at = 0; at < heard.text.length;) {
    const step = readAnswer(heard.text, at, method, !heard.wasReset);
    if (step.kind === 'bad') return [...complaints, `the client heard ${step.why}`];
    if (step.kind === 'cut') return complaints;
    at = step.end;
    const status = statusOf(step.message);
    if (status < 200 && status !== 101) continue;
    const rest = heard.text.slice(at);
    const isSwitched = status === 101 || (method === 'CONNECT' && status < 300);
    if (isSwitched) return [...complaints, ...judgeTunnel(outcome, sent, rest)];
    if (rest !== '') return [...complaints, `bytes behind the answer: ${JSON.stringify(rest.slice(0, 80))}`];
    const isOthers = outcome.isHelped && step.message.body.startsWith(`${method} http://helped.test/ `);
    return isOthers ? complaints : [...complaints, ...judgeBody(step.message, method, sent)];
  }
  return complaints;
}

/** What comes out of a tunnel is what the upstream said behind its answer. */
function judgeTunnel({ kind }: AnswerOutcome, sent: Buffer, rest: string): string[] {
  const text = sent.toString('latin1');
  if (kind === 'answer') return text.includes(rest) ? [] : ['strange bytes out of a tunnel'];
  const behind = readSocksOpening(sent);
  if (behind === null) return ['a tunnel that the SOCKS server never opened'];
  return behind.toString('latin1').startsWith(rest) ? [] : ['strange bytes out of a SOCKS tunnel'];
}

/** Where llhttp is wrong: see test/http1/referee.test.ts. */
const isTheirFault = (text: string): boolean =>
  /chunked *\t/i.test(text) || /^[\r\n]*HTTP\/1.\d 1/.test(text);

/** An answer of the upstream that was passed on as whole was whole, and says what it said. */
function judgeBody(message: StrictMessage, method: string, sent: Buffer): string[] {
  if (valuesOf(message, 'proxy-status').length > 0 && valuesOf(message, 'x-turnpike-verdict').length > 0) {
    if (message.body.startsWith('{"type":"about:blank"')) return [];
  }
  if (method === 'HEAD') return [];
  const text = sent.toString('latin1');
  const theirs = judge(sent, 'response');
  if (theirs.kind === 'message') {
    return theirs.body === message.body || isTheirFault(text) ? [] : ['another body than llhttp reads'];
  }
  const isCut = theirs.kind === 'more' && readAnswer(text, 0, method, true).kind === 'cut';
  return isCut ? ['an answer that was cut is passed off as whole'] : [];
}
