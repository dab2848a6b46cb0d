/**
 * Who is asking. Passwords are compared as SHA-256 digests in constant time, an unknown name costs the same work,
 * and what was proved once is remembered by the field's value. Never says which part of a login was wrong.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { systemClock } from '../core/clock.js';
import type { Clock } from '../core/clock.js';
import type { Failure } from '../core/errors.js';
import type { Secret } from '../core/secret.js';
import { cidrContains, parseAddress, parseCidr } from '../protocol/address.js';
import type { Cidr } from '../protocol/address.js';
import { Memo } from '../protocol/memo.js';
import type { Rate } from '../facts/limit.js';
import type { ControlDefaults } from '../request/controls.js';
import { readBasic } from '../request/credentials.js';
import type { Dialect, NativeUsername } from '../request/dialects/dialect.js';
import { nativeDialect } from '../request/dialects/native.js';
import { FailureLimit } from './failure-limit.js';

/** A crawler that may use the gateway: the unit of isolation. */
export interface Client {
  /** Without `+` and `:`, which end a name in a login. */
  readonly name: string;
  /** Null: the name alone is enough, whatever the password. */
  readonly password: Secret | null;
  /** CIDRs of the addresses it may come from; empty for any. */
  readonly allowFrom: readonly string[];
  readonly limits: {
    readonly requests: Rate | null;
    readonly tunnels: number | null;
    readonly connections: number | null;
    readonly exchanges: number | null;
  };
  /** Host patterns that it may visit; empty for any. */
  readonly targets: readonly string[];
  readonly defaults: ControlDefaults;
}

export type AuthResult =
  | { readonly kind: 'client'; readonly client: Client; readonly username: NativeUsername | null }
  /** 407. `delayMs`: for how long the answer should be held back; above 0 only after many failures. */
  | { readonly kind: 'challenge'; readonly detail: string; readonly delayMs: number }
  | { readonly kind: 'refused'; readonly failure: Failure };

/** What a login is judged by. */
export interface AuthInput {
  readonly proxyAuthorization: string | undefined;
  /** Of the socket; never from a field. */
  readonly remoteAddress: string;
  /** Name of the client that a request without login is, on this listener. */
  readonly listenerDefaultClient: string | null;
}

export interface ClientsOptions {
  /** Whether everybody may come in when no client is configured (loopback listeners). */
  readonly anonymousAllowed: boolean;
  readonly dialect?: Dialect;
  readonly clock?: Clock;
}

interface Known {
  readonly client: Client;
  readonly digest: Buffer | null;
  readonly ranges: readonly Cidr[];
}

/** Who one is where no login is asked. */
export const anonymousClient: Client = {
  name: 'anonymous',
  password: null,
  allowFrom: [],
  limits: { requests: null, tunnels: null, connections: null, exchanges: null },
  targets: [],
  defaults: {},
};

const MEMO_ENTRIES = 10_000;
const LONGEST_MEMO_KEY = 1024;
const HELD_BACK_MS = 1000;
const WANTED = 'Send Proxy-Authorization: Basic with the name and password of a client.';
const MALFORMED = 'Proxy-Authorization is malformed: Basic and the base64 of name:password are wanted.';
const WRONG = 'The name or password is wrong, or this client may not come from this address.';
const TOO_MANY = 'Too many failed logins from this address; wait before the next.';

const anonymous: AuthResult = { kind: 'client', client: anonymousClient, username: null };
const open: Known = { client: anonymousClient, digest: null, ranges: [] };

/** The clients of one configuration. */
export class Clients {
  readonly #known: ReadonlyMap<string, Known>;
  /** Proved logins by the value of the field; holds passwords and never leaves this file. */
  readonly #proved = new Memo<{ readonly known: Known; readonly result: AuthResult }>(MEMO_ENTRIES);
  readonly #failures: FailureLimit;
  readonly #isOpen: boolean;
  readonly #dialect: Dialect;

  constructor(clients: readonly Client[], options: ClientsOptions) {
    this.#known = new Map(clients.map((client) => [client.name, knownOf(client)]));
    this.#failures = new FailureLimit(options.clock ?? systemClock);
    this.#isOpen = options.anonymousAllowed && clients.length === 0;
    this.#dialect = options.dialect ?? nativeDialect;
  }

  /** The client of a name, for limits and listeners. */
  byName(name: string): Client | undefined {
    return this.#known.get(name)?.client;
  }

  /** Who sends this request. Cheap for a login that was proved before: one look-up. */
  authenticate(input: AuthInput): AuthResult {
    const { proxyAuthorization: value, remoteAddress } = input;
    if (value === undefined) return this.#withoutLogin(input);
    const proved = this.#proved.get(value);
    if (proved !== undefined && mayComeFrom(proved.known, remoteAddress)) return proved.result;
    if (this.#failures.isLimited(remoteAddress)) return challenge(TOO_MANY, HELD_BACK_MS);
    return this.#prove(value, input);
  }

  #withoutLogin({ listenerDefaultClient, remoteAddress }: AuthInput): AuthResult {
    if (listenerDefaultClient === null) return this.#isOpen ? anonymous : challenge(WANTED);
    const known = this.#known.get(listenerDefaultClient);
    if (known === undefined || !mayComeFrom(known, remoteAddress)) return challenge(WANTED);
    return { kind: 'client', client: known.client, username: null };
  }

  #prove(value: string, input: AuthInput): AuthResult {
    const credentials = readBasic(value);
    if (credentials.kind !== 'basic') return this.#fail(MALFORMED, input);
    const username = this.#dialect.parse(credentials.username);
    const known = this.#knownByLogin(username.name, credentials.password, input);
    if (known === null || !mayComeFrom(known, input.remoteAddress)) return this.#fail(WRONG, input);
    if (username.kind === 'refused') return username;
    const result: AuthResult = { kind: 'client', client: known.client, username };
    const isListeners = username.name === '' && input.listenerDefaultClient !== null;
    if (value.length <= LONGEST_MEMO_KEY && !isListeners) this.#proved.set(value, { known, result });
    return result;
  }

  /** Does the same work for every name, known or not. */
  #knownByLogin(name: string, password: string, { listenerDefaultClient }: AuthInput): Known | null {
    if (this.#isOpen && listenerDefaultClient === null) return open;
    if (name === '' && listenerDefaultClient !== null) return this.#known.get(listenerDefaultClient) ?? null;
    const known = this.#known.get(name);
    const given = digestOf(password);
    const isRight = timingSafeEqual(given, known?.digest ?? NOBODY);
    return known !== undefined && (isRight || known.digest === null) ? known : null;
  }

  #fail(detail: string, { remoteAddress }: AuthInput): AuthResult {
    this.#failures.count(remoteAddress);
    return challenge(detail);
  }
}

function challenge(detail: string, delayMs = 0): AuthResult {
  return { kind: 'challenge', detail, delayMs };
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}

/** What a password is compared with where there is none. */
const NOBODY = Buffer.alloc(32);

function knownOf(client: Client): Known {
  const digest = client.password === null ? null : digestOf(client.password.reveal());
  const ranges = client.allowFrom.map((text) => {
    const cidr = parseCidr(text);
    if (cidr === null) throw new Error(`allow_from of client ${client.name} is not a CIDR: ${text}`);
    return cidr;
  });
  return { client, digest, ranges };
}

function mayComeFrom(known: Known, remoteAddress: string): boolean {
  if (known.ranges.length === 0) return true;
  const address = parseAddress(remoteAddress);
  return address !== null && known.ranges.some((range) => cidrContains(range, address));
}
