/**
 * Runs inputs through a real gateway, one after the other so that the CPU of each can be told, and a marked question
 * after each: its answer must be its own, whatever the input left behind.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { TurnpikeEvent } from '../../src/core/events.js';
import { makeCertificate, type TestCertificate } from '../support/real-origins.js';
import type { Input, Inputs } from './inputs.js';
import { judgeAnswer } from './judge-answer.js';
import { judgeStream, startedOf, triesOf } from './judge-stream.js';
import { cutUp } from './mutate.js';
import type { ScriptedReply } from './recorder.js';
import { startSide, type Side } from './sides.js';
import { sendStream, type Heard } from './talk.js';
import { ways, type Way } from './ways.js';

/** An input that was served wrongly. */
export interface Finding {
  readonly input: Input;
  readonly complaint: string;
}

/** What a run showed. */
export interface Figures {
  inputs: number;
  /** Requests that reached the upstream whole, marked ones aside. */
  reached: number;
  marks: number;
  mixUps: number;
  hangs: number;
  /** Errors and rejections that nobody caught. */
  uncaught: number;
  cpuMs: number[];
  blockedMs: number;
  findings: Finding[];
}

/** Another gateway after so many inputs, so that its end is tried too and events don't pile up. */
const INPUTS_A_GATEWAY = 2_000;
const MANY_FINDINGS = 20;

/** What stands for the time of a batch. */
type Stand = ReadonlyMap<Way, Side>;

/** Serves one input and returns the complaints about it, and where the marked question goes. */
type Serve = (
  side: Side,
  input: Input,
  inputs: Inputs,
) => Promise<{ complaints: string[]; isHang: boolean; reached: number; markedAt?: string }>;

/** Runs the corpus as it is, and then so many spoiled inputs. */
export async function runCampaign(
  what: 'streams' | 'answers',
  inputs: Inputs,
  count: number,
): Promise<Figures> {
  const figures: Figures = {
    ...{
      inputs: 0,
      reached: 0,
      marks: 0,
      mixUps: 0,
      hangs: 0,
      uncaught: 0,
      cpuMs: [],
      blockedMs: 0,
      findings: [],
    },
  };
  const stopWatching = watchUncaught(figures);
  try {
    await runAll(what, { figures, inputs, count });
  } finally {
    stopWatching();
  }
  return figures;
}

async function runAll(
  what: 'streams' | 'answers',
  { figures, inputs, count }: { figures: Figures; inputs: Inputs; count: number },
): Promise<void> {
  const serve = what === 'streams' ? serveStream : serveAnswer;
  const corpus = inputs.corpus();
  const total = corpus.length + count;
  const which = what === 'streams' ? ways : (['plain'] as const);
  const certificate = await makeCertificate();
  const goesOn = (): boolean => figures.inputs < total && figures.findings.length < MANY_FINDINGS;
  while (goesOn()) {
    const stand = await startStand(which, certificate);
    const until = figures.inputs + INPUTS_A_GATEWAY;
    // Only while inputs are served: to start so many gateways takes its time.
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    while (goesOn() && figures.inputs < until) {
      const input = corpus[figures.inputs] ?? inputs.next();
      const side = stand.get(input.way);
      if (side !== undefined) await runOne(serve, { side, figures, inputs }, input);
    }
    delay.disable();
    figures.blockedMs = Math.max(figures.blockedMs, delay.max / 1e6);
    for (const side of stand.values()) await side.close();
  }
  await certificate.dispose();
}

async function startStand(which: readonly Way[], certificate: TestCertificate): Promise<Stand> {
  const sides = which.map(async (way) => [way, await startSide(way, certificate)] as const);
  return new Map(await Promise.all(sides));
}

async function runOne(
  serve: Serve,
  { side, figures, inputs }: { side: Side; figures: Figures; inputs: Inputs },
  input: Input,
): Promise<void> {
  (side.gateway.events as TurnpikeEvent[]).length = 0;
  for (const recorder of side.recorders) recorder.take();
  const before = process.cpuUsage();
  const { complaints, isHang, reached, markedAt = 'mark.test' } = await serve(side, input, inputs);
  const { user, system } = process.cpuUsage(before);
  figures.cpuMs.push((user + system) / 1000);
  figures.reached += reached;
  if (isHang) figures.hangs++;
  for (const recorder of side.recorders) recorder.reply = () => null;
  const url = `http://${markedAt}/${figures.inputs}`;
  const answer = await side.marked.ask(url);
  figures.marks++;
  if (answer !== `GET ${url} 0`) {
    figures.mixUps++;
    complaints.push(`a marked question was answered by ${JSON.stringify(answer.slice(0, 200))}`);
  }
  figures.inputs++;
  figures.findings.push(...complaints.map((complaint) => ({ input, complaint })));
}

