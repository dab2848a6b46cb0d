/** Errors of the admin listener: `application/problem+json` (RFC 9457) with a code of ours, whoever found them. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { scrub } from '../core/scrub.js';
import { codeOfStatus, problemTable, type ProblemCode, type ProblemRow } from './problem-codes.js';

const malformedCodes = new Map<string, ProblemCode>([
  ['HPE_HEADER_OVERFLOW', 'large_head'],
  ['ERR_HTTP_REQUEST_TIMEOUT', 'late'],
]);

/** One thing that was wrong: a field by its path, or a line of a text. */
export interface ProblemPart {
  readonly path?: string;
  readonly line?: number;
  readonly message: string;
}

/** An error that a route answers with. `detail` is for whoever asked and must hold no secret. */
export class Problem extends Error {
  readonly retryAfterMs: number | null;
  readonly errors: readonly ProblemPart[];

  /**
   * @param code decides the status
   * @param more `retryAfterMs`: when it may go better, where it is known; `errors`: the same as `detail`, for programs
   */
  constructor(
    readonly code: ProblemCode,
    readonly detail: string,
    more: { readonly retryAfterMs?: number | null; readonly errors?: readonly ProblemPart[] } = {},
  ) {
    super(detail);
    const { retryAfterS }: ProblemRow = problemTable[code];
    this.retryAfterMs = more.retryAfterMs ?? (retryAfterS === undefined ? null : retryAfterS * 1000);
    this.errors = more.errors ?? [];
  }
}

/** The body of an error. */
export function problemText({ code, detail, errors }: Problem): string {
  const { title, status } = problemTable[code];
  const more = errors.length === 0 ? {} : { errors };
  return scrub(JSON.stringify({ type: 'about:blank', title, status, code, detail, ...more }));
}

/** Answers with an error. */
export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  const { code, retryAfterMs } = problem;
  const body = problemText(problem);
  if (retryAfterMs !== null) reply.header('retry-after', Math.max(1, Math.ceil(retryAfterMs / 1000)));
  // Text that is ready goes past the serializers of the routes.
  return reply
    .code(problemTable[code].status)
    .type('application/problem+json')
    .serializer(() => body)
    .send(body);
}

/** An error of the server itself, of which only the status is known. */
export function problemOfStatus(status: number, detail: string): Problem {
  return new Problem(codeOfStatus(status), detail);
}

/** Answers what Node's parser refuses, in the same form as everything else. */
export function refuseMalformed(error: Error & { code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const code = malformedCodes.get(error.code ?? '') ?? 'malformed';
  const { status } = problemTable[code];
  const body = problemText(new Problem(code, 'The request could not be read.'));
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nContent-Type: application/problem+json`;
  socket.end(`${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`);
}
