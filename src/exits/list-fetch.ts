/**
 * Fetches a list of upstreams by its URL: bounded in time and size, asked for with what the last answer said of itself,
 * and only from public addresses, or from those that the source names. A name is resolved here, every address of it is
 * judged, and the one that was judged is dialled. Redirects are followed three times, each judged like the first; the
 * login of the URL goes to its own origin only. Reasons name the host and nothing else of the URL: it may hold a token.
 */
import { request } from 'undici';
import { AddressRefused, checkedAgent, faultText, type Resolve } from '../open/checked-agent.js';
import type { OwnAddresses, TargetPolicy } from '../protocol/target.js';

/** What is asked for. */
export interface ListAsk {
  readonly url: string;
  /** Exceptions to the refusal of special addresses. */
  readonly policy: TargetPolicy;
  /** What the last answer said of itself. */
  readonly last: ListStamp | null;
}

/** By what a server tells that a list is the same. */
export interface ListStamp {
  readonly etag: string | null;
  readonly lastModified: string | null;
}

/** What came of it. */
export type FetchedList =
  | { readonly kind: 'fresh'; readonly bytes: Uint8Array; readonly stamp: ListStamp }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'failed'; readonly reason: string };

/** Asks for a list; never rejects. */
export type FetchList = (ask: ListAsk) => Promise<FetchedList>;

/** Bounds and surroundings. */
export interface FetchParts {
  readonly own: OwnAddresses;
  readonly resolve?: Resolve;
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

const MOST_REDIRECTS = 3;

/** Why a list was not had; `message` is for people. */
class Refusal extends Error {}

/** Makes a fetch with these bounds. */
export function createListFetch(parts: FetchParts): FetchList {
  return async (ask) => {
    const signal = AbortSignal.timeout(parts.timeoutMs);
    try {
      return await follow(ask, parts, signal);
    } catch (error) {
      if (error instanceof Refusal) return { kind: 'failed', reason: error.message };
      const reason = signal.aborted
        ? 'there was no whole answer in time'
        : `${faultText(error)} while fetching the list`;
      return { kind: 'failed', reason };
    }
  };
}

async function follow(ask: ListAsk, parts: FetchParts, signal: AbortSignal): Promise<FetchedList> {
  const first = urlOf(ask.url, null);
  let url = first;
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const login = url.origin === first.origin ? basicOf(first) : null;
    const answer = await askOnce(url, { ask, parts, signal, login });
    if (answer.kind !== 'redirect') return answer;
    url = urlOf(answer.location, url);
  }
  throw new Refusal(`${first.host} redirects more than ${MOST_REDIRECTS} times`);
}

/** @throws Refusal for what is no URL of http or https, or would go from https to http */
function urlOf(text: string, from: URL | null): URL {
  const url = URL.canParse(text, from?.href) ? new URL(text, from?.href) : null;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new Refusal(
      from === null
        ? 'the URL of a list begins with http:// or https://'
        : `${from.host} redirects to no http URL`,
    );
  }
  if (from?.protocol === 'https:' && url.protocol === 'http:') {
    throw new Refusal(`${from.host} redirects from https to http`);
  }
  return url;
}

function basicOf({ username, password }: URL): string | null {
  if (username === '' && password === '') return null;
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`;
}

interface Surroundings {
  readonly ask: ListAsk;
  readonly parts: FetchParts;
  readonly signal: AbortSignal;
  readonly login: string | null;
}

type Answer = FetchedList | { readonly kind: 'redirect'; readonly location: string };

async function askOnce(url: URL, around: Surroundings): Promise<Answer> {
  const { ask, parts, signal, login } = around;
  const agent = agentFor(url, around);
  try {
    const { statusCode, headers, body } = await request(`${url.origin}${url.pathname}${url.search}`, {
      dispatcher: agent,
      signal,
      headers: {
        accept: '*/*',
        'accept-encoding': 'identity',
        ...(login !== null && { authorization: login }),
        ...conditionsOf(ask.last),
      },
    });
    const location = one(headers['location']);
    if (statusCode >= 301 && statusCode <= 308 && statusCode !== 304 && location !== null) {
      return { kind: 'redirect', location };
    }
    if (statusCode === 304 && ask.last !== null) return { kind: 'unchanged' };
    if (statusCode !== 200) throw new Refusal(`${url.host} answered ${statusCode}`);
    const bytes = await wholeBody(body, parts.maxBytes, url.host);
    const stamp = { etag: one(headers['etag']), lastModified: one(headers['last-modified']) };
    return { kind: 'fresh', bytes, stamp };
  } finally {
    void agent.destroy();
  }
}

function conditionsOf(last: ListStamp | null): Record<string, string> {
  const { etag = null, lastModified = null } = last ?? {};
  return {
    ...(etag !== null && { 'if-none-match': etag }),
    ...(lastModified !== null && { 'if-modified-since': lastModified }),
  };
}

/** @throws Refusal where the address may not be visited */
function agentFor(url: URL, { ask, parts }: Surroundings): ReturnType<typeof checkedAgent> {
  try {
    return checkedAgent(url, { ...parts, policy: ask.policy });
  } catch (error) {
    if (!(error instanceof AddressRefused)) throw error;
    throw new Refusal(
      error.hostPort === null
        ? 'the URL of the list has no proper host'
        : `${error.hostPort} may not be asked for lists; name it under allow`,
    );
  }
}

async function wholeBody(body: AsyncIterable<Buffer>, maxBytes: number, host: string): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > maxBytes)
      throw new Refusal(`the list of ${host} is longer than the ${maxBytes} bytes allowed`);
    pieces.push(piece);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function one(value: string | string[] | undefined): string | null {
  return typeof value === 'string' ? value : (value?.[0] ?? null);
}
