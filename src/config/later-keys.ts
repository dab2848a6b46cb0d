/** Settings that the design names and this version lacks: they get a plain answer, not "unknown". */
import type { Path } from './problems.js';

const notYet = 'is not supported in this version';

/** Where a setting may stand: the path with list indexes and names of pools left out. */
const laterKeys = new Map<string, readonly string[]>(
  Object.entries({
    '': ['interception', 'credentials', 'policies', 'tokens', 'probe'],
    'listen.proxy': ['cert', 'key', 'socks', 'dialect', 'policy', 'intercept'],
    listen: ['tls', 'cert', 'key'],
    clients: ['dialect', 'scopes', 'policy', 'token', 'password_hash'],
    'clients.defaults': ['policy', 'intercept'],
    'clients.limits': ['bandwidth', 'cost', 'sessions'],
    pools: ['probe', 'exhausted', 'health', 'template'],
    'pools.limits': ['requests'],
    'pools.upstreams': ['cost', 'format'],
    routes: ['intercept', 'policy', 'rules', 'detect', 'session', 'inspect', 'pass_headers'],
    'routes.match': ['scheme'],
    bans: ['guard', 'save', 'file'],
    timeouts: ['drain_tunnel', 'min_rate'],
    limits: ['min_rate', 'body', 'inspect'],
  }),
);

const otherPlace = new Map<string, string>(
  Object.entries({
    'bans.cap': 'unknown setting; there are two: site_cap and transport_cap',
    'pools.upstreams.username':
      'unknown setting; put the login into the vault and name it by credential, or into url, and the url into env:NAME or file:path',
    'pools.upstreams.password':
      'unknown setting; put the login into the vault and name it by credential, or into url, and the url into env:NAME or file:path',
  }),
);

const words = (path: Path): string[] => {
  const names = path.filter((step): step is string => typeof step === 'string');
  return names[0] === 'pools' ? [...names.slice(0, 1), ...names.slice(2)] : names;
};

/** What to say about a setting that this version does not have, or null when the design does not name it either. */
export function laterKey(path: Path, key: string): string | null {
  const place = words(path).join('.');
  const moved = otherPlace.get(place === '' ? key : `${place}.${key}`);
  if (moved !== undefined) return moved;
  return laterKeys.get(place)?.includes(key) === true ? notYet : null;
}
