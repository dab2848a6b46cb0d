/** Requests by hand through a gateway: one question, one answer, everything that came kept. */
import type { TestGateway } from './gateway.js';
import { fieldsOf, RawClient, type RawMessage } from './raw-client.js';
import { serveEach, startScripted, type Peer, type ScriptedUpstream } from './scripted-upstream.js';

/** What to ask beside the target. */
export interface AskOptions {
  readonly method?: string;
  /** Whole lines without line ends. */
  readonly fields?: readonly string[];
  /** Sent with its Content-Length. */
  readonly body?: string;
  /** Follows the head in the same segment. */
  readonly early?: string;
}

/** An answer that can be looked into. */
export interface Answer extends RawMessage {
  field(name: string): string | undefined;
  /** The body of an error answer. */
  problem(): {
    code: string;
    blame: string;
    status: number;
    retryable: boolean;
    requestId: string;
    detail: string;
  };
}

/** An answer with its helpers. */
export function answerOf(message: RawMessage): Answer {
  return {
    ...message,
    field: (name) => fieldsOf(message.head, name)[0],
    problem: () => JSON.parse(message.body.toString('utf8')) as ReturnType<Answer['problem']>,
  };
}

/** The head of a request, with its Host. */
export function headFor(target: string, options: AskOptions = {}): string {
  const method = options.method ?? 'GET';
  const host = method === 'CONNECT' ? target : new URL(target).host;
  const length =
    options.body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(options.body, 'latin1')}`];
  return [`${method} ${target} HTTP/1.1`, `Host: ${host}`, ...(options.fields ?? []), ...length, '', ''].join(
    '\r\n',
  );
}

/** One request on a connection of its own. */
export async function ask(
  gateway: Pick<TestGateway, 'port'>,
  target: string,
  options: AskOptions = {},
): Promise<Answer> {
  const client = await RawClient.connect(gateway.port);
  client.write(headFor(target, options) + (options.body ?? '') + (options.early ?? ''));
  const message = await client.answer();
  client.destroy();
  return answerOf(message);
}

/** A CONNECT; the client stays connected, inside the tunnel where there is one. */
export async function connect(
  gateway: TestGateway,
  target: string,
  options: AskOptions = {},
): Promise<{ client: RawClient; answer: Answer }> {
  const client = await RawClient.connect(gateway.port);
  client.write(headFor(target, { ...options, method: 'CONNECT' }) + (options.early ?? ''));
  return { client, answer: answerOf(await client.answer()) };
}

/** An exit that answers every plain request alike, and every CONNECT with a tunnel to an echo. */
export function startExit(
  respond: (peer: Peer, request: { head: string; body: string }) => Promise<void> | void,
): Promise<ScriptedUpstream> {
  return startScripted(serveEach((peer, request) => respond(peer, request)));
}

/** Opens the tunnel for CONNECT and answers plain requests with this text. */
export function answering(text: string) {
  return (peer: Peer, { head }: { head: string }): void => {
    if (!head.startsWith('CONNECT ')) {
      peer.answer(text);
      return;
    }
    peer.write('HTTP/1.1 200 OK\r\n\r\n');
    peer.echo();
  };
}
