/**
 * Runs inputs through a real gateway, one after the other so that the CPU of each can be told, and a marked question
 * after each: its answer must be its own, whatever the input left behind.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { startGateway, type TestGateway } from '../support/gateway.js';
import type { TurnpikeEvent } from '../../src/core/events.js';
import type { Input, Inputs } from './inputs.js';
import { judgeAnswer } from './judge-answer.js';
import { judgeStream } from './judge-stream.js';
import { cutUp } from './mutate.js';
import { Recorder, type ScriptedReply } from './recorder.js';
import { MarkedClient, sendStream, type Heard } from './talk.js';

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
interface Stand {
  readonly gateway: TestGateway;
  readonly upstream: Recorder;
  readonly socks: Recorder;
  readonly marked: MarkedClient;
}

/** Serves one input and returns the complaints about it. */
type Serve = (
  stand: Stand,
  input: Input,
  inputs: Inputs,
) => Promise<{ complaints: string[]; isHang: boolean; reached: number }>;

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
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  try {
    await runAll(what === 'streams' ? serveStream : serveAnswer, { figures, inputs, count });
  } finally {
    delay.disable();
    stopWatching();
  }
  figures.blockedMs = delay.max / 1e6;
  return figures;
}

async function runAll(
  serve: Serve,
  { figures, inputs, count }: { figures: Figures; inputs: Inputs; count: number },
): Promise<void> {
  const corpus = inputs.corpus();
  const total = corpus.length + count;
  const goesOn = (): boolean => figures.inputs < total && figures.findings.length < MANY_FINDINGS;
  while (goesOn()) {
    const stand = await startStand();
    const until = figures.inputs + INPUTS_A_GATEWAY;
    while (goesOn() && figures.inputs < until) {
      await runOne(serve, { stand, figures, inputs }, corpus[figures.inputs] ?? inputs.next());
    }
    await endStand(stand);
  }
}

async function startStand(): Promise<Stand> {
  const upstream = new Recorder();
  const socks = new Recorder();
  const [httpPort, socksPort] = [await upstream.listen(), await socks.listen()];
  const quick = { site: '1ms', site_cap: '1ms', transport: '1ms', transport_cap: '1ms' };
  const gateway = await startGateway({
    upstreams: [],
    config: {
      targets: { allow: [] },
      pools: {
        main: { upstreams: [{ url: `http://127.0.0.1:${httpPort}` }] },
        socks: { upstreams: [{ url: `socks5h://127.0.0.1:${socksPort}` }] },
      },
      routes: [
        { match: { host: ['socks.test'] }, pools: ['socks'] },
        { match: {}, pools: ['main'] },
      ],
      retry: { retries: 0 },
      bans: quick,
      timeouts: { first_byte: '2s', body_idle: '2s', client_header: '5s', drain: '1s' },
    },
  });
  return { gateway, upstream, socks, marked: new MarkedClient(gateway.port) };
}

async function endStand({ gateway, upstream, socks, marked }: Stand): Promise<void> {
  marked.close();
  await gateway.close();
  await upstream.close();
  await socks.close();
}

async function runOne(
  serve: Serve,
  { stand, figures, inputs }: { stand: Stand; figures: Figures; inputs: Inputs },
  input: Input,
): Promise<void> {
  (stand.gateway.events as TurnpikeEvent[]).length = 0;
  stand.upstream.take();
  const before = process.cpuUsage();
  const { complaints, isHang, reached } = await serve(stand, input, inputs);
  const { user, system } = process.cpuUsage(before);
  figures.cpuMs.push((user + system) / 1000);
  figures.reached += reached;
  if (isHang) figures.hangs++;
  const url = `http://mark.test/${figures.inputs}`;
  stand.upstream.reply = () => null;
  const answer = await stand.marked.ask(url);
  figures.marks++;
  if (answer !== `GET ${url} 0`) {
    figures.mixUps++;
    complaints.push(`a marked question was answered by ${JSON.stringify(answer.slice(0, 200))}`);
  }
  figures.inputs++;
  figures.findings.push(...complaints.map((complaint) => ({ input, complaint })));
}

const serveStream: Serve = async ({ gateway, upstream }, { bytes }, { random }) => {
  const heard = await sendStream(gateway.port, cutUp(bytes, random));
  const isQuiet = await quiet(() => upstream.busy === 0);
  const { recorded, insides } = upstream.take();
  const complaints = judgeStream({
    text: bytes.toString('latin1'),
    heard,
    recorded,
    insides,
    events: gateway.events,
  });
  if (!isQuiet) complaints.push('half a request was left at the upstream');
  return {
    complaints,
    isHang: heard.hangs,
    reached: recorded.filter(({ kind }) => kind === 'message').length,
  };
};

const METHODS = ['GET', 'GET', 'GET', 'HEAD', 'POST', 'upgrade'] as const;
const ENDS = ['end', 'end', 'end', 'reset', 'keep'] as const;

const serveAnswer: Serve = async ({ gateway, upstream, socks }, { kind, bytes }, { random }) => {
  const reply: ScriptedReply = {
    pieces: cutUp(bytes, random),
    then: ENDS[random.below(ENDS.length)] ?? 'end',
  };
  const asked = kind === 'answer' ? (METHODS[random.below(METHODS.length)] ?? 'GET') : 'CONNECT';
  const isSocks = kind === 'socks-answer';
  upstream.reply = () => reply;
  socks.greet = () => reply;
  const heard: Heard = await sendStream(gateway.port, [
    Buffer.from(questionOf(asked, isSocks ? 'socks.test' : 'fuzz.test')),
  ]);
  const method = asked === 'upgrade' ? 'GET' : asked;
  const outcome = {
    kind: isSocks ? 'socks' : 'answer',
    method,
    reply,
    heard,
    events: gateway.events,
  } as const;
  return { complaints: judgeAnswer(outcome), isHang: heard.hangs, reached: upstream.take().recorded.length };
};

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
    figures.findings.push({ input: { kind: 'absolute', bytes: Buffer.alloc(0) }, complaint });
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
