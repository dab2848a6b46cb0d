/** From `storage` as written to where the records are; and what is wrong with it. */
import { join } from 'node:path';
import { Secret } from '../core/secret.js';
import type { PostgresAt, StorageConfig } from './config.js';
import type { Finding } from './problems.js';
import { decoded, textOf } from './reading.js';
import type { Resources } from './resources.js';
import type { Settings } from './schema.js';

/** Everything that is wrong with `storage` beyond the kinds of its values. */
export function checkStorage(storage: Readonly<Record<string, unknown>>, resources: Resources): Finding[] {
  const isPostgres = storage['kind'] === 'postgres';
  const astray = (isPostgres ? ['path'] : ['url', 'ca', 'connections']).filter((key) => key in storage);
  const findings: Finding[] = astray.map((key) => ({
    path: ['storage', key],
    message: `belongs to kind ${isPostgres ? 'sqlite' : 'postgres'}`,
  }));
  if (!isPostgres) return findings;
  if (storage['url'] === undefined) findings.push({ path: ['storage', 'url'], message: 'postgres needs it' });
  return [...findings, ...checkUrl(storage['url'], resources), ...checkCa(storage['ca'], resources)];
}

function checkUrl(value: unknown, resources: Resources): Finding[] {
  const reference = textOf(value);
  if (reference === null || reference === '') return [];
  const path = ['storage', 'url'];
  const resolved = resources.secret(reference);
  if (resolved.kind === 'problem') return [{ path, message: resolved.message }];
  const message = `expected postgres://USER:PASSWORD@HOST:PORT/DATABASE, perhaps with ?sslmode=${sslModes.join('|')}`;
  return parsePostgresUrl(resolved.secret.reveal()) === null ? [{ path, message }] : [];
}

const tlsOfMode = new Map<string, PostgresAt['tls']>([
  ['disable', 'off'],
  ['require', 'encrypted'],
  ['verify-ca', 'authority'],
  ['verify-full', 'full'],
]);
const sslModes = [...tlsOfMode.keys()];
const DEFAULT_PORT = 5432;

/**
 * Reads `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=…`. Null for anything else; the text may hold a password, so
 * nobody says what it was. Without sslmode: off to this machine, `verify-full` to others.
 */
export function parsePostgresUrl(given: string): PostgresAt | null {
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol) || url.hostname === '' || url.hash !== '')
    return null;
  const names = [...url.searchParams.keys()];
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  const tls = tlsOfMode.get(url.searchParams.get('sslmode') ?? (isLocal ? 'disable' : 'verify-full'));
  const [username, password, database] = [url.username, url.password, url.pathname.slice(1)].map(decoded);
  if (tls === undefined || names.some((name) => name !== 'sslmode')) return null;
  if (!username || password === undefined || password === null || !database) return null;
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || DEFAULT_PORT),
    ...{ database, username, tls },
    password: password === '' ? null : new Secret(password),
  };
}

function checkCa(value: unknown, resources: Resources): Finding[] {
  const file = textOf(value);
  if (file === null || file === '') return [];
  const found = resources.certificate(file);
  return 'trouble' in found ? [{ path: ['storage', 'ca'], message: found.trouble }] : [];
}

/** Where the records are, of settings that {@link checkStorage} found nothing wrong with. */
export function storageOf(
  storage: Settings['storage'],
  dataDir: string,
  resources: Resources,
): StorageConfig {
  const { kind, path, url, ca, connections, timeout: callMs } = storage;
  if (kind !== 'postgres') {
    const file = path === undefined ? join(resources.path(dataDir), 'turnpike.db') : resources.path(path);
    return { kind: 'sqlite', path: file, callMs, isSet: kind !== undefined || path !== undefined };
  }
  const resolved = resources.secret(url ?? '');
  if (resolved.kind === 'problem') throw new Error(resolved.message);
  const certificate = ca === undefined ? null : resources.certificate(ca);
  const pem = certificate !== null && 'pem' in certificate ? certificate.pem : null;
  const at = parsePostgresUrl(resolved.secret.reveal());
  if (at === null) throw new Error('the URL of a PostgreSQL was built before it was checked');
  return { kind: 'postgres', ...at, ca: pem, connections, callMs, isSet: true };
}
