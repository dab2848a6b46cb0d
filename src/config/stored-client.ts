/**
 * A client that is kept in the database, read as one of the configuration is: the same settings, the same words for what
 * is wrong with them. Its password is not among them.
 */
import type { Secret } from '../core/secret.js';
import { clientOf } from './build.js';
import type { ClientConfig } from './config.js';
import { checkClients } from './cross-checks.js';
import { knownKeysAt } from './json-schema.js';
import { findingsOf, formatPath, type Finding } from './problems.js';
import { clientSchema } from './schema-listen.js';

/** What came of it; each problem with the path of its setting, such as `limits.requests: expected …`. */
export type ReadClient =
  | { readonly kind: 'client'; readonly client: ClientConfig }
  | { readonly kind: 'bad'; readonly problems: readonly string[] };

const schema = clientSchema.omit({ password: true });
const above = ['clients', 0] as const;

/** Reads one. @param password what marks a client that has one, or null */
export function readStoredClient(
  name: string,
  settings: Readonly<Record<string, unknown>>,
  password: Secret | null,
): ReadClient {
  const given = { ...settings, name };
  const parsed = schema.safeParse(given, { reportInput: true });
  const marked = password === null ? given : { ...given, password: 'a mark' };
  const findings = [
    ...(parsed.error?.issues ?? []).flatMap((issue) => findingsOf(issue, above, knownKeysAt)),
    ...checkClients({ clients: [marked] }),
  ];
  if (!parsed.success || findings.length > 0) return { kind: 'bad', problems: findings.map(textOf) };
  return { kind: 'client', client: clientOf(parsed.data, password) };
}

function textOf({ path, message }: Finding): string {
  const own = formatPath(path.slice(above.length));
  return own === '' ? message : `${own}: ${message}`;
}
