/**
 * Who is asking. Passwords are compared as SHA-256 digests in constant time, an unknown name costs the same work,
 * and what was proved once is remembered by the field's value. Never says which part of a login was wrong.
 *
 * Whoever proves a password may come from `allowFrom`, or from anywhere where that is empty. Whoever proves none
 * (a client without password, the default client of a listener) must come from `allowFrom`, or from this machine
 * where that is empty: no omission in a configuration opens the gateway to the net.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Failure } from '../core/errors.js';
import type { Secret } from '../core/secret.js';
import type { Rate } from '../facts/limit.js';
import { cidrContains, parseAddress, parseCidr } from '../protocol/address.js';
import type { Address, Cidr } from '../protocol/address.js';
import { Memo } from '../protocol/memo.js';
import type { ControlDefaults } from '../request/controls.js';
import { readBasic } from '../request/credentials.js';
import type { Dialect, NativeUsername } from '../request/dialects/dialect.js';
import { nativeDialect } from '../request/dialects/native.js';
import { FailureLimit } from './failure-limit.js';

/** A crawler that may use the gateway: the unit of isolation. */
export interface Client {
  /** Without `+` and `:`, which end a name in a login. */
  readonly name: string;
  /** Null: the address alone decides. */
  readonly password: Secret | null;
  /** CIDRs of the addresses it may come from; empty for any (without a password: for this machine only). */
  readonly allowFrom: readonly string[];
  /** Words by which routes match it. */
  readonly tags: readonly string[];
  readonly limits: {
    readonly requests: Rate | null;
    readonly tunnels: number | null;
    readonly connections: number | null;
    readonly exchanges: number | null;
    /** Bytes in a time, both directions together. */
    readonly bytes: Rate | null;
    /** Whether tunnels that stand are cut when the bytes are used up. */
    readonly cutsTunnels: boolean;
  };
  /** Host patterns that it may visit; empty for any. See client-targets.ts. */
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
  /** Monotonic. */
  readonly nowMs: number;
}

export interface ClientsOptions {
  /** Whether everybody may come in when no client is configured (loopback listeners). */
  readonly anonymousAllowed: boolean;
  /** How usernames are read; the native way where not given. */
  readonly dialect?: Dialect;
  /** Counts failed logins; one for the process, so that a reload does not forgive them. */
  readonly failures?: FailureLimit;
}

interface Known {
  readonly client: Client;
  /** Of the password; null where there is none. */
  readonly digest: Buffer | null;
  /** Where it may come from with a proved password; null for anywhere. */
  readonly ranges: readonly Cidr[] | null;
  /** Where it may come from without. */
  readonly rangesWithoutLogin: readonly Cidr[];
}

interface Proved {
  readonly ranges: readonly Cidr[] | null;
  readonly result: AuthResult;
}

