/**
 * One way out: protocol, host, port and the identity of its login. Two logins on one endpoint are two upstreams.
 *
 * URL: protocol `://` [ user [ `:` password ] `@` ] host [ `:` port ] [ `/` ], or `direct://` alone.
 * The protocol is http, https, socks4, socks4a, socks5 or socks5h; see `protocol/socks.ts` for what these differ in.
 * Parsed by hand, since `new URL` re-encodes logins. The login ends at the *last* `@`, the user at the first `:`,
 * and both are percent-decoded once. No reason of a refusal repeats a byte of the text: it may be a password.
 */
import { domainToASCII } from 'node:url';
import ipaddr from 'ipaddr.js';
import { formatAddress, readIpv6 } from '../protocol/address.js';
import { Secret } from '../core/secret.js';
import { idOf } from './id-of.js';
import { decodeLogin, DIRECT_STANDS_ALONE, faultOfLogin } from './login.js';
import type { TemplateSeat } from './template.js';

/** How a proxy is spoken to. */
export type ProxyProtocol = 'http' | 'https' | 'socks4' | 'socks4a' | 'socks5' | 'socks5h';

/** How an upstream is spoken to; `direct` is no proxy: we go to the target ourselves. */
export type UpstreamProtocol = ProxyProtocol | 'direct';

/** The login at an upstream, decoded once when the list is read. */
export interface UpstreamLogin {
  readonly username: string;
  readonly password: Secret;
}

/** One exit. Immutable; what changes about it lives in the ledger. */
export interface Upstream {
  /** Stable and opaque: a hash of protocol, host, port and user name (or the key of its login in the vault). Shown to clients; holds no address, no password. */
  readonly id: string;
  readonly protocol: UpstreamProtocol;
  /** Without brackets; empty for `direct`, whose port is 0. */
  readonly host: string;
  readonly port: number;
  readonly login: UpstreamLogin | null;
  /** Key of its login in the vault; not there where the login comes with the upstream, or where there is none. */
  readonly credential?: string | undefined;
  /** `protocol://host:port`, for logs and people; without the login. */
  readonly label: string;
  /** Relative share in `weighted_random`; above 0, default 1. */
  readonly weight: number;
  readonly country: string | null;
  readonly city: string | null;
  readonly asn: number | null;
  readonly tags: readonly string[];
  /** Whether this upstream is a Turnpike itself and gets the loop marker. */
  readonly turnpike: boolean;
  readonly tls: UpstreamTls;
  /** Of an exit that a template makes: how its login comes about. Absent for all others. */
  readonly template?: TemplateSeat;
}

/** How the certificate of an `https` upstream is looked at. */
export interface UpstreamTls {
  /** PEM of a CA that is trusted beside the usual ones. */
  readonly ca: string | null;
  readonly verify: boolean;
  /** Name to ask for and to find in the certificate; null: the host. */
  readonly servername: string | null;
}

/** The name of a city as filters compare it: lower case, blanks as underscores. */
export function cityName(text: string): string {
  return text.toLowerCase().replaceAll(' ', '_');
}

/** What a list or a config entry says about an upstream beside its URL. */
export interface UpstreamOptions {
  readonly weight?: number;
  readonly tags?: readonly string[];
  readonly country?: string | null;
  readonly city?: string | null;
  readonly asn?: number | null;
  readonly turnpike?: boolean;
  readonly tls?: Partial<UpstreamTls>;
  /** The login of all of them, from the vault. Only while a source is read: what keeps options has none. */
  readonly login?: VaultLogin;
}

/** A login from the vault; plain data, so that it can be sent to another thread. */
export interface VaultLogin {
  readonly key: string;
  readonly username: string;
  readonly password: string;
}

export type ParsedUpstream =
  | { readonly kind: 'upstream'; readonly upstream: Upstream }
  /** `reason` is a sentence for people and never holds any part of the text that was parsed. */
  | { readonly kind: 'bad'; readonly reason: string };

/** Something that was read, or why it can't be; `reason` as above. */
export type Part<T> =
  { readonly kind: 'ok'; readonly value: T } | { readonly kind: 'bad'; readonly reason: string };

/** Host, port and decoded login, before they become an {@link Upstream}. */
export interface Endpoint {
  readonly protocol: UpstreamProtocol;
  readonly host: string;
  readonly port: number;
  readonly login: { readonly username: string; readonly password: string } | null;
}

