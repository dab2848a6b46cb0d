/**
 * What a client asks for with one request: header fields before username parameters before the defaults of listener
 * and client. All of it is consumed here and never forwarded. What isn't understood is refused by name: a misspelt
 * control that was ignored would cost money or a session.
 */
import type { Failure } from '../core/errors.js';
import type { Fields } from '../http1/fields.js';
import type { Controls } from './context.js';
import { controlTable } from './control-table.js';
import type { NativeUsername } from './dialects/dialect.js';

/** What requests of a listener or a client are taken to say when they say nothing; null and missing: not preset. */
export interface ControlDefaults {
  readonly session?: string | null;
  readonly mode?: 'soft' | 'hard' | null;
  readonly ttlMs?: number | null;
  readonly pool?: string | null;
  readonly country?: string | null;
  readonly city?: string | null;
  readonly asn?: number | null;
  /** Empty: not preset. */
  readonly tags?: readonly string[];
  readonly upstream?: string | null;
  readonly retries?: number | null;
  readonly timeoutMs?: number | null;
  readonly detect?: boolean | null;
  readonly explain?: boolean | null;
}

export type ControlsResult =
  | { readonly kind: 'controls'; readonly controls: Controls }
  | { readonly kind: 'refused'; readonly failure: Failure };

/** What controls are read from. */
export interface ControlsInput {
  readonly fields: Fields;
  /** Name of the session header, in lower case. */
  readonly sessionHeader: string;
  readonly username: NativeUsername | null;
  readonly defaults: ControlDefaults;
  /** For sessions that don't say how long. */
  readonly sessionTtlMs: number;
  /** Longest that a client may ask for; a day where not given. */
  readonly maxSessionTtlMs?: number;
}

/** What was asked, by key; the reader in the table made the value. */
type Asked = Map<string, unknown>;

/** One thing that was said: its key, its value, and by what name people know it. */
interface Said {
  readonly key: string;
  readonly value: string;
  readonly where: string;
}

const LETTER_X = 0x78;
const PREFIX = 'x-turnpike-';
const TOKEN_FIELD = 'x-gatekeeper-token';
/** Speaks to gateways, not about the request: read by the listener, consumed like the others. */
const LOOP_FIELD = 'x-turnpike-loop';
const DAY_MS = 86_400_000;
const noTags: readonly string[] = [];
const nothingAsked: Asked = new Map();

/** What a request that says nothing gets, by its defaults, which are the same for many requests. */
const unasked = new WeakMap<
  ControlDefaults,
  { readonly sessionTtlMs: number; readonly result: ControlsResult }
>();

/** Whether a field (name in lower case) speaks to the gateway and never travels on. */
export function isControlField(lowerName: string, sessionHeader: string): boolean {
  if (lowerName === sessionHeader) return true;
  // Asked of every field of every request: most are done with after one letter.
  if (lowerName.charCodeAt(0) !== LETTER_X) return false;
  return lowerName.startsWith(PREFIX) || lowerName === TOKEN_FIELD;
}

/** Weighs header fields, username and defaults. Refuses what is repeated, unknown, out of bounds or not there yet. */
export function readControls(input: ControlsInput): ControlsResult {
  let asked = nothingAsked;
  const failure = askByFields(input, () => (asked = new Map<string, unknown>()));
  if (failure !== null) return { kind: 'refused', failure };
  const { username } = input;
  if (username !== null && username.params.size > 0) {
    const byName: Asked = new Map();
    const nameFailure = askByUsername(byName, username, input);
    if (nameFailure !== null) return { kind: 'refused', failure: nameFailure };
    asked = new Map([...byName, ...asked]);
  }
  return asked === nothingAsked ? presets(input) : { kind: 'controls', controls: weigh(asked, input) };
}

function presets(input: ControlsInput): ControlsResult {
  const { defaults, sessionTtlMs } = input;
  const known = unasked.get(defaults);
  if (known?.sessionTtlMs === sessionTtlMs) return known.result;
  const result: ControlsResult = { kind: 'controls', controls: weigh(nothingAsked, input) };
  unasked.set(defaults, { sessionTtlMs, result });
  return result;
}