/** Who one is where no login is asked. */
export const anonymousClient: Client = {
  name: 'anonymous',
  password: null,
  allowFrom: [],
  tags: [],
  limits: {
    ...{ requests: null, tunnels: null, connections: null, exchanges: null },
    ...{ bytes: null, cutsTunnels: false },
  },
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

/** What a password is compared with where there is none. */
const NOBODY = Buffer.alloc(32);
const anonymous: AuthResult = { kind: 'client', client: anonymousClient, username: null };
const thisMachine = ['127.0.0.0/8', '::1/128'].map((text) => rangeOf(text, 'this machine'));

/** The clients of one configuration. */
export class Clients {
  readonly #known: ReadonlyMap<string, Known>;
  readonly #withoutPassword: readonly Known[];
  /** Proved logins by the value of the field; holds passwords and never leaves this file. */
  readonly #proved = new Memo<Proved>(MEMO_ENTRIES);
  readonly #failures: FailureLimit;
  readonly #isOpen: boolean;
  readonly #dialect: Dialect;

  /** Throws where an `allowFrom` is no range; the configuration was checked for that. */
  constructor(clients: readonly Client[], options: ClientsOptions) {
    const known = clients.map(knownOf);
    this.#known = new Map(known.map((each) => [each.client.name, each]));
    this.#withoutPassword = known.filter((each) => each.digest === null);
    this.#isOpen = options.anonymousAllowed && clients.length === 0;
    this.#dialect = options.dialect ?? nativeDialect;
    this.#failures = options.failures ?? new FailureLimit();
  }

  /** All of them, as configured. */
  all(): readonly Client[] {
    return [...this.#known.values()].map(({ client }) => client);
  }

  /** The client of this name. */
  byName(name: string): Client | undefined {
    return this.#known.get(name)?.client;
  }

  /** Who sends this request. Cheap for a login that was proved before: one look-up. */
  authenticate(input: AuthInput): AuthResult {
    const { proxyAuthorization: value, remoteAddress } = input;
    if (value === undefined) return this.#withoutLogin(input);
    const proved = this.#proved.get(value);
    if (proved !== undefined && isWithin(proved.ranges, remoteAddress)) return proved.result;
    if (this.#failures.isLimited(remoteAddress, input.nowMs)) return challenge(TOO_MANY, HELD_BACK_MS);
    return this.#prove(value, input);
  }

  /** The listener's client where it has one, else the first client that its address is enough for. */
  #withoutLogin({ listenerDefaultClient, remoteAddress }: AuthInput): AuthResult {
    if (listenerDefaultClient === null && this.#isOpen) return anonymous;
    const listeners = this.#known.get(listenerDefaultClient ?? '');
    const candidates = listenerDefaultClient === null ? this.#withoutPassword : listeners ? [listeners] : [];
    const known = candidates.find((each) => isWithin(each.rangesWithoutLogin, remoteAddress));
    return known === undefined ? challenge(WANTED) : { kind: 'client', client: known.client, username: null };
  }

  #prove(value: string, input: AuthInput): AuthResult {
    const credentials = readBasic(value);
    if (credentials.kind !== 'basic') return this.#fail(MALFORMED, input);
    const username = this.#dialect.parse(credentials.username);
    const { name } = username;
    // `+session=a1:` names nobody: the listener's client, or whoever one is without a login.
    const client =
      name === '' || this.#isOpen
        ? clientIn(this.#withoutLogin(input))
        : this.#clientByLogin(name, credentials.password, input);
    if (client === null) return this.#fail(WRONG, input);
    if (username.kind === 'refused') return username;
    const result: AuthResult = { kind: 'client', client, username };
    if (name !== '' && value.length <= LONGEST_MEMO_KEY) this.#remember(value, result, client);
    return result;
  }

  #remember(value: string, result: AuthResult, client: Client): void {
    const known = this.#known.get(client.name);
    const ranges = known === undefined ? null : rangesOf(known);
    this.#proved.set(value, { ranges, result });
  }

  /** Does the same work for every name, known or not. */
  #clientByLogin(name: string, password: string, { remoteAddress }: AuthInput): Client | null {
    const known = this.#known.get(name);
    const isRight = timingSafeEqual(digestOf(password), known?.digest ?? NOBODY);
    if (known === undefined || (known.digest !== null && !isRight)) return null;
    return isWithin(rangesOf(known), remoteAddress) ? known.client : null;
  }

  #fail(detail: string, { remoteAddress, nowMs }: AuthInput): AuthResult {
    this.#failures.count(remoteAddress, nowMs);
    return challenge(detail);
  }
}

function challenge(detail: string, delayMs = 0): AuthResult {
  return { kind: 'challenge', detail, delayMs };
}

function clientIn(result: AuthResult): Client | null {
  return result.kind === 'client' ? result.client : null;
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}

function rangeOf(text: string, owner: string): Cidr {
  const cidr = parseCidr(text);
  if (cidr === null) throw new Error(`allow_from of ${owner} is not a range: ${text}`);
  return cidr;
}

function knownOf(client: Client): Known {
  const digest = client.password === null ? null : digestOf(client.password.reveal());
  const ranges = client.allowFrom.map((text) => rangeOf(text, `client ${client.name}`));
  const isAnywhere = ranges.length === 0;
  return {
    client,
    digest,
    ranges: isAnywhere ? null : ranges,
    rangesWithoutLogin: isAnywhere ? thisMachine : ranges,
  };
}

/** From where a login by name is good: one without password proves nothing. */
function rangesOf(known: Known): readonly Cidr[] | null {
  return known.digest === null ? known.rangesWithoutLogin : known.ranges;
}

const addresses = new Memo<Address | null>(1000);

function isWithin(ranges: readonly Cidr[] | null, remoteAddress: string): boolean {
  if (ranges === null) return true;
  let address = addresses.get(remoteAddress);
  if (address === undefined) {
    address = parseAddress(remoteAddress);
    addresses.set(remoteAddress, address);
  }
  const found = address;
  return found !== null && ranges.some((range) => cidrContains(range, found));
}
