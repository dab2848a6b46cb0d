/**
 * Everything that a client can ask for, one row each: the field that carries it, what its value must be, how it is
 * read. The key is the name of the username parameter. Documentation is checked against this table.
 */
import {
  readAsn,
  readCity,
  readCountry,
  readMode,
  readName,
  readRetries,
  readSeconds,
  readSessionId,
  readSwitch,
  readTags,
} from './control-values.js';

/** One control. */
export interface ControlRow {
  /** The header field; for `session` its usual name. */
  readonly field: string;
  /** What the value must be, as the end of the sentence "X must be …". */
  readonly wants: string;
  /** Null where the text is no such value. */
  read(this: void, text: string, maxSessionTtlMs: number): unknown;
  /** Whether the value asks for something that the gateway does not have yet. */
  isMissing?(this: void, value: unknown): boolean;
}

const DAY_MS = 86_400_000;
const TOKEN = /^[\x21-\x7e]{1,512}$/;
const FEEDBACK = /^([\x21-\x3a\x3c-\x7e]{1,512});\s*([a-z_]{1,32})$/;
const always = (): boolean => true;
const opaque = (text: string): string | null => (TOKEN.test(text) ? text : null);

const rows: Readonly<Record<string, ControlRow>> = {
  session: {
    field: 'X-Session-Id',
    wants: '1 to 128 letters, digits or any of . _ ~ -',
    read: readSessionId,
  },
  mode: { field: 'X-Turnpike-Session-Mode', wants: 'soft or hard', read: readMode },
  ttl: {
    field: 'X-Turnpike-Session-Ttl',
    wants: 'a number of seconds above 0 and within the longest session allowed',
    read: readSeconds,
  },
  pool: { field: 'X-Turnpike-Pool', wants: 'the name of a pool', read: readName },
  country: { field: 'X-Turnpike-Country', wants: 'two letters', read: readCountry },
  city: { field: 'X-Turnpike-City', wants: 'the name of a city in ASCII', read: readCity },
  asn: { field: 'X-Turnpike-Asn', wants: 'the number of an autonomous system', read: readAsn },
  tags: { field: 'X-Turnpike-Tags', wants: '1 to 16 names with commas between', read: readTags },
  upstream: { field: 'X-Turnpike-Upstream', wants: 'the id of an upstream', read: readName },
  retries: { field: 'X-Turnpike-Retries', wants: 'a number from 0 to 100', read: readRetries },
  timeout: {
    field: 'X-Turnpike-Timeout',
    wants: 'a number of seconds above 0 and at most 86400',
    read: (text) => readSeconds(text, DAY_MS),
  },
  detect: { field: 'X-Turnpike-Detect', wants: 'on or off', read: readSwitch },
  intercept: {
    field: 'X-Turnpike-Intercept',
    wants: 'on or off',
    read: readSwitch,
    isMissing: (value) => value === true,
  },
  explain: { field: 'X-Turnpike-Explain', wants: 'on or off', read: readSwitch },
  policy: { field: 'X-Turnpike-Policy', wants: 'the name of a policy', read: readName, isMissing: always },
  feedback: {
    field: 'X-Turnpike-Feedback',
    wants: 'a request id and a verdict with a semicolon between',
    read: (text) => {
      const [, id, verdict] = FEEDBACK.exec(text) ?? [];
      return id === undefined || verdict === undefined ? null : { id, verdict };
    },
  },
  token: { field: 'X-Gatekeeper-Token', wants: 'a token', read: opaque, isMissing: always },
};

/** The rows by key. A map, so that no name of a client finds what objects inherit. */
export const controlTable: ReadonlyMap<string, ControlRow> = new Map(Object.entries(rows));
