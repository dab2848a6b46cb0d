/**
 * What a client asks for with one request: header fields before username parameters before the defaults of listener
 * and client. All of it is consumed here and never forwarded. What isn't understood is refused by name: a misspelt
 * control that was ignored would cost money or a session.
 */
import type { Failure } from '../core/errors.js';
import type { Fields } from '../http1/fields.js';
import type { Controls, ExitFilter } from './context.js';
import { controlTable } from './control-table.js';
import type { Asked } from './control-table.js';
import type { NativeUsername } from './dialects/dialect.js';

/** Defaults of a listener and a client; what is missing is left to the route. */
export interface ControlDefaults {
  readonly session?: string | null;
  readonly sessionMode?: 'soft' | 'hard' | null;
  readonly sessionTtlMs?: number | null;
  readonly filter?: Partial<ExitFilter>;
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

const PREFIX = 'x-turnpike-';
const TOKEN_FIELD = 'x-gatekeeper-token';
const DAY_MS = 86_400_000;
const noFilter: ExitFilter = { pool: null, country: null, city: null, asn: null, tags: [], upstream: null };
const nothingAsked: ControlsResult = {
  kind: 'controls',
  controls: { session: null, filter: noFilter, retries: null, timeoutMs: null, detect: true, explain: false },
};

/** Whether a field (name in lower case) speaks to the gateway and never travels on. */
export function isControlField(lowerName: string, sessionHeader: string): boolean {
  return lowerName === sessionHeader || lowerName.startsWith(PREFIX) || lowerName === TOKEN_FIELD;
}

/** Weighs header fields, username and defaults. Refuses what is repeated, unknown, out of bounds or not there yet. */
export function readControls(input: ControlsInput): ControlsResult {
  const { fields, sessionHeader } = input;
  let asked: Asked | null = null;
  for (let i = 0; i < fields.length; i++) {
    const name = fields.lowerNameAt(i);
    if (!isControlField(name, sessionHeader)) continue;
    asked ??= new Map();
    const failure = askByField(asked, name, { input, value: fields.valueAt(i) });
    if (failure !== null) return { kind: 'refused', failure };
  }
  if (input.username !== null && input.username.params.size > 0) {
    asked ??= new Map();
    const failure = askByUsername(asked, input.username, input);
    if (failure !== null) return { kind: 'refused', failure };
  }
  if (asked === null && isEmpty(input.defaults)) return nothingAsked;
  return { kind: 'controls', controls: weigh(asked ?? new Map<string, unknown>(), input) };
}

function isEmpty(defaults: ControlDefaults): boolean {
  for (const _key in defaults) return false;
  return true;
}

function refusal(code: 'bad_request' | 'not_implemented', detail: string): Failure {
  return { code, detail };
}

function askByField(
  asked: Asked,
  lowerName: string,
  { input, value }: { input: ControlsInput; value: string },
): Failure | null {
  const key = lowerName === input.sessionHeader ? 'session' : keyOfField(lowerName);
  if (key === null) {
    const known = [...controlTable.values()].map((row) => row.field).join(', ');
    return refusal('bad_request', `${shortName(lowerName)} is not a field of this gateway. Known: ${known}.`);
  }
  if (asked.has(key)) return refusal('bad_request', `${shortName(lowerName)} is there twice.`);
  return ask(asked, key, { value, where: shortName(lowerName), input });
}

function askByUsername(asked: Asked, username: NativeUsername, input: ControlsInput): Failure | null {
  const byName: Asked = new Map();
  for (const [key, value] of username.params) {
    const failure = ask(byName, key, { value, where: `${key} in the proxy username`, input });
    if (failure !== null) return failure;
    if (!asked.has(key)) asked.set(key, byName.get(key));
  }
  return null;
}

function ask(
  asked: Asked,
  key: string,
  { value, where, input }: { value: string; where: string; input: ControlsInput },
): Failure | null {
  const row = controlTable.get(key);
  if (row === undefined) return refusal('bad_request', `${where} is not known.`);
  const read = row.read(value, input.maxSessionTtlMs ?? DAY_MS);
  if (read === null) return refusal('bad_request', `${where} must be ${row.wants}.`);
  if (row.missing?.(read) === true) {
    return refusal('not_implemented', `${where} asks for something that this gateway does not have yet.`);
  }
  asked.set(key, read);
  return null;
}

const keyByField: ReadonlyMap<string, string> = new Map(
  [...controlTable].map(([key, row]) => [row.field.toLowerCase(), key]),
);

function keyOfField(lowerName: string): string | null {
  return keyByField.get(lowerName) ?? null;
}

/** A name as it can stand in an answer. */
function shortName(lowerName: string): string {
  return lowerName.length <= 64 ? lowerName : `${lowerName.slice(0, 64)}…`;
}

function weigh(asked: Asked, input: ControlsInput): Controls {
  const { defaults } = input;
  const pick = <Value>(key: string, fallback: Value | null | undefined): Value | null =>
    (asked.get(key) as Value | undefined) ?? fallback ?? null;
  const id = pick('session', defaults.session);
  const filter = defaults.filter;
  return {
    session:
      id === null
        ? null
        : {
            id,
            mode: pick('mode', defaults.sessionMode) ?? 'soft',
            ttlMs: pick('ttl', defaults.sessionTtlMs) ?? input.sessionTtlMs,
          },
    filter: {
      pool: pick('pool', filter?.pool),
      country: pick('country', filter?.country),
      city: pick('city', filter?.city),
      asn: pick('asn', filter?.asn),
      tags: pick('tags', filter?.tags) ?? noFilter.tags,
      upstream: pick('upstream', filter?.upstream),
    },
    retries: pick('retries', defaults.retries),
    timeoutMs: pick('timeout', defaults.timeoutMs),
    detect: pick('detect', defaults.detect) ?? true,
    explain: pick('explain', defaults.explain) ?? false,
  };
}

/** The defaults of a listener before those of the client. */
export function mergeDefaults(listener: ControlDefaults, client: ControlDefaults): ControlDefaults {
  if (isEmpty(listener)) return client;
  if (isEmpty(client)) return listener;
  return { ...client, ...listener, filter: { ...client.filter, ...listener.filter } };
}
