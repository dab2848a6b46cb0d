/** What PostgreSQL's codes mean to whoever asked: what passes by itself, and what somebody has to mend. */
import { StorageRefused, type RefusedWhy } from './executor.js';
import { StorageAway } from './ports.js';

/** By the beginning of SQLSTATE. All of these may pass, and none is the caller's mistake. */
const passing: readonly (readonly [string, string])[] = [
  ['08', 'the connection to the database was lost'],
  ['25006', 'the database takes no writes now'],
  ['28', 'the database refuses the login'],
  ['3D', 'the server has no such database'],
  ['40', 'too many change the same at once'],
  ['53100', 'no space is left on the disk of the database'],
  ['53', 'the database has no room for more'],
  ['55P03', 'another process holds what is wanted'],
  ['57014', 'the database took too long'],
  ['57', 'the database is starting or ending'],
  ['58', 'the disk of the database fails'],
];

const untrusted = [
  ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ...['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID'],
];

/** Only somebody mends these; the message is for them. */
const lasting: readonly (readonly [string, RefusedWhy, string])[] = [
  ['28', 'login_refused', 'it refuses the login: check user and password of storage.url'],
  ['3D', 'login_refused', 'there is no such database: create it, or name another one in storage.url'],
  ['3F', 'not_ours', 'there is no schema to make tables in: create one, or set search_path'],
  ['42501', 'not_writable', 'the user may not make the tables: grant CREATE on the schema'],
  ['42P07', 'not_ours', 'it has tables of another program: give Turnpike a database or schema of its own'],
  ...untrusted.map(
    (code) => [code, 'login_refused', 'its certificate is not trusted: see storage.ca'] as const,
  ),
  ['42723', 'not_ours', 'it has functions of another program: give Turnpike a database or schema of its own'],
];

const codeOf = (error: unknown): string => {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
};

/** Whether the server said this, and the connection may be used again. */
export const isOfServer = (error: unknown): boolean =>
  /^[0-9A-Z]{5}$/.test(codeOf(error)) && !/^(08|57P)/.test(codeOf(error));

/** Whether the same may well do when it is tried again at once. */
export const isOfRace = (error: unknown): boolean => ['40001', '40P01'].includes(codeOf(error));

/** StorageAway for what the server can't do now; the error itself for what it never will. */
export function errorOf(error: unknown): unknown {
  if (error instanceof StorageAway || error instanceof StorageRefused) return error;
  const code = codeOf(error);
  const reason = passing.find(([start]) => code.startsWith(start))?.[1];
  if (reason !== undefined) return new StorageAway(reason, { cause: error });
  if (isOfServer(error)) return error;
  const text = error instanceof Error ? error.message || code : code;
  return new StorageAway(`the database is not reached: ${text}`, { cause: error });
}

/** The same while the database is opened, when a person can be told. */
export function openingErrorOf(error: unknown): unknown {
  const found = lasting.find(([start]) => codeOf(error).startsWith(start));
  if (found === undefined) return errorOf(error);
  return new StorageRefused(found[1], `the database can't be opened: ${found[2]}`, { cause: error });
}
