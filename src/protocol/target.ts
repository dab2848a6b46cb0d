/**
 * Where a request wants to go: absolute-form and authority-form (RFC 9112, section 3.2), never through `new URL`.
 * Every odd spelling of an address is folded to the binary address before anything is decided about it.
 * What may be visited is decided in target-policy.ts.
 */
import type { Failure } from '../core/errors.js';
import type { AddressClass } from './address-class.js';
import { readHost } from './host.js';
import type { HostFacts } from './host.js';
import { Memo } from './memo.js';

export { classifyAddress } from './address-class.js';
export type { AddressClass } from './address-class.js';
export { checkResolvedAddress, checkTarget, parseAllowEntry } from './target-policy.js';
export type { AllowEntry, OwnAddresses, TargetPolicy } from './target-policy.js';

/** A checked target. */
export interface Target {
  readonly scheme: 'http' | 'https' | 'ws' | 'tunnel';
  /** Host in canonical form: lower case, IDNA ASCII, IPv4 dotted, IPv6 without brackets, no trailing dot. */
  readonly host: string;
  readonly port: number;
  /** `host` or `host:port` as a Host field wants it: brackets round IPv6, no default port. */
  readonly authority: string;
  /** `host:port`, always with port: what CONNECT and logs use. */
  readonly hostPort: string;
  readonly addressClass: AddressClass;
  /** Registrable domain (public suffix list), or the host itself for addresses and single labels. */
  readonly site: string;
  /** Path and query as they came, `/` at least; empty for authority-form. */
  readonly path: string;
  /** Neither path nor query was written: by OPTIONS it is then the server that is meant and not its `/`. */
  readonly isBare: boolean;
}

/** A target, or the answer that the request gets instead. */
export type TargetResult =
  | { readonly kind: 'target'; readonly target: Target }
  | { readonly kind: 'refused'; readonly failure: Failure };

interface Authority {
  readonly facts: HostFacts;
  /** Null where none was written. */
  readonly port: number | null;
}

type AuthorityResult = Authority | { readonly detail: string };

const MEMO_ENTRIES = 10_000;
const LONGEST_MEMO_KEY = 320;
const DEFAULT_HTTP_PORT = 80;
const PORT = /^[1-9][0-9]{0,4}$/;
const NOT_IN_PATH = /[\0-\x20\x7f#]/;

/** Targets by the authority as written. Malformed ones are not remembered: there is no end of them. */
const httpTargets = new Memo<Target>(MEMO_ENTRIES);
const tunnelTargets = new Memo<TargetResult>(MEMO_ENTRIES);

function refused(detail: string): TargetResult {
  return { kind: 'refused', failure: { code: 'bad_request', detail } };
}

/**
 * Reads the target of a plain request: `http://host[:port][/path][?query]`, latin1 as it came. `ws://` is read the
 * same way, for upgrades. No detail of a refusal repeats any of the target, which may hold a password.
 */
export function parseAbsoluteForm(text: string): TargetResult {
  const scheme = readScheme(text);
  if (scheme !== 'http' && scheme !== 'ws') return refused(scheme);
  const start = scheme.length + 3;
  const end = endOfAuthority(text, start);
  const base = httpTarget(text.slice(start, end));
  if ('detail' in base) return refused(base.detail);
  if (end === text.length && scheme === 'http') return { kind: 'target', target: base };
  const rest = text.slice(end);
  if (NOT_IN_PATH.test(rest)) return refused(PATH_FAULT);
  const path = rest.startsWith('/') ? rest : `/${rest}`;
  const isBare = rest === '';
  const { host, port, authority, hostPort, addressClass, site } = base;
  return {
    kind: 'target',
    target: { scheme, host, port, authority, hostPort, addressClass, site, path, isBare },
  };
}

const PATH_FAULT =
  'The target has a fragment, a blank or a control character; none of them belongs in a target.';

/** `http` or `ws`, or a sentence that says what is wrong. */
function readScheme(text: string): string {
  if (text.startsWith('http://')) return 'http';
  const match = /^([a-z][a-z0-9+.-]{0,15}):\/\//i.exec(text);
  const scheme = match?.[1]?.toLowerCase();
  if (scheme === 'http' || scheme === 'ws') return scheme;
  if (scheme === 'https' || scheme === 'wss') {
    return `For ${scheme}:// targets open a tunnel: send CONNECT host:port and speak TLS through it.`;
  }
  if (scheme !== undefined) return 'The gateway goes to http:// targets, and to all others by CONNECT.';
  if (text.startsWith('/') || text === '*') {
    return 'This is a forward proxy: the request target must be absolute, as in GET http://host/path.';
  }
  return 'The request target is not in absolute form, as in GET http://host/path.';
}

function endOfAuthority(text: string, start: number): number {
  for (let i = start; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x2f || code === 0x3f || code === 0x23) return i;
  }
  return text.length;
}

