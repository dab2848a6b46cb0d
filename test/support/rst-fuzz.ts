/**
 * Field case P01 as a machine: at a moment drawn by a seed one side of an exchange is reset. A run passes when the
 * gateway lives, nothing is left open, and the books balance.
 */
import { seededRandom } from '../../src/core/random.js';
import { RawClient } from './raw-client.js';
import { connectHead, getHead, requestHead } from './rig.js';
import type { Peer, Script } from './scripted-upstream.js';

/** Moments at which a reset may come, in the order in which an exchange meets them. */
export const moments = [
  'accept',
  'part of the head',
  'head',
  'part of the answer head',
  'answer head',
  'first byte',
  'middle',
  'after fin',
] as const;
export type Moment = (typeof moments)[number];

/** What is asked of the gateway. */
export const modes = ['tunnel', 'get', 'post', 'chunked', 'upgrade', 'pipelined'] as const;
export type Mode = (typeof modes)[number];

const body = 'x'.repeat(200_000);
const asks: Record<Mode, string> = {
  tunnel: `${connectHead()}ping`,
  get: getHead(),
  post: `${requestHead('POST http://a.test/', 'Host: a.test', `Content-Length: ${body.length}`)}${body}`,
  chunked: `${requestHead('POST http://a.test/', 'Host: a.test', 'Transfer-Encoding: chunked')}4\r\nbody\r\n0\r\n\r\n`,
  upgrade: `${getHead('http://a.test/', 'Connection: Upgrade', 'Upgrade: websocket')}ping`,
  pipelined: getHead().repeat(3),
};

/** The answer of an upstream in pieces, one for each moment from `part of the answer head` on. */
function answerTo(head: string): [string, string, string, string] {
  if (head.startsWith('CONNECT')) return ['HTTP/1.1 200', ' OK\r\n\r\n', 'p', 'ong'];
  if (/^upgrade:/im.test(head)) {
    return ['HTTP/1.1 101', ' Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n', 'p', 'ong'];
  }
  return ['HTTP/1.1 200', ' OK\r\nTransfer-Encoding: chunked\r\n\r\n', '1\r\np\r\n', '3\r\nong\r\n0\r\n\r\n'];
}

/** Who resets when. */
export interface Plan {
  readonly mode: Mode;
  readonly moment: Moment;
  readonly side: 'client' | 'upstream';
}

/** An upstream that resets as the plan of the moment says, and otherwise answers whatever comes. */
export function resettingUpstream(planNow: () => Plan): Script {
  return async (peer) => {
    let isOver = false;
    while (!isOver) isOver = await answerOnce(peer, planNow());
  };
}

async function answerOnce(peer: Peer, plan: Plan): Promise<boolean> {
  const resetsAt = (moment: Moment): boolean => {
    if (plan.side !== 'upstream' || plan.moment !== moment) return false;
    peer.reset();
    return true;
  };
  if (resetsAt('accept')) return true;
  if (plan.moment === 'part of the head') {
    await turn();
    if (resetsAt('part of the head')) return true;
  }
  const head = await peer.head();
  if (resetsAt('head')) return true;
  const pieces = answerTo(head);
  const after: Moment[] = ['part of the answer head', 'answer head', 'first byte', 'middle'];
  for (const [nth, piece] of pieces.entries()) {
    peer.write(piece);
    await turn();
    if (resetsAt(after[nth] ?? 'middle')) return true;
  }
  if (plan.moment !== 'after fin' && !/^(CONNECT|.*upgrade)/is.test(head)) return false;
  peer.end();
  await turn();
  resetsAt('after fin');
  return true;
}

/** One exchange, reset at the plan's moment. */
export async function runOnce(port: number, plan: Plan): Promise<void> {
  const client = await RawClient.connect(port);
  const isOurs = plan.side === 'client';
  const ask = asks[plan.mode];
  if (isOurs && plan.moment === 'accept') return client.reset();
  if (isOurs && plan.moment === 'part of the head') {
    client.write(ask.slice(0, 20));
    await turn();
    return client.reset();
  }
  client.write(ask);
  if (isOurs) await clientReset(client, plan.moment);
  else {
    // Either the reset reaches us, or an answer that says what happened.
    await client.untilSome();
    client.destroy();
  }
}

async function clientReset(client: RawClient, moment: Moment): Promise<void> {
  if (moment === 'head') await turn();
  else if (moment === 'after fin') {
    client.end();
    await turn();
  } else if (moment !== 'part of the answer head') await client.untilSome();
  client.reset();
}

/** Random plans, the same for the same seed. */
export function* plans(seed: number, count: number): Generator<Plan> {
  const random = seededRandom(seed);
  const pick = <T>(list: readonly T[]): T => list[random.below(list.length)] as T;
  for (let nth = 0; nth < count; nth++) {
    yield { mode: pick(modes), moment: pick(moments), side: pick(['client', 'upstream'] as const) };
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
