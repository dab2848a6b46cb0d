/** From `state` as written to where the shared state is; and what is wrong with it. */
import { Secret } from '../core/secret.js';
import type { RedisAt, StateConfig } from './config.js';
import type { Finding } from './problems.js';
import { decoded, mapOf, textOf } from './reading.js';
import type { Resources } from './resources.js';
import type { Settings } from './schema.js';
import { clusterSecretVariable } from './schema-state.js';

const DEFAULT_PORT = 6379;
const MAX_DB = 1023;
/** Shorter ones can be guessed. */
const LEAST_SECRET = 16;

/** Reads `redis://USER:PASSWORD@HOST:PORT/DB`. Null for anything else; the text may hold a password, so nobody says what it was. */
export function parseRedisUrl(given: string): RedisAt | null {
  const url = URL.canParse(given) ? new URL(given) : null;
  const match = /^\/?(\d{0,4})$/.exec(url?.pathname ?? '?');
  if (url === null || match === null || url.hostname === '' || url.search !== '' || url.hash !== '')
    return null;
  if (url.protocol !== 'redis:' && url.protocol !== 'rediss:') return null;
  const [username, password] = [decoded(url.username), decoded(url.password)];
  const db = Number(match[1]);
  if (username === null || password === null || db > MAX_DB) return null;
  return {
    kind: 'single',
    nodes: [{ host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || DEFAULT_PORT) }],
    primary: '',
    username: username === '' ? null : username,
    password: password === '' ? null : new Secret(password),
    tls: url.protocol === 'rediss:',
    db,
  };
}

/** Everything that is wrong with `state` beyond the kinds of its values. */
export function checkState(state: Readonly<Record<string, unknown>>, resources: Resources): Finding[] {
  if (state['kind'] !== 'redis') return [];
  const places = ['url', 'nodes', 'sentinels'].filter((key) => state[key] !== undefined);
  if (places.length !== 1) {
    const message = 'redis needs one of url, nodes and sentinels';
    return [{ path: ['state'], message }];
  }
  return [...checkUrl(state, resources), ...checkSecret(state, resources), ...checkLogin(state, resources)];
}

function checkUrl(state: Readonly<Record<string, unknown>>, resources: Resources): Finding[] {
  const reference = textOf(state['url']);
  if (reference === null || reference === '') return [];
  const path = ['state', 'url'];
  for (const key of ['username', 'password', 'tls']) {
    if (state[key] !== undefined)
      return [{ path: ['state', key], message: 'stands in the url where there is one' }];
  }
  const resolved = resources.secret(reference);
  if (resolved.kind === 'problem') return [{ path, message: resolved.message }];
  const isGood = parseRedisUrl(resolved.secret.reveal()) !== null;
  return isGood ? [] : [{ path, message: 'expected redis://USER:PASSWORD@HOST:PORT/DB, or rediss://' }];
}

function checkSecret(state: Readonly<Record<string, unknown>>, resources: Resources): Finding[] {
  const path = ['state', 'secret'];
  const resolved = resources.secret(textOf(state['secret']) ?? `env:${clusterSecretVariable}`);
  if (resolved.kind === 'problem') return [{ path, message: resolved.message }];
  const isLong = resolved.secret.reveal().length >= LEAST_SECRET;
  return isLong ? [] : [{ path, message: `needs at least ${LEAST_SECRET} characters` }];
}

function checkLogin(state: Readonly<Record<string, unknown>>, resources: Resources): Finding[] {
  const reference = textOf(mapOf(state)['password']);
  const resolved = reference === null || reference === '' ? null : resources.secret(reference);
  return resolved?.kind === 'problem' ? [{ path: ['state', 'password'], message: resolved.message }] : [];
}

/** Where the state is, of settings that {@link checkState} found nothing wrong with. */
export function stateOf(state: Settings['state'], resources: Resources): StateConfig {
  if (state.kind === 'memory') return { kind: 'memory' };
  const resolve = (reference: string): Secret => {
    const resolved = resources.secret(reference);
    if (resolved.kind === 'problem') throw new Error(resolved.message);
    return resolved.secret;
  };
  const fromUrl = state.url === undefined ? null : parseRedisUrl(resolve(state.url).reveal());
  const place: RedisAt = fromUrl ?? {
    kind: state.nodes === undefined ? 'sentinel' : 'cluster',
    nodes: state.nodes ?? state.sentinels ?? [],
    primary: state.primary,
    username: state.username ?? null,
    password: state.password === undefined ? null : resolve(state.password),
    tls: state.tls,
    db: 0,
  };
  return { kind: 'redis', place, prefix: state.prefix, secret: resolve(state.secret) };
}
