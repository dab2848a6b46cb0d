/**
 * Who is asking. Passwords are compared as SHA-256 digests in constant time, an unknown name costs the same work,
 * and what was proved once is remembered by the field's value. Never says which part of a login was wrong.
 * Beside the clients of a configuration there may be stored ones (`stored-clients.ts`): whoever is none of the former, and
 * was not proved before, is answered after a hash, `pending` until then.
 *
 * Whoever proves a password may come from `allowFrom`, or from anywhere where that is empty. Whoever proves none
 * (a client without password, the default client of a listener) must come from `allowFrom`, or from this machine
 * where that is empty: no omission in a configuration opens the gateway to the net.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Failure } from '../core/errors.js';
import type { Secret } from '../core/secret.js';
import type { Rate } from '../facts/limit.js';
import type { Cidr } from '../protocol/address.js';
import { Memo } from '../protocol/memo.js';
import type { ControlDefaults } from '../request/controls.js';
import { readBasic } from '../request/credentials.js';
import type { Dialect, NativeUsername, UsernameResult } from '../request/dialects/dialect.js';
import { nativeDialect } from '../request/dialects/native.js';
import { FailureLimit } from './failure-limit.js';
import { isWithin, placesOf, type Places } from './known-client.js';
import type { Checked, StoredClients } from './stored-clients.js';

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

/** Who it is, or why not. */
export type Settled =
  | { readonly kind: 'client'; readonly client: Client; readonly username: NativeUsername | null }
  /** 407. `delayMs`: for how long the answer should be held back; above 0 only after many failures. */
  | { readonly kind: 'challenge'; readonly detail: string; readonly delayMs: number }
  | { readonly kind: 'refused'; readonly failure: Failure };

/** `pending`: not before a hash. Only where there are stored clients. */
export type AuthResult = Settled | { readonly kind: 'pending'; readonly settled: Promise<Settled> };

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
  /** Clients that are not in the configuration; a name that is in both is the configuration's. Null: none can be. */
  readonly stored?: StoredClients | null;
}

interface Known extends Places {
  /** Of the password; null where there is none. */
  readonly digest: Buffer | null;
}

interface Proved {
  readonly ranges: readonly Cidr[] | null;
  readonly result: Settled;
}

/** A login taken apart. */
interface Login {
  readonly name: string;
  readonly password: string;
  readonly username: UsernameResult;
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
const anonymous: Settled = { kind: 'client', client: anonymousClient, username: null };
const UNCHECKED: Settled = {
  kind: 'refused',
  failure: {
    code: 'login_unchecked',
    detail: 'Too many logins wait to be checked, or the stored clients could not be read yet.',
    retryAfterMs: 1000,
  },
};

/** The clients of one configuration. */
export class Clients {
  readonly #known: ReadonlyMap<string, Known>;
  readonly #withoutPassword: readonly Known[];
  /** Proved logins by the value of the field; holds passwords and never leaves this file. */
  readonly #proved = new Memo<Proved>(MEMO_ENTRIES);
  readonly #failures: FailureLimit;
  /** Whether everybody may come in, if nobody is stored either. */
  readonly #isOpenAlone: boolean;
  readonly #stored: StoredClients | null;
  readonly #dialect: Dialect;

  /** Throws where an `allowFrom` is no range; the configuration was checked for that. */
  constructor(clients: readonly Client[], options: ClientsOptions) {
    const known = clients.map(knownOf);
    this.#known = new Map(known.map((each) => [each.client.name, each]));
    this.#withoutPassword = known.filter((each) => each.digest === null);
    this.#isOpenAlone = options.anonymousAllowed && clients.length === 0;
    this.#stored = options.stored ?? null;
    this.#dialect = options.dialect ?? nativeDialect;
    this.#failures = options.failures ?? new FailureLimit();
  }