const DEFAULT_PORTS: Readonly<Record<ProxyProtocol, number>> = {
  ...{ http: 80, https: 443 },
  ...{ socks4: 1080, socks4a: 1080, socks5: 1080, socks5h: 1080 },
};
/** What may go to `domainToASCII`, which would cut `é/x` at the slash as URLs do. */
const INTERNATIONAL = /^[a-z0-9._\u0080-\u{10ffff}-]+$/iu;
/** What most lists hold; anything else is looked at closely. */
const USUAL_IPV4 = /^(?:(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])(?:\.(?!$)|$)){4}$/;
const LOGIN_TWICE = 'the login is given twice: with the upstream and by credential';
/** Shared by a million upstreams. */
const NO_TAGS: readonly string[] = [];
const USUAL_TLS: UpstreamTls = { ca: null, verify: true, servername: null };

/** Reads an upstream URL: the upstream, or why it can't be one. */
export function parseUpstreamUrl(text: string, options: UpstreamOptions = {}): ParsedUpstream {
  return made(readEndpoint(text), options);
}

/** Reads an upstream URL as far as it says where the upstream is. */
export function readEndpoint(text: string): Part<Endpoint> {
  const separator = text.indexOf('://');
  if (separator < 0) return bad('an upstream URL begins with a protocol, as in http:// or socks5://');
  const protocol = text.slice(0, separator).toLowerCase();
  const rest = text.slice(separator + 3);
  if (protocol === 'direct') {
    if (rest !== '' && rest !== '/') return bad(DIRECT_STANDS_ALONE);
    return { kind: 'ok', value: { protocol, host: '', port: 0, login: null } };
  }
  if (protocol === 'socks') return bad('say which SOCKS it is: socks5:// or socks4://');
  if (!isProxyProtocol(protocol)) {
    return bad('the protocol of an upstream is http, https, socks4, socks4a, socks5, socks5h or direct');
  }
  return readAuthority(rest, protocol);
}

function isProxyProtocol(text: string): text is ProxyProtocol {
  return Object.hasOwn(DEFAULT_PORTS, text);
}

/** Reads `user:password@host:port`, what follows the `://` of a URL. */
export function parseAuthority(
  text: string,
  protocol: ProxyProtocol,
  options: UpstreamOptions,
): ParsedUpstream {
  return made(readAuthority(text, protocol), options);
}

function made(endpoint: Part<Endpoint>, options: UpstreamOptions): ParsedUpstream {
  return endpoint.kind === 'bad' ? endpoint : makeUpstream(endpoint.value, options);
}

function readAuthority(text: string, protocol: ProxyProtocol): Part<Endpoint> {
  const at = text.lastIndexOf('@');
  const address = parseAddress(text.slice(at + 1), DEFAULT_PORTS[protocol]);
  if (address.kind === 'bad') return address;
  const { host, port } = address.value;
  if (at < 0) return { kind: 'ok', value: { protocol, host, port, login: null } };
  const login = decodeLogin(text.slice(0, at));
  if (login.kind === 'bad') return login;
  return { kind: 'ok', value: { protocol, host, port, login: login.value } };
}

/**
 * Makes an upstream of parts that are already decoded.
 * @param endpoint host as {@link parseAddress} gives it; the login is checked here.
 */
export function makeUpstream(endpoint: Endpoint, options: UpstreamOptions = {}): ParsedUpstream {
  const { protocol, host, port } = endpoint;
  const vaulted = options.login;
  if (vaulted !== undefined && endpoint.login !== null) return bad(LOGIN_TWICE);
  const given = vaulted ?? endpoint.login;
  const loginFault = faultOfLogin(vaulted === undefined ? endpoint : { protocol, login: vaulted });
  if (loginFault !== null) return bad(loginFault);
  const weight = options.weight ?? 1;
  if (!(weight > 0 && Number.isFinite(weight))) return bad('the weight of an upstream is a number above 0');
  const login = given && { username: given.username, password: new Secret(given.password) };
  const identity = vaulted === undefined ? identityOf(endpoint.login) : vaultIdentity(vaulted.key);
  const upstream: Upstream = {
    id: upstreamId(endpoint, identity),
    protocol,
    host,
    port,
    login,
    label: labelOf(endpoint),
    weight,
    country: options.country?.toLowerCase() ?? null,
    city: options.city === undefined || options.city === null ? null : cityName(options.city),
    asn: options.asn ?? null,
    tags: options.tags ?? NO_TAGS,
    turnpike: options.turnpike ?? false,
    tls: tlsOf(options),
    ...(vaulted !== undefined && { credential: vaulted.key }),
  };
  return { kind: 'upstream', upstream };
}

