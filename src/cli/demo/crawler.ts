/**
 * The crawler of the demo: what any HTTP client does when it is told to use a proxy, and nothing more.
 * It sees the gateway only; which exit served it reads in the fields of the answer.
 */
import http from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** Where the proxy is that the crawler was told to use. */
export interface ProxyAt {
  readonly host: string;
  readonly port: number;
}

/** One request. */
export interface Ask {
  readonly url: string;
  /** More fields, such as `X-Session-Id`. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Login at the proxy, `name:password`. */
  readonly login?: string;
  /** Whether to go through a tunnel (CONNECT), as for every https page. */
  readonly isTunnelled?: boolean;
}

/** What came back. */
export interface Page {
  readonly status: number;
  readonly body: string;
  /** The source address that the site saw; null when no page of the site came. */
  readonly seenFrom: string | null;
  /** What the gateway said about the making of the answer; for a tunnel, in its answer to CONNECT. */
  readonly requestId: string;
  readonly upstream: string;
  readonly upstreamAddress: string;
  readonly attempts: number;
  readonly session: string;
}

/** Crawls one page at a time through one proxy. */
export class Crawler {
  private readonly agent = new http.Agent({ keepAlive: true });

  constructor(private readonly proxy: ProxyAt) {}

  /** Gets a page. @throws when the connection to the proxy breaks. */
  async get(ask: Ask): Promise<Page> {
    return ask.isTunnelled === true ? this.getThroughTunnel(ask) : this.getPlain(ask);
  }

  /** Lets go of idle connections. */
  close(): void {
    this.agent.destroy();
  }

  private async getPlain(ask: Ask): Promise<Page> {
    const { host } = new URL(ask.url);
    const headers = { Host: host, ...this.proxyFields(ask) };
    const request = http.request({ ...this.proxy, path: ask.url, headers, agent: this.agent });
    const answer = await answerTo(request);
    return pageOf(answer, await textOf(answer), answer.headers);
  }

  private async getThroughTunnel(ask: Ask): Promise<Page> {
    const { host, pathname } = new URL(ask.url);
    const headers = this.proxyFields(ask);
    const opened = await connected(
      http.request({ ...this.proxy, method: 'CONNECT', path: host, headers, agent: false }),
    );
    if (opened.socket === null)
      return pageOf(opened.answer, await textOf(opened.answer), opened.answer.headers);
    const { socket } = opened;
    const inner = http.request({
      path: pathname,
      headers: { Host: host, Connection: 'close' },
      createConnection: () => socket,
    });
    const answer = await answerTo(inner);
    const page = pageOf(answer, await textOf(answer), opened.answer.headers);
    socket.destroy();
    return page;
  }

  private proxyFields({ fields, login }: Ask): Record<string, string> {
    if (login === undefined) return { ...fields };
    return { ...fields, 'Proxy-Authorization': `Basic ${Buffer.from(login).toString('base64')}` };
  }
}

function answerTo(request: http.ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve).once('error', reject).end();
  });
}

interface Connected {
  readonly answer: IncomingMessage;
  /** Null when the tunnel was refused. */
  readonly socket: Duplex | null;
}

function connected(request: http.ClientRequest): Promise<Connected> {
  return new Promise((resolve, reject) => {
    request.once('connect', (answer, socket) => {
      resolve({ answer, socket: answer.statusCode === 200 ? socket : null });
    });
    request.once('error', reject).end();
  });
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = '';
  answer.setEncoding('utf8');
  for await (const piece of answer) text += piece;
  return text;
}

function pageOf(answer: IncomingMessage, body: string, making: IncomingHttpHeaders): Page {
  const said = (name: string): string => String(making[name] ?? '');
  const seenFrom = answer.headers['x-seen-from'];
  return {
    status: answer.statusCode ?? 0,
    body,
    seenFrom: typeof seenFrom === 'string' ? seenFrom : null,
    requestId: said('x-turnpike-request-id'),
    upstream: said('x-turnpike-upstream'),
    upstreamAddress: said('x-turnpike-upstream-address'),
    attempts: Number(said('x-turnpike-attempts')),
    session: said('x-turnpike-session'),
  };
}
