/** Policies for tests, from bodies. */
import { readPolicy, type Policy } from '../../src/credentials/policy-document.js';

/** A policy of keys, with what is given. @throws where it can't be meant */
export function policyOf(more: object = {}): Policy {
  const read = readPolicy({ name: 'p', credential_type: 'api_key', ...more });
  if (read.kind === 'invalid') throw new Error(JSON.stringify(read.problems));
  return read.policy;
}