  /** All of them, those of the configuration first. */
  all(): readonly Client[] {
    const own = [...this.#known.values()].map(({ client }) => client);
    const stored = [...(this.#stored?.all() ?? [])].map(({ client }) => client);
    return [...own, ...stored.filter(({ name }) => !this.#known.has(name))];
  }

  /** The client of this name. */
  byName(name: string): Client | undefined {
    return (this.#known.get(name) ?? this.#stored?.get(name))?.client;
  }

  /** Whether the configuration has a client of this name. */
  isConfigured(name: string): boolean {
    return this.#known.has(name);
  }

  /** Who sends this request. Cheap for a login that was proved before: one look-up. */
  authenticate(input: AuthInput): AuthResult {
    const { proxyAuthorization: value, remoteAddress } = input;
    if (value === undefined) return this.#withoutLogin(input);
    const proved = this.#proved.get(value);
    if (proved !== undefined && isWithin(proved.ranges, remoteAddress)) return proved.result;
    const stored = this.#stored === null ? null : this.#recallStored(value, this.#stored, remoteAddress);
    if (stored !== null) return stored;
    if (this.#failures.isLimited(remoteAddress, input.nowMs)) return challenge(TOO_MANY, HELD_BACK_MS);
    return this.#prove(value, input);
  }

  /** The listener's client where it has one, else the first client that its address is enough for. */
  #withoutLogin({ listenerDefaultClient, remoteAddress }: AuthInput): Settled {
    if (listenerDefaultClient === null && this.#isOpen()) return anonymous;
    const listeners = this.#known.get(listenerDefaultClient ?? '');
    const stored = this.#stored?.withoutPassword ?? [];
    const byAddress = stored.length === 0 ? this.#withoutPassword : [...this.#withoutPassword, ...stored];
    const candidates = listenerDefaultClient === null ? byAddress : listeners ? [listeners] : [];
    const known = candidates.find((each) => isWithin(each.rangesWithoutLogin, remoteAddress));
    if (known !== undefined) return { kind: 'client', client: known.client, username: null };
    return this.#stored?.isRead === false ? UNCHECKED : challenge(WANTED);
  }

  #isOpen(): boolean {
    return this.#isOpenAlone && (this.#stored === null || this.#stored.isEmpty);
  }

  /** A stored client that was proved before, or that needs no proof; null where this login is none of these. */
  #recallStored(value: string, stored: StoredClients, remoteAddress: string): Settled | null {
    const login = stored.isEmpty ? null : this.#loginIn(value);
    if (login === null || this.#known.has(login.name)) return null;
    const known = stored.recall(login.name, login.password);
    if (known === null || !isWithin(rangesOf(known), remoteAddress)) return null;
    return resultOf(known.client, login.username);
  }

  #loginIn(value: string): Login | null {
    const credentials = readBasic(value);
    if (credentials.kind !== 'basic') return null;
    const username = this.#dialect.parse(credentials.username);
    return { name: username.name, password: credentials.password, username };
  }

  #prove(value: string, input: AuthInput): AuthResult {
    const login = this.#loginIn(value);
    if (login === null) return this.#fail(MALFORMED, input);
    const { name, username } = login;
    const isOpen = this.#isOpen();
    // `+session=a1:` names nobody: the listener's client, or whoever one is without a login.
    const client =
      name === '' || isOpen ? clientIn(this.#withoutLogin(input)) : this.#clientByLogin(login, input);
    if (client === null) return this.#unproved(login, input);
    const result = resultOf(client, username);
    // Who is let in as anybody may have to prove something soon.
    const isLasting = this.#stored === null || !isOpen;
    if (result.kind === 'client' && name !== '' && isLasting && value.length <= LONGEST_MEMO_KEY)
      this.#remember(value, result, client);
    return result;
  }

  #remember(value: string, result: Settled, client: Client): void {
    const known = this.#known.get(client.name);
    const ranges = known === undefined ? null : rangesOf(known);
    this.#proved.set(value, { ranges, result });
  }

  /** Does the same work for every name, known or not. */
  #clientByLogin({ name, password }: Login, { remoteAddress }: AuthInput): Client | null {
    const known = this.#known.get(name);
    const isRight = timingSafeEqual(digestOf(password), known?.digest ?? NOBODY);
    if (known === undefined || (known.digest !== null && !isRight)) return null;
    return isWithin(rangesOf(known), remoteAddress) ? known.client : null;
  }

  /** No client of the configuration. Where there are stored ones, it costs a hash to be none of them either. */
  #unproved(login: Login, input: AuthInput): AuthResult {
    const stored = this.#stored;
    if (stored === null || stored.isEmpty || login.name === '') return this.#fail(WRONG, input);
    if (!stored.isRead) return this.#known.has(login.name) ? this.#fail(WRONG, input) : UNCHECKED;
    const { name, password } = login;
    const { remoteAddress } = input;
    const known = this.#known.has(name) ? null : (stored.get(name) ?? null);
    const checked = stored.check({ known, name, password, remoteAddress });
    return { kind: 'pending', settled: checked.then((each) => settle(each, login.username, remoteAddress)) };
  }

  #fail(detail: string, { remoteAddress, nowMs }: AuthInput): Settled {
    this.#failures.count(remoteAddress, nowMs);
    return challenge(detail);
  }
}

function resultOf(client: Client, username: UsernameResult): Settled {
  return username.kind === 'refused' ? username : { kind: 'client', client, username };
}

/** What came of a hash. */
function settle(checked: Checked, username: UsernameResult, remoteAddress: string): Settled {
  if (checked === 'busy') return UNCHECKED;
  if (checked === 'limited') return challenge(TOO_MANY, HELD_BACK_MS);
  if (checked === 'wrong' || !isWithin(checked.ranges, remoteAddress)) return challenge(WRONG);
  return resultOf(checked.client, username);
}

function challenge(detail: string, delayMs = 0): Settled {
  return { kind: 'challenge', detail, delayMs };
}

function clientIn(result: Settled): Client | null {
  return result.kind === 'client' ? result.client : null;
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}

function knownOf(client: Client): Known {
  const digest = client.password === null ? null : digestOf(client.password.reveal());
  return { ...placesOf(client), digest };
}

/** From where a login by name is good: one without password proves nothing. */
function rangesOf(known: Places): readonly Cidr[] | null {
  return known.client.password === null ? known.rangesWithoutLogin : known.ranges;
}
