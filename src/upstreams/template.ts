/**
 * Templates: one vendor endpoint, many exits, told apart by a session id in the login.
 *
 *   template    = an upstream URL whose user name or password holds placeholders
 *   placeholder = "{session}" / "{session:" length "}" / "{country}" / "{COUNTRY}" / "{city}" / "{asn}" / "{secret}"
 *
 *   http://customer-C-session-{session}-country-{country}:pw@vendor.example:7777
 *   http://user:pw_country-{country}_session-{session:8}@vendor.example:12321
 *
 * `{session}` is 12 letters and digits (4 to 32 when given) hashed from pool, template, number and epoch of the exit, and
 * from the client's session where there is one: equal in all gateways, and nothing that a client wrote. `{country}`,
 * `{city}` and `{asn}` come from the request, else from the entry; `{COUNTRY}` is the same in capitals. Where neither says
 * anything, a parameter is left out with the word before it: `-country-{country}` vanishes as a whole. A placeholder
 * without such a word must have a value: without one the exits don't serve the request.
 *
 * `{secret}` stands in the password, and is the password of the credential that goes with the template.
 *
 * A value is `[A-Za-z0-9._-]{1,64}` without the characters that set parameters of this template apart: `x-country-us` is no
 * city where parameters are joined by dashes. Who asks for it gets no exit of this template.
 */
import { hash } from 'node:crypto';
import { Secret } from '../core/secret.js';
import { LONGEST_SOCKS_LOGIN } from '../protocol/socks.js';
import { idOf } from './id-of.js';
import { faultOfSecret, withSecret } from './template-secret.js';
import { cityName, parseUpstreamUrl } from './upstream.js';
import type { Upstream, UpstreamLogin, UpstreamOptions } from './upstream.js';

/** Most exits of one template. */
export const MAX_TEMPLATE_EXITS = 10_000;

/** What of a request a template can put into a login. */
export interface TemplateFilter {
  readonly country: string | null;
  readonly city: string | null;
  readonly asn: number | null;
}

/** The login of one use of an exit, and what tells it from other uses: connections are only shared where it is equal. */
export interface DerivedLogin {
  readonly login: UpstreamLogin;
  readonly key: string;
}

/** A template, read. */
export interface Template {
  /** Endpoint, tags, weight … of its exits. */
  readonly base: Upstream;
  readonly username: readonly Piece[];
  readonly password: readonly Piece[];
  /** What stands for `{secret}`; null where there is none. */
  readonly secret: Secret | null;
  /** Characters that no value may hold. */
  readonly separators: string;
  readonly defaults: TemplateFilter;
}

export type ParsedTemplate =
  | { readonly kind: 'template'; readonly template: Template }
  /** `reason` never holds any part of the text that was parsed. */
  | { readonly kind: 'bad'; readonly reason: string };

type Field = 'session' | 'country' | 'city' | 'asn';

/** Text, or a value with the words that go when there is none. */
export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'secret' }
  | {
      readonly kind: 'value';
      readonly field: Field;
      /** Of a session id. */
      readonly length: number;
      readonly isUpper: boolean;
      /** Null: the value must be there. */
      readonly lead: string | null;
    };

const PLACEHOLDER = /\{([^{}]*)\}/g;
const NAMED = /^(?:(session)(?::([0-9]{1,2}))?|(country|COUNTRY|city|asn)|(secret))$/;
/** `-country-`, `,country-`, `_country-`, `;country=`: the word before a value, with what parts it from the one before. */
const LEAD = /[-_,;+.&][A-Za-z]+[-_=:.]$/;
const VALUE = /^[A-Za-z0-9._-]{1,64}$/;
const SESSION_CHARS = 12;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
const nothing: TemplateFilter = { country: null, city: null, asn: null };

/** Reads a template. @param options what holds for all its exits; country, city and asn also fill the placeholders */
export function parseTemplate(text: string, options: UpstreamOptions = {}): ParsedTemplate {
  const { login: vaulted, ...rest } = options;
  const parsed = parseUpstreamUrl(text, rest);
  if (parsed.kind === 'bad') return parsed;
  const { login } = parsed.upstream;
  if (login === null) return bad('a template needs a login that holds {session}');
  const username = piecesOf(login.username);
  const password = piecesOf(login.password.reveal());
  if (username === null || password === null) {
    return bad(
      'a template knows {session}, {session:LENGTH} (4 to 32), {country}, {COUNTRY}, {city}, {asn} and {secret} only',
    );
  }
  const secretFault = faultOfSecret(username, password, vaulted);
  if (secretFault !== null) return bad(secretFault);
  const made = vaulted === undefined ? parsed : withSecret(parsed.upstream, login, vaulted);
  if (made.kind === 'bad') return made;
  const base = made.upstream;
  const pieces = [...username, ...password];
  if (!pieces.some((piece) => piece.kind === 'value' && piece.field === 'session')) {
    return bad('the login of a template holds {session}, or its exits would be one');
  }
  const { country, city, asn } = base;
  const separators = separatorsOf(username) + separatorsOf(password);
  return {
    kind: 'template',
    template: {
      ...{ base, username, password, separators, defaults: { country, city, asn } },
      secret: vaulted === undefined ? null : new Secret(vaulted.password),
    },
  };
}

function bad(reason: string): { readonly kind: 'bad'; readonly reason: string } {
  return { kind: 'bad', reason };
}

