/** From `storage` as written to where the records are; and what is wrong with it. */
import { join } from 'node:path';
import type { StorageConfig } from './config.js';
import type { Finding } from './problems.js';
import { parsePostgresUrl } from './postgres-url.js';
import { textOf } from './reading.js';
import type { Resources } from './resources.js';
import type { Settings } from './schema.js';

/** Everything that is wrong with `storage` beyond the kinds of its values. */
export function checkStorage(storage: Readonly<Record<string, unknown>>, resources: Resources): Finding[] {
  const isPostgres = storage['kind'] === 'postgres';
  const astray = (isPostgres ? ['path'] : ['url', 'ca']).filter((key) => key in storage);
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
  const parsed = parsePostgresUrl(resolved.secret.reveal());
  return typeof parsed === 'string' ? [{ path, message: parsed }] : [];
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
  const place = parsePostgresUrl(resolved.secret.reveal());
  if (typeof place === 'string') throw new Error(place);
  // As with libpq: who names an authority wants it to judge.
  const tls = place.tls === 'encrypted' && pem !== null ? 'authority' : place.tls;
  return { kind: 'postgres', ...place, tls, ca: pem, connections, callMs, isSet: true };
}
