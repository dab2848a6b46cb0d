/**
 * The URL of a PostgreSQL: `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=MODE`, with `%2Frun%2Fpostgresql` as the
 * host for the folder of its socket. What the modes mean is libpq's; without one the certificate is judged, unless the
 * server is on this machine. Nobody says what the text was: it holds a password.
 */
import { Secret } from '../core/secret.js';
import type { PostgresAt } from './config.js';
import { decoded } from './reading.js';

const DEFAULT_PORT = 5432;

const modes = new Map<string, PostgresAt['tls']>([
  ['disable', 'off'],
  ['require', 'encrypted'],
  ['verify-ca', 'authority'],
  ['verify-full', 'full'],
]);

/** Reads it; what is wrong with it as a text. */
export function parsePostgresUrl(given: string): PostgresAt | string {
  const url = URL.canParse(given) ? new URL(given) : null;
  const parts = url === null ? null : partsOf(url);
  if (url === null || parts === null) return 'expected postgres://USER:PASSWORD@HOST:PORT/DATABASE';
  const other = [...url.searchParams.keys()].find((key) => key !== 'sslmode');
  if (other !== undefined) return 'takes no parameter but sslmode';
  const mode = url.searchParams.get('sslmode');
  const tls = mode === null ? defaultFor(parts.host) : modes.get(mode);
  if (tls === undefined) return `expected sslmode to be one of ${[...modes.keys()].join(', ')}`;
  return { ...parts, tls };
}

function partsOf(url: URL): Omit<PostgresAt, 'tls'> | null {
  const [username, password, host, database] = [
    decoded(url.username),
    decoded(url.password),
    decoded(url.hostname.replace(/^\[|\]$/g, '')),
    decoded(url.pathname.slice(1)),
  ];
  if (!/^postgres(ql)?:$/.test(url.protocol) || url.hash !== '') return null;
  if (!username || !host || !database || password === null || database.includes('/')) return null;
  return {
    ...{ host, port: Number(url.port || DEFAULT_PORT), database, username },
    password: password === '' ? null : new Secret(password),
  };
}

const defaultFor = (host: string): PostgresAt['tls'] =>
  host.startsWith('/') || host === 'localhost' || host === '::1' || /^127\./.test(host) ? 'off' : 'full';
