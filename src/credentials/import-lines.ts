/**
 * Reads the lines of an import, one after the other. PURE; no message tells a byte of a line.
 *
 *     csv      a header with the columns key and secret, or username and password; also type, status, meta (JSON), meta.NAME
 *     jsonl    one object a line, as for one credential: {"key": …, "type": …, "secret": …, "meta": {…}}
 *     cookies  domain, subdomains, path, secure, expires, name, value with tabs between (Netscape, as browsers and curl write it);
 *              "#HttpOnly_" before the domain is part of it, other lines with # are comments. One credential for each site.
 */
import { splitCsvRow } from '../core/csv-row.js';
import { readHost } from '../protocol/host.js';
import type { JsonObject } from '../storage/credential-ports.js';
import type { CredentialInput } from './credential-desk.js';
import type { ImportFormat } from './credential-import.js';

/** What a line, or the end, gives. */
export type LineRead =
  | { readonly kind: 'credential'; readonly line: number; readonly input: CredentialInput }
  | { readonly kind: 'fault'; readonly line: number; readonly message: string };

/** Reads lines in their order. */
export interface LineReader {
  take(text: string, line: number): readonly LineRead[];
  /** What was waited with. */
  end(): readonly LineRead[];
}

/** What lines don't say themselves. */
export interface LineDefaults {
  readonly type: string;
  readonly meta: JsonObject;
  /** Begins the keys of cookies. */
  readonly key: string | null;
  /** Seconds since 1970; cookies that are over by then are left out. */
  readonly nowSeconds: number;
}

/** A reader of a format. */
export function lineReader(format: ImportFormat, defaults: LineDefaults): LineReader {
  switch (format) {
    case 'csv':
      return new CsvReader(defaults);
    case 'jsonl':
      return {
        take: (text, line) => (text.trim() === '' ? [] : [readJson(text, line, defaults)]),
        end: () => [],
      };
    case 'cookies':
      return new CookieReader(defaults);
  }
}

const fault = (line: number, message: string): LineRead => ({ kind: 'fault', line, message });

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function readJson(text: string, line: number, defaults: LineDefaults): LineRead {
  const value = parsed(text);
  if (!isObject(value)) return fault(line, 'expected a JSON object');
  const { key, type = defaults.type, secret, meta = {}, status = 'active', ...others } = value;
  if (Object.keys(others).length > 0) return fault(line, 'expected only key, type, secret, meta and status');
  if (typeof key !== 'string' || typeof type !== 'string' || typeof status !== 'string')
    return fault(line, 'expected key, type and status to be texts');
  if (!isObject(meta)) return fault(line, 'expected meta to be an object');
  return {
    kind: 'credential',
    line,
    input: { key, type, secret, status, meta: { ...defaults.meta, ...meta } },
  };
}

const known = ['key', 'secret', 'username', 'password', 'type', 'status', 'meta'];

class CsvReader implements LineReader {
  #columns: readonly string[] | null = null;
  #delimiter = ',';
  #isRefused = false;

  constructor(private readonly defaults: LineDefaults) {}

  take(text: string, line: number): readonly LineRead[] {
    if (text.trim() === '' || this.#isRefused) return [];
    if (this.#columns === null) return this.#header(text, line);
    const cells = splitCsvRow(text, this.#delimiter);
    if (cells?.length !== this.#columns.length)
      return [fault(line, 'expected as many cells as the header has')];
    return [this.#row(cells, line)];
  }

  end(): readonly LineRead[] {
    return [];
  }

  #header(text: string, line: number): readonly LineRead[] {
    this.#delimiter = [',', ';', '\t'].find((each) => text.includes(each)) ?? ',';
    const columns = (splitCsvRow(text.replace(/^\uFEFF/, ''), this.#delimiter) ?? []).map((name) =>
      name.trim(),
    );
    const has = (name: string): boolean => columns.includes(name);
    const isWhole = has('key') && (has('secret') || (has('username') && has('password')));
    const isKnown = columns.every((name) => known.includes(name) || /^meta\.[^.]+$/.test(name));
    if (isWhole && isKnown && new Set(columns).size === columns.length) {
      this.#columns = columns;
      return [];
    }
    this.#isRefused = true;
    const wanted = 'key, secret (or username, password), and perhaps type, status, meta, meta.NAME';
    return [fault(line, `expected a header with the columns ${wanted}, each once`)];
  }

  #row(cells: readonly string[], line: number): LineRead {
    const cell = (name: string): string | undefined => {
      const at = this.#columns?.indexOf(name) ?? -1;
      return at < 0 || cells[at] === '' ? undefined : cells[at];
    };
    const said = cell('meta');
    const whole = said === undefined ? {} : parsed(said);
    if (!isObject(whole)) return fault(line, 'expected meta to be a JSON object');
    const named = (this.#columns ?? []).flatMap((name, at) => {
      const text = cells[at] ?? '';
      return name.startsWith('meta.') && text !== ''
        ? [[name.slice('meta.'.length), valueOf(text)] as const]
        : [];
    });
    const meta = { ...this.defaults.meta, ...whole, ...Object.fromEntries(named) };
    const username = cell('username');
    const secret = username === undefined ? cell('secret') : { username, password: cell('password') ?? '' };
    const type = cell('type') ?? (username === undefined ? this.defaults.type : 'username_password');
    const input = { key: cell('key') ?? '', type, secret: jsonSecret(secret), meta, status: cell('status') };
    return { kind: 'credential', line, input };
  }
}

/** A cell of `meta.NAME`: numbers and true or false are what they look like. */
function valueOf(text: string): string | number | boolean {
  if (/^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/.test(text)) return Number(text);
  return text === 'true' ? true : text === 'false' ? false : text;
}

/** A secret that is an object stands in its cell as JSON. */
function jsonSecret(secret: unknown): unknown {
  if (typeof secret !== 'string' || !secret.startsWith('{')) return secret;
  return parsed(secret) ?? secret;
}

const HTTP_ONLY = '#HttpOnly_';

class CookieReader implements LineReader {
  readonly #sites = new Map<string, { readonly line: number; readonly cookies: Map<string, string> }>();

  constructor(private readonly defaults: LineDefaults) {}

  take(text: string, line: number): readonly LineRead[] {
    const isHttpOnly = text.startsWith(HTTP_ONLY);
    if (text.trim() === '' || (text.startsWith('#') && !isHttpOnly)) return [];
    const [domain = '', , , , expires = '', name = '', value, ...more] = (
      isHttpOnly ? text.slice(HTTP_ONLY.length) : text
    ).split('\t');
    const host = readHost(domain.replace(/^\./, ''));
    if (
      value === undefined ||
      more.length > 0 ||
      !/^\d{1,15}(?:\.\d+)?$/.test(expires) ||
      host.kind === 'malformed'
    )
      return [
        fault(line, 'expected domain, subdomains, path, secure, expires, name and value with tabs between'),
      ];
    // 0: it lasts for the visit.
    if (Number(expires) !== 0 && Number(expires) <= this.defaults.nowSeconds) return [];
    const { site } = host.facts;
    const known = this.#sites.get(site) ?? { line, cookies: new Map<string, string>() };
    this.#sites.set(site, known);
    known.cookies.set(name, value);
    return [];
  }

  end(): readonly LineRead[] {
    const { key, meta } = this.defaults;
    return Array.from(this.#sites, ([site, { line, cookies }]) => {
      const secret = Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ');
      const input = {
        key: key === null ? site : `${key}.${site}`,
        ...{ type: 'cookie_string', secret, meta: { site, ...meta } },
      };
      return { kind: 'credential', line, input };
    });
  }
}
