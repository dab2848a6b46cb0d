/**
 * Lists of upstreams as vendors hand them out: one upstream a line, any of
 *
 *   http://user:password@host:port     a URL; its login is percent-decoded
 *   user:password@host:port            the same without a protocol: http
 *   host:port                          http, without login
 *   host:port:user:password            http; the login is taken as it stands, never decoded
 *
 * Blank lines, lines that begin with `#`, and whatever follows a blank and `#` are left out; so is a byte order mark.
 * A line that ends in `@host:port` is the second form, also when it could be read as the fourth.
 * Reasons never repeat the line: it may hold a password.
 */
import { makeUpstream, parseAddress, parseAuthority, parseUpstreamUrl } from './upstream.js';
import type { ParsedUpstream, Upstream, UpstreamOptions } from './upstream.js';

/** A line that was left out. */
export interface ListProblem {
  /** From 1; 0 for the list as a whole. */
  readonly line: number;
  readonly reason: string;
}

const MAX_PROBLEMS = 1000;

/**
 * Reads a list.
 * @param options what holds for every line: tags, country, weight …
 * @returns the upstreams in order, each id once, and every line that was left out with its reason
 *   (the first thousand, then one with line 0 that counts the others).
 */
export function parseList(
  text: string,
  options: UpstreamOptions = {},
): { entries: Upstream[]; problems: ListProblem[] } {
  const entries: Upstream[] = [];
  const problems: ListProblem[] = [];
  const firstLines = new Map<string, number>();
  let dropped = 0;
  const report = (line: number, reason: string): void => {
    if (problems.length < MAX_PROBLEMS) problems.push({ line, reason });
    else dropped++;
  };
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  lines.forEach((raw, index) => {
    const content = raw.replace(/(?:^|[ \t])#.*$/, '').trim();
    if (content === '') return;
    const parsed = parseLine(content, options);
    if (parsed.kind === 'bad') {
      report(index + 1, parsed.reason);
      return;
    }
    const first = firstLines.get(parsed.upstream.id);
    if (first !== undefined) {
      report(index + 1, `the same upstream as in line ${first}; this line is left out`);
      return;
    }
    firstLines.set(parsed.upstream.id, index + 1);
    entries.push(parsed.upstream);
  });
  if (dropped > 0) problems.push({ line: 0, reason: `${dropped} more lines were left out` });
  return { entries, problems };
}

function parseLine(line: string, options: UpstreamOptions): ParsedUpstream {
  if (/^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(line)) return parseUpstreamUrl(line, options);
  const at = line.lastIndexOf('@');
  if (at >= 0 && parseAddress(line.slice(at + 1), null).kind === 'ok') {
    return parseAuthority(line, 'http', options);
  }
  const parts = /^(\[[^\]]*\]|[^:]*):([0-9]+):([^:]*):(.*)$/.exec(line);
  if (parts !== null) {
    const [, host = '', port = '', username = '', password = ''] = parts;
    const address = parseAddress(`${host}:${port}`, null);
    if (address.kind === 'bad') return address;
    return makeUpstream({ protocol: 'http', ...address.value, login: { username, password } }, options);
  }
  if (at >= 0) return { kind: 'bad', reason: 'after the last @ a host and a port are wanted' };
  const address = parseAddress(line, null);
  if (address.kind === 'bad') return address;
  return makeUpstream({ protocol: 'http', ...address.value, login: null }, options);
}
