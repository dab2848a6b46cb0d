/** Node's own parser, llhttp, as a referee: the first message in these bytes, or why there is none. */
import { createRequire } from 'node:module';

export interface Judged {
  readonly kind: 'message' | 'fault' | 'more';
  readonly code?: string;
  readonly line?: string;
  readonly pairs?: readonly (readonly [string, string])[];
  readonly body?: string;
}

type Handler = (...given: never[]) => unknown;

interface Parser {
  initialize(type: number, resource: object): void;
  execute(bytes: Buffer): number | (Error & { code: string });
  finish(): undefined | (Error & { code: string });
  [handler: number]: Handler;
}

interface ParserClass {
  new (): Parser;
  readonly REQUEST: number;
  readonly RESPONSE: number;
  readonly kOnHeaders: number;
  readonly kOnHeadersComplete: number;
  readonly kOnBody: number;
  readonly kOnMessageComplete: number;
}

const { HTTPParser, methods } = createRequire(import.meta.url)('node:_http_common') as {
  HTTPParser: ParserClass;
  methods: readonly string[];
};

export const methodsOfNode: readonly string[] = methods;

/** Collects the first message that a parser reports. */
class Listener {
  line = '';
  names: string[] = [];
  body = '';
  isOver = false;

  attach(parser: Parser): void {
    parser[HTTPParser.kOnHeaders] = (lines: string[]) => this.addFields(lines);
    parser[HTTPParser.kOnHeadersComplete] = (...given: unknown[]) => this.startMessage(given);
    parser[HTTPParser.kOnBody] = (bytes: Buffer) => this.addBody(bytes);
    parser[HTTPParser.kOnMessageComplete] = () => {
      this.isOver = true;
    };
  }

  private addFields(lines: string[]): void {
    if (!this.isOver && this.line === '') this.names.push(...lines);
  }

  private startMessage(given: unknown[]): number {
    if (this.isOver) return 0;
    const [, minor, lines, method, url, status, reason] = given as [
      ...[number, number, string[] | undefined],
      ...[number, string, number, string],
    ];
    if (lines !== undefined) this.names.push(...lines);
    this.line =
      status === undefined ? `${methods[method]} ${url} 1.${minor}` : `1.${minor} ${status} ${reason}`;
    return 0;
  }

  private addBody(bytes: Buffer): void {
    if (!this.isOver) this.body += bytes.toString('latin1');
  }

  pairs(): [string, string][] {
    return Array.from({ length: this.names.length / 2 }, (_, i) => [
      this.names[2 * i] ?? '',
      this.names[2 * i + 1] ?? '',
    ]);
  }
}

/** What llhttp makes of these bytes and a close after them. */
export function judge(bytes: Buffer, side: 'request' | 'response'): Judged {
  const parser = new HTTPParser();
  parser.initialize(side === 'request' ? HTTPParser.REQUEST : HTTPParser.RESPONSE, {});
  const listener = new Listener();
  listener.attach(parser);
  const done = parser.execute(bytes);
  const fault = typeof done === 'number' ? undefined : done;
  if (!listener.isOver && fault !== undefined) return { kind: 'fault', code: fault.code };
  if (!listener.isOver) parser.finish();
  if (!listener.isOver) return { kind: 'more' };
  return { kind: 'message', line: listener.line, pairs: listener.pairs(), body: listener.body };
}
