/** Where one client may go, beside what is open to nobody. */
import type { Failure } from '../core/errors.js';
import { compileHostPattern } from '../protocol/host-pattern.js';
import type { HostMatcher } from '../protocol/host-pattern.js';
import type { Target } from '../protocol/target.js';
import type { Client } from './clients.js';

const matchersOf = new WeakMap<readonly string[], readonly HostMatcher[]>();

/** Null where the client may visit the target, else why not. A client without a list may visit every target. */
export function checkClientTarget(client: Client, target: Target): Failure | null {
  if (client.targets.length === 0) return null;
  let matchers = matchersOf.get(client.targets);
  if (matchers === undefined) {
    // What doesn't compile was refused with the configuration; here it opens nothing.
    matchers = client.targets.map((pattern) => compileHostPattern(pattern) ?? (() => false));
    matchersOf.set(client.targets, matchers);
  }
  if (matchers.some((matches) => matches(target.host))) return null;
  return { code: 'target_refused', detail: `Client ${client.name} may not visit ${target.hostPort}.` };
}
