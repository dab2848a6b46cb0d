/** Errors of the admin listener: `application/problem+json` (RFC 9457), whoever found them. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyReply } from 'fastify';

const titles: Readonly<Record<number, string>> = {
  400: 'The request is malformed.',
  401: 'A token is wanted.',
  403: 'The token may not do this.',
  404: 'There is no such thing.',
  405: 'This page can not be asked for in that way.',
  408: 'The request did not arrive in time.',
  409: 'It does not fit what is there.',
  413: 'The request is too large.',
  414: 'The path is too long.',
  415: 'The request is of a type that is not understood.',
  421: 'The request was meant for somebody else.',
  422: 'The request can not be carried out as it stands.',
  431: 'The head of the request is too large.',
  500: 'The admin server failed.',
  503: 'Too many are listening.',
};

const malformedStatus = new Map([
  ['HPE_HEADER_OVERFLOW', 431],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
]);

/** An error that a route answers with. `detail` is for whoever asked and must hold no secret. */
export class Problem extends Error {
  constructor(
    readonly statusCode: number,
    readonly detail: string,
  ) {
    super(detail);
  }
}

/** The body of an error. */
export function problemText(status: number, detail: string): string {
  const title = titles[status] ?? 'The request failed.';
  return JSON.stringify({ type: 'about:blank', title, status, detail });
}

/** Answers with an error. */
export function sendProblem(reply: FastifyReply, status: number, detail: string): FastifyReply {
  const body = problemText(status, detail);
  // Text that is ready goes past the serializers of the routes.
  return reply
    .code(status)
    .type('application/problem+json')
    .serializer(() => body)
    .send(body);
}

/** Answers what Node's parser refuses, in the same form as everything else. */
export function refuseMalformed(error: Error & { code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status = malformedStatus.get(error.code ?? '') ?? 400;
  const body = problemText(status, 'The request could not be read.');
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nContent-Type: application/problem+json`;
  socket.end(`${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`);
}
