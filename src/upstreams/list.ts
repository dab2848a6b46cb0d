/**
 * Lists of upstreams as vendors hand them out. The first line that is neither blank nor a comment says what the list is:
 *
 *   begins with `{`                    JSON lines: one object a line
 *   names a url or host and another    CSV with a header, see list-csv.ts
 *   anything else                      plain: one upstream a line, any of
 *
 *   http://user:password@host:port     a URL; its login is percent-decoded
 *   user:password@host:port            the same without a protocol: http
 *   host:port                          http, without login
 *   host:port:user:password            http; the login is taken as it stands, never decoded
 *
 * Blank lines and lines that begin with `#` are left out, in plain lists also whatever follows a blank and `#`; so is a
 * byte order mark. A plain line that ends in `@host:port` is the second form, also when it could be read as the fourth.
 * What names of JSON and CSV mean: list-record.ts. Reasons never repeat the line: it may hold a password.
 */
import { IdMap } from './id-map.js';
import { hasTwins, readCsvHeader, readCsvRow } from './list-csv.js';
import type { CsvHeader } from './list-csv.js';
import { fieldNamed, upstreamOfRecord } from './list-record.js';
import type { ListRecord } from './list-record.js';
import { makeUpstream, parseAddress, parseAuthority, parseUpstreamUrl } from './upstream.js';
import type { ParsedUpstream, Upstream, UpstreamOptions } from './upstream.js';

/** A line that was left out. */
export interface ListProblem {
  /** From 1; 0 for the list as a whole. */
  readonly line: number;
  readonly reason: string;
}

const MAX_PROBLEMS = 1000;
const WANTED = 'each line must be one object, such as {"url":"http://host:port"}';
const TWINS = 'two columns of the header mean the same';

/** What a line gave. */
export type ListEntry =
  { readonly kind: 'upstream'; readonly upstream: Upstream } | (ListProblem & { readonly kind: 'problem' });

/** Reads one line; null for one that is no upstream and no fault: blank, a comment, the header. */
type LineReader = (line: string) => ParsedUpstream | null;

/** Reads a list at once; see {@link readList}. */
export function parseList(
  text: string,
  options: UpstreamOptions = {},
  from: 'file' | 'server' = 'file',
): { entries: Upstream[]; problems: ListProblem[] } {
  const entries: Upstream[] = [];
  const problems: ListProblem[] = [];
  for (const entry of readList(text, options, from)) {
    if (entry.kind === 'upstream') entries.push(entry.upstream);
    else problems.push({ line: entry.line, reason: entry.reason });
  }
  return { entries, problems };
}

/**
 * Reads a list, line by line as it is asked to, so that a long one need not be in memory as objects.
 * @param options what holds for every line: tags, country, weight …
 * @param from a list that comes from a server may not send us to targets without a proxy
 * @returns the upstreams in order, each id once, and every line that was left out with its reason
 *   (the first thousand, then one with line 0 that counts the others).
 */
export function* readList(
  text: string,
  options: UpstreamOptions,
  from: 'file' | 'server',
): Generator<ListEntry> {
  const firstLines = new IdMap();
  const read = readerFor(options);
  let problems = 0;
  let number = 0;
  for (const line of linesOf(text)) {
    number++;
    const parsed = read(line);
    if (parsed === null) continue;
    const reason = parsed.kind === 'bad' ? parsed.reason : refusal(parsed.upstream, firstLines, from);
    if (parsed.kind === 'upstream' && reason === null) {
      firstLines.set(parsed.upstream.id, number);
      yield parsed;
    } else if (++problems <= MAX_PROBLEMS) yield { kind: 'problem', line: number, reason: reason ?? '' };
  }
  const dropped = problems - MAX_PROBLEMS;
  if (dropped > 0) yield { kind: 'problem', line: 0, reason: `${dropped} more lines were left out` };
}

