/** One request for a page through one exit, by way of a gateway of our own: what came of it, and how long it took. */
import http from 'node:http';
import https from 'node:https';
import tls from 'node:tls';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../core/clock.js';

/** What to try. */
export interface Trial {
  readonly proxy: { readonly host: string; readonly port: number };
  /** Value of Proxy-Authorization. */
  readonly login: string;
  /** Id of the exit. */
  readonly exit: string;
  readonly url: URL;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** What came of it. */
export interface TrialResult {
  readonly isGood: boolean;
  /** Of the page; null where none came. */
  readonly status: number | null;
  readonly ms: number;
  /** What went wrong, or what the gateway thinks of the answer. */
  readonly detail: string;
  /** The gateway goes to no such target, whatever the exit: nothing was tried. */
  readonly isForbidden: boolean;
}

type Outcome = Omit<TrialResult, 'ms'>;

const failed = (detail: string, isForbidden = false): Outcome => ({
  isGood: false,
  status: null,
  detail,
  isForbidden,
});

/** Tries. Never rejects. */
export async function tryExit(trial: Trial): Promise<TrialResult> {
  const startedMs = trial.clock.nowMs();
  const outcome = await (trial.url.protocol === 'https:' ? throughTunnel(trial) : plainly(trial)).catch(
    (error: unknown) => failed(error instanceof Error ? error.message : 'it failed'),
  );
  return { ...outcome, ms: Math.round(trial.clock.nowMs() - startedMs) };
}

function controls({ exit, login, timeoutMs }: Trial): Record<string, string> {
  return {
    'proxy-authorization': login,
    'x-turnpike-upstream': exit,
    'x-turnpike-retries': '0',
    'x-turnpike-timeout': String(Math.max(1, Math.ceil(timeoutMs / 1000))),
  };
}

/** The words of the gateway about what went wrong (RFC 9209). */
function saidBy(headers: http.IncomingHttpHeaders): Outcome | null {
  const field = headers['proxy-status'];
  const text = Array.isArray(field) ? field.join() : (field ?? '');
  const match = /details="((?:[^"\\]|\\.)*)"/.exec(text);
  const said = match?.[1]?.replace(/\\(.)/g, '$1');
  return said === undefined ? null : failed(said, /; ?error=destination_ip_prohibited/.test(text));
}

function judge(answer: http.IncomingMessage): Outcome {
  answer.resume();
  const status = answer.statusCode ?? 0;
  const said = saidBy(answer.headers);
  if (said !== null) return said;
  const verdict = answer.headers['x-turnpike-verdict'];
  const isGood = verdict === undefined ? status < 400 : verdict === 'ok';
  const detail = typeof verdict === 'string' ? verdict : isGood ? 'ok' : 'refused';
  return { isGood, status, detail, isForbidden: false };
}

function plainly(trial: Trial): Promise<Outcome> {
  const { proxy, url } = trial;
  return answerOf(
    http.request({
      ...proxy,
      path: url.href,
      headers: { host: url.host, ...controls(trial) },
      agent: false,
      timeout: trial.timeoutMs,
    }),
  );
}

function answerOf(request: http.ClientRequest): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    request.once('timeout', () => request.destroy(new Error('no answer in time')));
    request.once('error', reject);
    request.once('response', (answer) => resolve(judge(answer)));
    request.end();
  });
}

async function throughTunnel(trial: Trial): Promise<Outcome> {
  const { url } = trial;
  const opened = await openTunnel(trial);
  if ('detail' in opened) return opened;
  try {
    const secure = tls.connect({ socket: opened.socket, servername: url.hostname });
    const createConnection = (): Duplex => secure;
    const path = `${url.pathname}${url.search}`;
    return await answerOf(
      https.request({ createConnection, host: url.hostname, path, agent: false, timeout: trial.timeoutMs }),
    );
  } finally {
    opened.socket.destroy();
  }
}

function openTunnel(trial: Trial): Promise<{ readonly socket: Duplex } | Outcome> {
  const { proxy, url } = trial;
  const authority = `${url.hostname}:${url.port === '' ? '443' : url.port}`;
  const headers = { host: authority, ...controls(trial) };
  const options = { ...proxy, method: 'CONNECT', path: authority, headers, agent: false as const };
  return new Promise((resolve, reject) => {
    const request = http.request({ ...options, timeout: trial.timeoutMs });
    request.once('timeout', () => request.destroy(new Error('no tunnel in time')));
    request.once('error', reject);
    request.once('connect', (answer, socket) => {
      if (answer.statusCode === 200) {
        resolve({ socket });
        return;
      }
      socket.destroy();
      resolve(saidBy(answer.headers) ?? failed(`the tunnel was refused with ${answer.statusCode ?? 0}`));
    });
    request.end();
  });
}