/** Reads all control fields; `begin` makes the map for the first, so that a request without any costs none. */
function askByFields(input: ControlsInput, begin: () => Asked): Failure | null {
  const { fields, sessionHeader } = input;
  let asked: Asked | null = null;
  for (let i = 0; i < fields.length; i++) {
    const name = fields.lowerNameAt(i);
    if (!isControlField(name, sessionHeader) || name === LOOP_FIELD) continue;
    asked ??= begin();
    const where = shortened(fields.nameAt(i));
    const key = name === sessionHeader ? 'session' : keyByField.get(name);
    if (key === undefined) return refusal(`${where} is not a field of this gateway. ${KNOWN_FIELDS}`);
    if (asked.has(key)) return refusal(`${where} is there twice.`);
    const failure = ask(asked, { key, value: fields.valueAt(i), where }, input);
    if (failure !== null) return failure;
  }
  return null;
}

function askByUsername(asked: Asked, username: NativeUsername, input: ControlsInput): Failure | null {
  for (const [key, value] of username.params) {
    const failure = ask(asked, { key, value, where: `The parameter ${key} of the proxy username` }, input);
    if (failure !== null) return failure;
  }
  return null;
}

function ask(asked: Asked, { key, value, where }: Said, input: ControlsInput): Failure | null {
  const row = controlTable.get(key);
  if (row === undefined) return refusal(`${shortened(where)} is not known.`);
  const read = row.read(value, input.maxSessionTtlMs ?? DAY_MS);
  if (read === null) return refusal(`${where} must be ${row.wants}.`);
  if (row.isMissing?.(read) === true) {
    return {
      code: 'not_implemented',
      detail: `${where} asks for something that this gateway does not have yet.`,
    };
  }
  asked.set(key, read);
  return null;
}

/** The usual name of the session header is a control only where it is the one configured. */
const keyByField: ReadonlyMap<string, string> = new Map(
  [...controlTable].filter(([key]) => key !== 'session').map(([key, row]) => [row.field.toLowerCase(), key]),
);

const KNOWN_FIELDS = `Known are ${[...controlTable.values()].map((row) => row.field).join(', ')}.`;

function refusal(detail: string): Failure {
  return { code: 'bad_request', detail };
}

/** A name as it can stand in an answer. */
function shortened(name: string): string {
  return name.length <= 64 ? name : `${name.slice(0, 64)}…`;
}

function weigh(asked: Asked, input: ControlsInput): Controls {
  const { defaults } = input;
  const pick = <Value>(key: string, preset: Value | null | undefined): Value | null =>
    (asked.get(key) as Value | undefined) ?? preset ?? null;
  const id = pick('session', defaults.session);
  return {
    session:
      id === null
        ? null
        : {
            id,
            mode: pick('mode', defaults.mode) ?? 'soft',
            ttlMs: pick('ttl', defaults.ttlMs) ?? input.sessionTtlMs,
          },
    filter: {
      pool: pick('pool', defaults.pool),
      country: pick('country', defaults.country),
      city: pick('city', defaults.city),
      asn: pick('asn', defaults.asn),
      tags: pick('tags', defaults.tags) ?? noTags,
      upstream: pick('upstream', defaults.upstream),
    },
    retries: pick('retries', defaults.retries),
    timeoutMs: pick('timeout', defaults.timeoutMs),
    detect: pick('detect', defaults.detect) ?? true,
    explain: pick('explain', defaults.explain) ?? false,
    feedback: pick('feedback', null),
  };
}

/**
 * The defaults of a listener before those of the client, one by one: a port for one tab is the closer wish.
 * Keep what it gives: what it amounts to is remembered by the object.
 */
export function mergeDefaults(listener: ControlDefaults, client: ControlDefaults): ControlDefaults {
  const tags = listener.tags ?? noTags;
  return {
    session: listener.session ?? client.session ?? null,
    mode: listener.mode ?? client.mode ?? null,
    ttlMs: listener.ttlMs ?? client.ttlMs ?? null,
    pool: listener.pool ?? client.pool ?? null,
    country: listener.country ?? client.country ?? null,
    city: listener.city ?? client.city ?? null,
    asn: listener.asn ?? client.asn ?? null,
    tags: tags.length > 0 ? tags : (client.tags ?? noTags),
    upstream: listener.upstream ?? client.upstream ?? null,
    retries: listener.retries ?? client.retries ?? null,
    timeoutMs: listener.timeoutMs ?? client.timeoutMs ?? null,
    detect: listener.detect ?? client.detect ?? null,
    explain: listener.explain ?? client.explain ?? null,
  };
}
