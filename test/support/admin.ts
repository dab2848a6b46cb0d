/** Asks the admin listener of a test's gateway: tokens of each scope, answers with their parsed bodies. */
import http from 'node:http';
import type { TestGateway } from './gateway.js';

/** A token of each scope, and the section `admin` that configures them. */
export const tokens = {
  admin: 'admin-token-0123456789',
  operator: 'operator-token-0123456789',
  read: 'read-token-0123456789',
  tokens: 'tokens-token-0123456789',
} as const;

export const adminSection = {
  tokens: Object.entries(tokens).map(([name, token]) => ({
    name: name === 'tokens' ? 'crawler' : name,
    token,
    scopes: [name],
  })),
};

/** An answer. */
export interface AdminAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  /** The body parsed; undefined where it is no JSON. */
  readonly body: ReturnType<typeof JSON.parse>;
}

/** What to ask beside the path. */
export interface AdminAsk {
  readonly method?: string;
  /** Null for none; the admin's when left out. */
  readonly token?: string | null;
  /** Sent as JSON, or as it is when it is text. */
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** One request on a connection of its own, to a port or a socket of the file system. */
export function askAdmin(to: number | string, path: string, ask: AdminAsk = {}): Promise<AdminAnswer> {
  const { method = 'GET', token = tokens.admin, body } = ask;
  const text = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body);
  const headers = {
    ...(token !== null && { authorization: `Bearer ${token}` }),
    ...(text !== null && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    ...ask.headers,
  };
  const place = typeof to === 'number' ? { host: '127.0.0.1', port: to } : { socketPath: to };
  return new Promise((resolve, reject) => {
    const request = http.request({ ...place, method, path, headers, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => resolve(answerOf(answer, Buffer.concat(chunks).toString('utf8'))));
    });
    request.once('error', reject);
    request.end(text ?? undefined);
  });
}

function answerOf({ statusCode = 0, headers }: http.IncomingMessage, text: string): AdminAnswer {
  const isJson = /json/.test(headers['content-type'] ?? '');
  return { status: statusCode, headers, text, body: isJson ? JSON.parse(text) : undefined };
}

/** The exits of a gateway as the API lists them. */
export async function exitsOf(gateway: TestGateway, query = ''): Promise<ReturnType<typeof JSON.parse>[]> {
  return (await askAdmin(gateway.adminPort, `/api/v1/upstreams${query}`)).body.items;
}
