/**
 * The referee of a client's stream: what the strict reader makes of it, against what reached the upstream and what the
 * client heard. Returns complaints; an empty list is a pass.
 */
import type { TurnpikeEvent } from '../../src/core/events.js';
import { echoOf, type Inside, type Recorded } from './recorder.js';
import { readSocksAsk } from './strict-socks.js';
import {
  membersOf,
  partsOf,
  readAnswer,
  readRequest,
  statusOf,
  valuesOf,
  type StrictMessage,
} from './strict.js';
import type { Heard } from './talk.js';
import { isRightLogin, isRightPair, type Way } from './ways.js';

/** One stream and all that came of it. */
export interface StreamOutcome {
  readonly way: Way;
  readonly text: string;
  readonly heard: Heard;
  readonly recorded: readonly Recorded[];
  readonly insides: readonly Inside[];
  readonly events: readonly TurnpikeEvent[];
}

/** A request as the strict reader found it, and what stood behind it. */
interface Wanted {
  readonly message: StrictMessage;
  readonly rest: string;
  /** Whether it may go further: not without the right login where one is asked for. */
  readonly isAdmitted: boolean;
}

interface Reading {
  readonly wanted: readonly Wanted[];
  readonly isSocks: boolean;
  /** Whether it ends behind a whole request. */
  readonly isWhole: boolean;
}

/** As many empty lines may stand before a request. */
const EMPTY_LINES = /^(?:\r\n){0,4}/;

/** Everything that is wrong with how this stream was served. */
export function judgeStream(outcome: StreamOutcome): string[] {
  const { text, way, heard, recorded, insides, events } = outcome;
  if (heard.hangs) return ['the gateway did not close'];
  const complaints: string[] = [];
  for (const event of events) {
    if (event.type === 'note' && event.level === 'error')
      complaints.push(`an error inside: ${JSON.stringify(event.detail)}`);
  }
  for (const each of recorded) if (each.kind === 'bad') complaints.push(`upstream got ${each.why}`);
  const reading = readStream(text, way);
  const reached = recorded.flatMap((each) => (each.kind === 'message' ? [each.message] : []));
  complaints.push(
    ...matched(reached, reading),
    ...counted(recorded, events),
    ...sameInside(insides, reading),
  );
  if (!reading.isSocks) complaints.push(...judgeHeard(heard, reading, reached));
  return complaints;
}

function readStream(text: string, way: Way): Reading {
  const isOpen = way !== 'login';
  if (text.startsWith('\x05')) {
    const ask = readSocksAsk(Buffer.from(text, 'latin1'));
    if (ask === null) return { wanted: [], isSocks: true, isWhole: false };
    const message = connectOf(ask.authority);
    const isAdmitted = isOpen || isRightPair(ask.login ?? '');
    const wanted = [{ message, rest: ask.rest.toString('latin1'), isAdmitted }];
    return { wanted, isSocks: true, isWhole: true };
  }
  const wanted: Wanted[] = [];
  for (let at = 0; ;) {
    at += EMPTY_LINES.exec(text.slice(at, at + 8))?.[0].length ?? 0;
    if (at >= text.length) return { wanted, isSocks: false, isWhole: true };
    const step = readRequest(text, at);
    if (step.kind !== 'message') return { wanted, isSocks: false, isWhole: false };
    at = step.end;
    const isAdmitted = isOpen || isRightLogin(valuesOf(step.message, 'proxy-authorization'));
    wanted.push({ message: step.message, rest: text.slice(at), isAdmitted });
    // A challenged CONNECT may be followed by the same with a login.
    if (isAdmitted && partsOf(step.message)[0] === 'CONNECT')
      return { wanted, isSocks: false, isWhole: true };
  }
}

function connectOf(authority: string): StrictMessage {
  return { line: `CONNECT ${authority} HTTP/1.1`, fields: [], body: '' };
}

/** Each request that reached the upstream is one that the client sent, in the client's order. */
function matched(reached: readonly StrictMessage[], reading: Reading): string[] {
  let at = 0;
  for (const message of reached) {
    const reasons: string[] = [];
    for (; at < reading.wanted.length; at++) {
      const wanted = reading.wanted[at];
      const reason = wanted?.isAdmitted === true ? difference(wanted.message, message) : 'not admitted';
      if (reason === null) break;
      reasons.push(reason);
    }
    if (at++ >= reading.wanted.length)
      return [`upstream got a request that nobody sent: ${message.line} (${reasons.join('; ')})`];
  }
  return [];
}

const SIMPLE_HOST = /^(?!.*(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)\.?$)[a-z0-9-]+(?:\.[a-z0-9-]+)*$/i;