/** How an endpoint is called in logs: without its login. */
export function labelOf({ protocol, host, port }: Pick<Upstream, 'protocol' | 'host' | 'port'>): string {
  if (protocol === 'direct') return 'direct://';
  return `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The trust that these options give; one object for all that give none. */
export function tlsOf(options: UpstreamOptions): UpstreamTls {
  if (options.tls === undefined) return USUAL_TLS;
  return { ...USUAL_TLS, ...options.tls };
}

/**
 * Reads `host[:port]`, with one trailing slash allowed.
 * @param defaultPort the port when none is given; null when one must be.
 */
export function parseAddress(
  text: string,
  defaultPort: number | null,
): Part<{ readonly host: string; readonly port: number }> {
  const address = text.endsWith('/') ? text.slice(0, -1) : text;
  const bracket = address.startsWith('[') ? address.indexOf(']') : -1;
  if (address.startsWith('[') && bracket < 0) return bad('the bracket of the IPv6 address is not closed');
  const colon = address.indexOf(':', bracket + 1);
  const hostText = colon < 0 ? address : address.slice(0, colon);
  const host = bracket >= 0 ? parseIpv6(hostText) : parseHost(hostText);
  if (host.kind === 'bad') return host;
  if (colon < 0) {
    if (defaultPort === null) return bad('the port is missing');
    return { kind: 'ok', value: { host: host.value, port: defaultPort } };
  }
  const portText = address.slice(colon + 1);
  const port = /^[0-9]{1,5}$/.test(portText) ? Number(portText) : 0;
  if (port < 1 || port > 65535) {
    return bad(
      portText.includes(':')
        ? 'an IPv6 address stands in brackets, and a port is a number from 1 to 65535'
        : 'the port is a number from 1 to 65535, and nothing may follow it',
    );
  }
  return { kind: 'ok', value: { host: host.value, port } };
}

function parseIpv6(text: string): Part<string> {
  const inner = text.slice(1, -1);
  // Not by ipaddr.js, which takes ::8.8.8.8 for ::ffff:8.8.8.8.
  const address = text.endsWith(']') ? readIpv6(inner) : null;
  if (address === null) {
    return bad('the address in brackets is not an IPv6 address');
  }
  return { kind: 'ok', value: formatAddress(address) };
}

function parseHost(text: string): Part<string> {
  if (text === '') return bad('the host is missing');
  if (USUAL_IPV4.test(text)) return { kind: 'ok', value: text };
  const isInternational = !isPlainHost(text) && INTERNATIONAL.test(text);
  const ascii = isInternational ? domainToASCII(text) : text.toLowerCase();
  const host = ascii.endsWith('.') ? ascii.slice(0, -1) : ascii;
  if (!isPlainHost(host) || host.length > 253 || host.split('.').includes('')) {
    return bad('the host is not a host name or address');
  }
  const isNumeric = /^(?:[0-9]+|0x[0-9a-f]*)$/.test(host.slice(host.lastIndexOf('.') + 1));
  if (isNumeric && !ipaddr.IPv4.isValidFourPartDecimal(host)) {
    return bad('the host is not a whole IPv4 address (four decimal parts)');
  }
  return { kind: 'ok', value: host };
}

function isPlainHost(text: string): boolean {
  return /^[A-Za-z0-9._-]+$/.test(text);
}

/** The id of an upstream at a place, from what tells its login from others. */
export function upstreamId({ protocol, host, port }: Omit<Endpoint, 'login'>, identity: string): string {
  return idOf(`${protocol}\n${host}\n${port}\n${identity}`);
}

function identityOf(login: Endpoint['login']): string {
  return login === null ? 'none' : `user\n${login.username}`;
}

/** A login from the vault is the same login when its user name or password change: the exit stays. */
export function vaultIdentity(key: string): string {
  return `vault\n${key}`;
}

function bad(reason: string): { readonly kind: 'bad'; readonly reason: string } {
  return { kind: 'bad', reason };
}