const serveStream: Serve = async ({ gateway, recorders, dial }, { bytes, way }, { random }) => {
  const heard = await sendStream(dial(), cutUp(bytes, random));
  const isQuiet = await quiet(() => recorders.every(({ busy }) => busy === 0));
  // The end of a tunnel is told when both its sides are closed, which the client may see first.
  await quiet(() => startedOf(recorders.flatMap((each) => each.recorded)) <= triesOf(gateway.events));
  const taken = recorders.map((recorder) => recorder.take());
  const [recorded, insides] = [taken.flatMap((each) => each.recorded), taken.flatMap((each) => each.insides)];
  const complaints = judgeStream({
    ...{ way, heard, recorded, insides },
    text: bytes.toString('latin1'),
    events: gateway.events,
  });
  if (!isQuiet) complaints.push('half a request was left at the upstream');
  return {
    complaints,
    isHang: heard.hangs,
    reached: recorded.filter(({ kind }) => kind === 'message').length,
  };
};

/** The targets by which an answer is asked for: one proxy, one behind a SOCKS5 proxy, one of two exits. */
const ANSWER_HOSTS = ['fuzz.test', 'fuzz.test', 'fuzz.test', 'behind.test', 'helped.test'] as const;
const METHODS = ['GET', 'GET', 'GET', 'HEAD', 'POST', 'upgrade'] as const;
const ENDS = ['end', 'end', 'end', 'reset', 'keep'] as const;

const serveAnswer: Serve = async (side, { kind, bytes }, { random }) => {
  const reply: ScriptedReply = {
    pieces: cutUp(bytes, random),
    then: ENDS[random.below(ENDS.length)] ?? 'end',
  };
  const asked = kind === 'answer' ? (METHODS[random.below(METHODS.length)] ?? 'GET') : 'CONNECT';
  const isSocks = kind === 'socks-answer';
  const host = isSocks ? 'socks.test' : hostFor(asked, random.below(ANSWER_HOSTS.length));
  const isHelped = host === 'helped.test';
  const speakers = isHelped ? [side.spoilt] : side.recorders;
  for (const recorder of speakers) recorder.reply = () => reply;
  side.socks.greet = () => reply;
  const heard: Heard = await sendStream(side.dial(), [Buffer.from(questionOf(asked, host))]);
  const method = asked === 'upgrade' ? 'GET' : asked;
  const reached = side.recorders.flatMap((recorder) => recorder.take().recorded);
  const outcome = {
    kind: isSocks ? 'socks' : 'answer',
    ...{ method, reply, heard, isHelped },
    events: side.gateway.events,
  } as const;
  return {
    complaints: judgeAnswer(outcome),
    isHang: heard.hangs,
    reached: reached.length,
    ...(!isSocks && { markedAt: host }),
  };
};

/** A tunnel behind SOCKS5 has no answer that could be spoilt. */
function hostFor(asked: string, drawn: number): string {
  const host = ANSWER_HOSTS[drawn] ?? 'fuzz.test';
  return asked === 'CONNECT' && host === 'behind.test' ? 'fuzz.test' : host;
}

function questionOf(asked: (typeof METHODS)[number] | 'CONNECT', host: string): string {
  if (asked === 'CONNECT') return `CONNECT ${host}:443 HTTP/1.1\r\nHost: ${host}:443\r\n\r\n`;
  const more =
    asked === 'upgrade'
      ? 'Connection: Upgrade\r\nUpgrade: websocket\r\n'
      : asked === 'POST'
        ? 'Content-Length: 4\r\n'
        : '';
  const method = asked === 'upgrade' ? 'GET' : asked;
  return `${method} http://${host}/ HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n${asked === 'POST' ? 'body' : ''}`;
}

/** Looks a few times, a turn of the event loop apart at first, whether the other side has seen the end too. */
async function quiet(isQuiet: () => boolean): Promise<boolean> {
  for (let nth = 0; nth < 400; nth++) {
    if (isQuiet()) return true;
    await new Promise((resolve) => (nth < 20 ? setImmediate(resolve) : setTimeout(resolve, 5)));
  }
  return isQuiet();
}

function watchUncaught(figures: Figures): () => void {
  const names = ['uncaughtException', 'unhandledRejection'] as const;
  const listener = (error: unknown): void => {
    figures.uncaught++;
    const complaint = error instanceof Error ? (error.stack ?? error.message) : String(error);
    figures.findings.push({ input: { kind: 'absolute', bytes: Buffer.alloc(0), way: 'plain' }, complaint });
  };
  const before = names.map((name) => process.listeners(name as 'uncaughtException'));
  names.forEach((name, n) => {
    for (const other of before[n] ?? []) process.off(name, other);
    process.on(name, listener);
  });
  return () => {
    names.forEach((name, n) => {
      process.off(name, listener);
      for (const other of before[n] ?? []) process.on(name, other);
    });
  };
}