function piecesOf(text: string): Piece[] | null {
  const pieces: Piece[] = [];
  let at = 0;
  for (const match of text.matchAll(PLACEHOLDER)) {
    const named = NAMED.exec(match[1] ?? '');
    const length = Number(named?.[2] ?? SESSION_CHARS);
    if (named === null || length < 4 || length > 32) return null;
    const before = text.slice(at, match.index);
    const field = (named[1] ?? named[3] ?? '').toLowerCase() as Field;
    const lead = named[3] === undefined ? null : (LEAD.exec(before)?.[0] ?? null);
    pieces.push({ kind: 'text', text: before.slice(0, before.length - (lead?.length ?? 0)) });
    if (named[4] !== undefined) pieces.push({ kind: 'secret' });
    else pieces.push({ kind: 'value', field, length, isUpper: named[3] === 'COUNTRY', lead });
    at = match.index + match[0].length;
  }
  const rest = text.slice(at);
  if (/[{}]/.test(text.replace(PLACEHOLDER, ''))) return null;
  return [...pieces, { kind: 'text', text: rest }];
}

/** What stands before a parameter's word, and right behind a value. */
function separatorsOf(pieces: readonly Piece[]): string {
  let found = '';
  pieces.forEach((piece, place) => {
    if (piece.kind !== 'value') return;
    const next = pieces[place + 1];
    found += piece.lead?.charAt(0) ?? '';
    if (next?.kind === 'text') found += next.text.charAt(0).replace(/[A-Za-z0-9]/, '');
  });
  return found;
}

/** One exit of a template: its number, and how often it had to take a new session. */
export class TemplateSeat {
  #last: { readonly key: string; readonly login: UpstreamLogin } | null = null;

  constructor(
    readonly template: Template,
    readonly pool: string,
    readonly index: number,
    readonly epoch: number,
  ) {}

  /** Whether the login says where the exit is to be. */
  fills(field: string): boolean {
    const has = (piece: Piece): boolean => piece.kind === 'value' && piece.field === field;
    return this.template.username.some(has) || this.template.password.some(has);
  }

  /** Whether every value that the login needs is there and can stand in it. */
  serves(filter: TemplateFilter): boolean {
    const { username, password } = this.template;
    if (!this.#areServed(username, filter) || !this.#areServed(password, filter)) return false;
    if (!this.template.base.protocol.startsWith('socks')) return true;
    // The session is as long for every key, so the exit's own tells how long a login gets.
    const { login } = this.login(filter, null);
    return isShortEnough(login.username) && isShortEnough(login.password.reveal());
  }

  /**
   * The login for a request that this exit serves.
   * @param sessionKey of the client's session, or null: the exit's own
   */
  login(filter: TemplateFilter, sessionKey: string | null): DerivedLogin {
    const key = `${valueOf(this.template, filter, 'country') ?? ''}/${valueOf(this.template, filter, 'city') ?? ''}/${
      valueOf(this.template, filter, 'asn') ?? ''
    }/${sessionKey ?? ''}`;
    if (this.#last?.key === key) return this.#last;
    const session = this.#session(sessionKey);
    const username = this.#fill(this.template.username, filter, session);
    const password = new Secret(this.#fill(this.template.password, filter, session));
    this.#last = { key, login: { username, password } };
    return this.#last;
  }

  #areServed(pieces: readonly Piece[], filter: TemplateFilter): boolean {
    return pieces.every((piece) => {
      if (piece.kind !== 'value' || piece.field === 'session') return true;
      const value = valueOf(this.template, filter, piece.field);
      return value === null ? piece.lead !== null : isClean(value, this.template.separators);
    });
  }

  #session(sessionKey: string | null): string {
    const { base } = this.template;
    const seed = `${this.pool}\n${base.id}\n${this.index}\n${this.epoch}\n${sessionKey ?? ''}`;
    const digest = hash('sha256', seed, 'buffer');
    let id = '';
    for (const octet of digest) id += ALPHABET.charAt(octet % ALPHABET.length);
    return id;
  }

  #fill(pieces: readonly Piece[], filter: TemplateFilter, session: string): string {
    let text = '';
    for (const piece of pieces) {
      if (piece.kind === 'text') text += piece.text;
      else if (piece.kind === 'secret') text += this.template.secret?.reveal() ?? '';
      else if (piece.field === 'session') text += session.slice(0, piece.length);
      else {
        const value = valueOf(this.template, filter, piece.field);
        if (value === null) continue;
        if (!isClean(value, this.template.separators))
          throw new Error('a login was asked for that is not served');
        text += `${piece.lead ?? ''}${piece.isUpper ? value.toUpperCase() : value}`;
      }
    }
    return text;
  }
}

function valueOf(
  template: Template,
  filter: TemplateFilter,
  field: 'country' | 'city' | 'asn',
): string | null {
  const value = filter[field] ?? template.defaults[field];
  if (value === null) return null;
  return field === 'city' ? cityName(String(value)) : String(value).toLowerCase();
}

function isShortEnough(text: string): boolean {
  return Buffer.byteLength(text) <= LONGEST_SOCKS_LOGIN;
}

function isClean(value: string, separators: string): boolean {
  if (!VALUE.test(value)) return false;
  for (const separator of separators) if (value.includes(separator)) return false;
  return true;
}

/**
 * The exits of a template.
 * @param epochs how often each exit, by number, has taken a new session; missing: never
 */
export function templateExits(
  template: Template,
  of: { readonly pool: string; readonly exits: number; readonly epochs: ReadonlyMap<number, number> },
): Upstream[] {
  return Array.from({ length: of.exits }, (_, index) => {
    const seat = new TemplateSeat(template, of.pool, index, of.epochs.get(index) ?? 0);
    const { base } = template;
    return {
      ...base,
      id: idOf(`template\n${base.id}\n${of.pool}\n${index}\n${seat.epoch}`),
      label: `${base.label}#${index}`,
      login: seat.serves(nothing) ? seat.login(nothing, null).login : null,
      template: seat,
    };
  });
}