/** Why an upstream does not count, or null. */
function refusal({ id, protocol }: Upstream, firstLines: IdMap, from: 'file' | 'server'): string | null {
  if (from === 'server' && protocol === 'direct')
    return 'direct:// may not come from a server: it stands in the configuration or in a file';
  const first = firstLines.get(id);
  return first === undefined ? null : `the same upstream as in line ${first}; this line is left out`;
}

/**
 * The lines of a list that say something, each so that it says the same on its own: rows of a table become JSON. A row
 * that can't be read stays as it is.
 */
export function* loneLines(text: string): Generator<{ readonly line: number; readonly text: string }> {
  let header: CsvHeader | null = null;
  let isFirst = true;
  let number = 0;
  for (const line of linesOf(text)) {
    number++;
    if (isNothing(line)) continue;
    if (isFirst) header = readCsvHeader(line.trim());
    const isHeader = isFirst && header !== null;
    isFirst = false;
    if (isHeader) continue;
    const record = header === null || hasTwins(header) ? null : readCsvRow(line, header);
    yield { line: number, text: record === null ? line.trim() : JSON.stringify(record) };
  }
}

function* linesOf(text: string): Generator<string> {
  const ends = /\r\n|\n|\r/g;
  let start = text.startsWith('\uFEFF') ? 1 : 0;
  for (let end = ends.exec(text); end !== null; end = ends.exec(text)) {
    yield text.slice(start, end.index);
    start = ends.lastIndex;
  }
  yield text.slice(start);
}

/** A reader that finds out by the first line with something in it what the list is. */
function readerFor(options: UpstreamOptions): LineReader {
  let chosen: LineReader | null = null;
  return (line) => {
    if (chosen !== null) return chosen(line);
    if (isNothing(line)) return null;
    const header = readCsvHeader(line.trim());
    if (header !== null) {
      chosen = hasTwins(header)
        ? (each) => (isNothing(each) ? null : bad(TWINS))
        : csvReader(header, options);
      return hasTwins(header) ? bad(TWINS) : null;
    }
    chosen = line.trimStart().startsWith('{') ? jsonReader(options) : plainReader(options);
    return chosen(line);
  };
}

function isNothing(line: string): boolean {
  return line.trim() === '' || line.trimStart().startsWith('#');
}

function bad(reason: string): ParsedUpstream {
  return { kind: 'bad', reason };
}

function plainReader(options: UpstreamOptions): LineReader {
  return (line) => {
    const content = line.replace(/(?:^|[ \t])#.*$/, '').trim();
    return content === '' ? null : parseLine(content, options);
  };
}

function csvReader(header: CsvHeader, options: UpstreamOptions): LineReader {
  return (line) => {
    if (isNothing(line)) return null;
    const record = readCsvRow(line, header);
    return record === null
      ? bad('a quote is not closed, or there are more cells than columns')
      : upstreamOfRecord(record, options);
  };
}

function jsonReader(options: UpstreamOptions): LineReader {
  return (line) => {
    if (isNothing(line)) return null;
    const record = recordOf(line);
    return typeof record === 'string' ? bad(record) : upstreamOfRecord(record, options);
  };
}

/** The record, or what is wrong with the line. */
function recordOf(line: string): ListRecord | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return `the line is not JSON; ${WANTED}`;
  }
  if (Array.isArray(value)) return `the line is a JSON array, not a JSON object; ${WANTED}`;
  if (typeof value !== 'object' || value === null) return `the line is not a JSON object; ${WANTED}`;
  const record: ListRecord = {};
  for (const [name, item] of Object.entries(value)) {
    const field = fieldNamed(name);
    if (field === null) continue;
    if (field in record) return 'the JSON object names the same thing twice';
    record[field] = item;
  }
  return record;
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
  if (at >= 0) return bad('after the last @ a host and a port are wanted');
  const address = parseAddress(line, null);
  if (address.kind === 'bad') return address;
  return makeUpstream({ protocol: 'http', ...address.value, login: null }, options);
}
