/** Reads a credential as people and files send it. PURE; no message tells a byte of a secret. */
import {
  credentialStatuses,
  credentialTypes,
  type CredentialStatus,
  type CredentialType,
  type JsonObject,
} from '../storage/credential-ports.js';
import type { InputProblem } from './actor.js';
import type { CredentialInput } from './credential-desk.js';
import { readSecret } from './credential-secret.js';

const KEY = /^[A-Za-z0-9][A-Za-z0-9._@:+~-]{0,199}$/;
const MOST_META_BYTES = 16_384;

/** A credential that can be kept, but for its seal. */
export interface ReadyCredential {
  readonly key: string;
  readonly type: CredentialType;
  readonly meta: JsonObject;
  readonly status: CredentialStatus;
  /** The secret as JSON. */
  readonly json: string;
}

export type CredentialRead =
  | { readonly kind: 'good'; readonly credential: ReadyCredential }
  | { readonly kind: 'invalid'; readonly problems: readonly InputProblem[] };

/** Reads one. */
export function readCredential({
  key,
  type,
  secret,
  meta = {},
  status = 'active',
}: CredentialInput): CredentialRead {
  const problems: InputProblem[] = [];
  if (!KEY.test(key)) problems.push({ path: 'key', message: keyWanted });
  problems.push(...metaProblems(meta), ...statusProblems(status));
  const named = credentialTypes.find((each) => each === type);
  if (named === undefined)
    return invalid([...problems, { path: 'type', message: `expected one of ${credentialTypes.join(', ')}` }]);
  const read = readSecret(named, secret);
  if (read.kind === 'invalid') problems.push({ path: 'secret', message: read.message });
  if (read.kind === 'invalid' || problems.length > 0) return invalid(problems);
  return {
    kind: 'good',
    credential: { key, type: named, meta, status: status as CredentialStatus, json: read.json },
  };
}

const keyWanted =
  'expected letters and digits of ASCII and . _ @ : + ~ -, the first a letter or digit; at most 200';

/** What is wrong with `meta`. */
export function metaProblems(meta: JsonObject): InputProblem[] {
  const problems: InputProblem[] = [];
  if (Buffer.byteLength(JSON.stringify(meta)) > MOST_META_BYTES)
    problems.push({ path: 'meta', message: `longer than ${MOST_META_BYTES} bytes` });
  const weight = meta['weight'];
  if (weight !== undefined && !(typeof weight === 'number' && weight >= 0))
    problems.push({ path: 'meta.weight', message: 'expected a number from 0' });
  return problems;
}

/** What is wrong with a status. */
export function statusProblems(status: string): InputProblem[] {
  return credentialStatuses.some((each) => each === status)
    ? []
    : [{ path: 'status', message: `expected one of ${credentialStatuses.join(', ')}` }];
}

const invalid = (problems: readonly InputProblem[]): CredentialRead => ({ kind: 'invalid', problems });