/** Why the request at the upstream is not this one, or null. */
function difference(wanted: StrictMessage, got: StrictMessage): string | null {
  const [method, target] = partsOf(wanted);
  const [gotMethod, gotTarget] = partsOf(got);
  if (method !== gotMethod) return 'another method';
  const [authority, path] = placeOf(method, target);
  const [gotAuthority, gotPath] = placeOf(method, gotTarget);
  if (path !== gotPath) return 'another path';
  if (SIMPLE_HOST.test(authority.replace(/:[0-9]*$/, '')) && !authority.includes('xn--')) {
    if (authority.toLowerCase().replace(method === 'CONNECT' ? '' : /:80$/, '') !== gotAuthority)
      return 'another host';
  }
  if (wanted.body !== got.body) return 'another body';
  if (valuesOf(got, 'host').join() !== gotAuthority) return 'another Host';
  if (method === 'CONNECT') return null;
  const [before, after] = [travelling(wanted), arrived(got)];
  return before === after ? null : `other fields: ${JSON.stringify([before, after])}`;
}

/** Authority and path of a target. */
function placeOf(method: string, target: string): [authority: string, path: string] {
  if (method === 'CONNECT') return [target, ''];
  const [, authority = '', path = ''] = /^[a-z]+:\/\/([^/?]*)(.*)$/is.exec(target) ?? [];
  return [authority, path.startsWith('/') ? path : `/${path}`];
}

const STAYS =
  /^(?:connection|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade|proxy-authorization|proxy-authenticate|proxy-authentication-info|http2-settings|host|x-session-id|x-gatekeeper-token|x-turnpike-.*)$/i;

/** The fields of a client that should travel on. */
function travelling(message: StrictMessage): string {
  const named = membersOf(message, 'connection');
  return linesOf(message.fields.filter(([name]) => !STAYS.test(name) && !named.includes(name.toLowerCase())));
}

/** The fields at the upstream without what the gateway says for itself: Host, the framing, an upgrade. */
function arrived(message: StrictMessage): string {
  const isOwn = ([name, value]: readonly [string, string]): boolean =>
    /^host: |^transfer-encoding: chunked$|^connection: upgrade$|^upgrade: websocket$/i.test(
      `${name}: ${value}`,
    );
  return linesOf(message.fields.filter((field) => !isOwn(field)));
}

const linesOf = (fields: StrictMessage['fields']): string =>
  fields.map(([name, value]) => `${name}: ${value}`).join('\n');

type Ended = Extract<TurnpikeEvent, { type: 'exchange_ended' }>;
const endedOf = (events: readonly TurnpikeEvent[]): Ended[] =>
  events.flatMap((event) => (event.type === 'exchange_ended' ? [event] : []));

/** How often the gateway says that it tried. */
export function triesOf(events: readonly TurnpikeEvent[]): number {
  return endedOf(events).reduce((sum, { attempts }) => sum + attempts, 0);
}

/** How many requests began to reach the upstream. */
export function startedOf(recorded: readonly Recorded[]): number {
  return recorded.filter(({ kind }) => kind !== 'bad').length;
}

/** An admitted request reaches the upstream once, and nothing else does. */
function counted(recorded: readonly Recorded[], events: readonly TurnpikeEvent[]): string[] {
  const [started, tries] = [startedOf(recorded), triesOf(events)];
  const whole = recorded.filter(({ kind }) => kind === 'message').length;
  const served = endedOf(events).filter(
    ({ code, attempts, end }) => code === null && attempts > 0 && end === 'complete',
  ).length;
  if (started > tries) return [`${started} requests at the upstream, ${tries} tries`];
  return whole < served ? [`${served} served, ${whole} requests at the upstream`] : [];
}

/** What went through a tunnel is what the client sent behind its request, or the beginning of it. */
function sameInside(insides: readonly Inside[], { wanted }: Reading): string[] {
  const strange = insides.filter(
    ({ text }) => !wanted.some(({ rest, isAdmitted }) => isAdmitted && rest.startsWith(text)),
  );
  return strange.map(({ text }) => `strange bytes in a tunnel: ${JSON.stringify(text.slice(0, 80))}`);
}

/** The client hears whole answers in order, each the one to its own request. */
function judgeHeard(heard: Heard, reading: Reading, reached: readonly StrictMessage[]): string[] {
  const { text } = heard;
  const echoes = reached.map(echoOf);
  let nth = 0;
  for (let at = 0; at < text.length;) {
    const asked = reading.wanted[nth]?.message;
    const method = asked === undefined ? '' : partsOf(asked)[0];
    const step = readAnswer(text, at, method, !heard.wasReset);
    if (step.kind === 'bad') return [`the client heard ${step.why}`];
    if (step.kind === 'cut')
      return reading.isWhole && !heard.wasReset ? ['the client heard half an answer'] : [];
    const status = statusOf(step.message);
    at = step.end;
    if (status < 200 && status !== 101) continue;
    if (status === 101 || (method === 'CONNECT' && status === 200)) return [];
    const isOurs = valuesOf(step.message, 'proxy-status').length > 0;
    // A request that was refused for its head is answered as if its method were not known.
    if (isOurs) at = method === 'HEAD' ? endOfBody(text, at, step.message) : at;
    else if (method !== 'HEAD' && !echoes.includes(step.message.body))
      return [`a strange answer: ${step.message.body}`];
    nth++;
  }
  return [];
}

function endOfBody(text: string, at: number, message: StrictMessage): number {
  return text.startsWith('{', at) ? at + Number(valuesOf(message, 'content-length')[0] ?? 0) : at;
}
