/** Asks the admin API of a gateway that runs. What can go wrong is a value with an exit code; no secret is in it. */
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { join } from 'node:path';
import { adminSurroundings } from '../config/load.js';
import { Secret } from '../core/secret.js';
import { exitCodes } from './exit-codes.js';
import type { Flag, FlagValues } from './flags.js';

/** Flags of every command that talks to a gateway. */
export const adminFlags: readonly Flag[] = [
  {
    spelling: '--admin <url>',
    help: 'admin API: http://host:port, https://… or unix:/path (TURNPIKE_ADMIN_URL, default http://127.0.0.1:8081)',
  },
  {
    spelling: '--token-file <file>',
    help: 'file with the token (default TURNPIKE_ADMIN_TOKEN, or admin-token in TURNPIKE_DATA_DIR or ./data)',
  },
  { spelling: '--ca <file>', help: 'PEM file of a CA to trust for https://' },
  { spelling: '--json', help: 'print JSON' },
];

/** Why there is no good answer. */
export class AdminTrouble extends Error {
  /**
   * @param exitCode of the command
   * @param status of the answer; 0 where there was none
   * @param errors each thing that was wrong, where the answer tells of several
   */
  constructor(
    text: string,
    readonly exitCode: number,
    readonly status = 0,
    readonly errors: readonly { readonly line?: number; readonly message: string }[] = [],
  ) {
    super(text);
  }
}

/** How to reach a gateway. */
export interface AdminAccess {
  /** `http:`, `https:`, or a socket in the file system. */
  readonly at: URL | { readonly socket: string };
  readonly token: Secret;
  readonly ca: string | null;
}

const patienceMs = 30_000;
const mostBytes = 64 * 1024 * 1024;

const text = (values: FlagValues, name: string): string | null => {
  const value = values[name];
  return typeof value === 'string' && value !== '' ? value : null;
};

function fileText(path: string, what: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new AdminTrouble(`${what}: ${path} can not be read (${code})`, exitCodes.notStarted);
  }
}

/** Where the flags and the environment say that the gateway is. @throws AdminTrouble */
export function accessOf(values: FlagValues, env?: Parameters<typeof adminSurroundings>[0]): AdminAccess {
  const around = adminSurroundings(env);
  const address = text(values, 'admin') ?? around.url ?? 'http://127.0.0.1:8081';
  const file = text(values, 'tokenFile');
  const token =
    file === null && around.token !== null
      ? around.token
      : new Secret(
          fileText(
            file ?? join(around.dataDir, 'admin-token'),
            'no TURNPIKE_ADMIN_TOKEN, and the token file',
          ),
        );
  const ca = text(values, 'ca');
  return { at: placeOf(address), token, ca: ca === null ? null : fileText(ca, '--ca') };
}

function placeOf(address: string): AdminAccess['at'] {
  if (address.startsWith('unix:')) return { socket: address.slice('unix:'.length) };
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.host === '')
    throw new AdminTrouble(
      '--admin: expected http://host:port, https://host:port or unix:/path',
      exitCodes.notStarted,
    );
  return url;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A body that is ready to be sent. */
export interface TypedText {
  readonly type: string;
  readonly bytes: Buffer;
}

const jsonOf = (body: unknown): TypedText => ({
  type: 'application/json',
  bytes: Buffer.from(JSON.stringify(body)),
});

/** A client of the admin API. */
export class AdminClient {
  constructor(private readonly access: AdminAccess) {}

  /** One answer, parsed. @throws AdminTrouble when the gateway can't be reached or refuses */
  async call(method: Method, path: string, body?: unknown): Promise<unknown> {
    return this.told(await this.send(method, path, body === undefined ? null : jsonOf(body)));
  }

  /** The same with a text of some type as body. @throws AdminTrouble */
  async sendText(path: string, text: TypedText): Promise<unknown> {
    return this.told(await this.send('POST', path, text));
  }

  private told(answer: { readonly status: number; readonly body: string }): unknown {
    const parsed = parse(answer.body);
    if (answer.status >= 200 && answer.status < 300 && parsed !== undefined) return parsed;
    const { detail, errors } = (parsed ?? {}) as { detail?: unknown; errors?: AdminTrouble['errors'] };
    const said = typeof detail === 'string' ? detail : 'that is no answer of a Turnpike';
    throw new AdminTrouble(`${answer.status}: ${said}`, exitCodes.failed, answer.status, errors);
  }

  /** All items of a list, page by page. */
  async all(
    path: string,
    query: Readonly<Record<string, string | null>> = {},
  ): Promise<Record<string, unknown>[]> {
    const items: Record<string, unknown>[] = [];
    let cursor: string | null = null;
    do {
      const asked = { ...query, limit: '1000', cursor };
      const given = Object.entries(asked).filter((entry): entry is [string, string] => entry[1] !== null);
      const page = (await this.call('GET', `${path}?${new URLSearchParams(given).toString()}`)) as {
        items: Record<string, unknown>[];
        next: string | null;
      };
      items.push(...page.items);
      cursor = page.next;
    } while (cursor !== null);
    return items;
  }

  private send(
    method: string,
    path: string,
    body: TypedText | null,
  ): Promise<{ status: number; body: string }> {
    const { at, token, ca } = this.access;
    const headers = {
      authorization: `Bearer ${token.reveal()}`,
      ...(body !== null && { 'content-type': body.type, 'content-length': body.bytes.length }),
    };
    const place =
      at instanceof URL
        ? { host: at.hostname.replace(/^\[|\]$/g, ''), port: at.port === '' ? undefined : Number(at.port) }
        : { socketPath: at.socket, host: 'localhost' };
    const options = { ...place, method, path, headers, timeout: patienceMs, agent: false };
    const isTls = at instanceof URL && at.protocol === 'https:';
    return new Promise((resolve, reject) => {
      const request = isTls
        ? https.request({ ...options, ...(ca !== null && { ca }) })
        : http.request(options);
      request.once('timeout', () => request.destroy(new Error('no answer in time')));
      request.once('error', (error) => reject(this.unreachable(error)));
      request.once('response', (answer) => {
        collect(answer).then(
          (read) => resolve({ status: answer.statusCode ?? 0, body: read }),
          (error: Error) => reject(this.unreachable(error)),
        );
      });
      request.end(body?.bytes);
    });
  }

  private unreachable(error: Error): AdminTrouble {
    const { at } = this.access;
    const place = at instanceof URL ? at.origin : `unix:${at.socket}`;
    const reason = 'code' in error ? String(error.code) : error.message;
    return new AdminTrouble(`the gateway at ${place} can not be asked (${reason})`, exitCodes.notStarted);
  }
}

async function collect(answer: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new Error('the answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}