/** The target of an authority as it stands in an http:// URL, with the path `/`. */
function httpTarget(text: string): Target | { readonly detail: string } {
  const known = httpTargets.get(text);
  if (known !== undefined) return known;
  const authority = readAuthority(text);
  if ('detail' in authority) return authority;
  const { host, inAuthority, addressClass, site } = authority.facts;
  const port = authority.port ?? DEFAULT_HTTP_PORT;
  const hostPort = `${inAuthority}:${port}`;
  const target: Target = {
    scheme: 'http',
    host,
    port,
    authority: port === DEFAULT_HTTP_PORT ? inAuthority : hostPort,
    hostPort,
    addressClass,
    site,
    path: '/',
    isBare: true,
  };
  if (text.length <= LONGEST_MEMO_KEY) httpTargets.set(text, target);
  return target;
}

/** Reads the target of a CONNECT: `host:port`, the port required (RFC 9110, section 9.3.6). */
export function parseAuthority(text: string): TargetResult {
  const known = tunnelTargets.get(text);
  if (known !== undefined) return known;
  const authority = readAuthority(text);
  if ('detail' in authority) return refused(authority.detail);
  const { facts, port } = authority;
  if (port === null) return refused('CONNECT needs a port, as in CONNECT host:443.');
  const hostPort = `${facts.inAuthority}:${port}`;
  const { host, addressClass, site } = facts;
  const target: Target = {
    ...{ scheme: 'tunnel', host, port, authority: hostPort, hostPort },
    ...{ addressClass, site, path: '', isBare: false },
  };
  const result: TargetResult = { kind: 'target', target };
  if (text.length <= LONGEST_MEMO_KEY) tunnelTargets.set(text, result);
  return result;
}

/** Whether the value of a Host field is `host[:port]`. A different host is no fault: the target wins. */
export function hostFieldIsWellFormed(value: string): boolean {
  // RFC 3986, section 3.2.3 lets the port be empty; here that does no harm, since the field is written anew.
  const text = value.length > 1 && value.endsWith(':') ? value.slice(0, -1) : value;
  return !('detail' in httpTarget(text));
}

/** Splits and reads `host[:port]`. */
function readAuthority(text: string): AuthorityResult {
  if (text.includes('@'))
    return { detail: 'The target holds a user name or password; send credentials in header fields.' };
  const colon = text.indexOf(':', text.startsWith('[') ? text.lastIndexOf(']') + 1 : 0);
  const result = readHost(colon < 0 ? text : text.slice(0, colon));
  if (result.kind === 'malformed') return { detail: result.detail };
  if (colon < 0) return { facts: result.facts, port: null };
  const port = readPort(text.slice(colon + 1));
  return port === null
    ? { detail: 'The port must be a number from 1 to 65535.' }
    : { facts: result.facts, port };
}

function readPort(digits: string): number | null {
  const port = PORT.test(digits) ? Number(digits) : 0;
  return port >= 1 && port <= 65_535 ? port : null;
}
