/** `sharing`, `partition` and `on_redis_loss` of pools: what must go together, and what is made of it. */
import { siteOf } from '../protocol/host.js';
import type { Sharing } from '../upstreams/sharing.js';
import type { Tree } from './document.js';
import type { Finding, Path } from './problems.js';
import { listOf, mapOf, textOf, textsOf } from './reading.js';
import type { Settings } from './schema.js';

const RESERVE = 'reserve:';

/** How a pool is shared; null where it isn't in any way. */
export function sharingOf(pool: Settings['pools'][string]): Sharing | null {
  const { sharing: kind, partition, lease, on_redis_loss: onLoss } = pool;
  if (kind === 'none' && partition === 'none' && onLoss === 'shard') return null;
  const groups = pool.site_groups.flatMap(({ name, sites }) =>
    sites.map((site): [string, string] => [siteOf(site.toLowerCase()), name]),
  );
  return {
    kind,
    lease: { holders: lease.holders, ttlMs: lease.ttl, idleMs: lease.idle },
    onLoss: onLoss.startsWith(RESERVE)
      ? { kind: 'reserve', pool: onLoss.slice(RESERVE.length) }
      : { kind: onLoss === 'fail' ? 'fail' : 'shard' },
    siteGroups: partition === 'none' ? null : new Map(groups),
  };
}

/** Everything that is wrong with how pools are shared, in the tree as written. */
export function checkSharing(tree: Tree): Finding[] {
  const pools = mapOf(tree['pools']);
  return [
    ...checkPlace(mapOf(tree['cluster'])),
    ...Object.entries(pools).flatMap(([name, pool]) => checkPool(tree, name, mapOf(pool))),
  ];
}

function checkPlace({ index, count }: Readonly<Record<string, unknown>>): Finding[] {
  if (typeof index !== 'number') return [];
  const path = ['cluster', 'index'];
  if (typeof count !== 'number') return [{ path, message: 'needs cluster.count, the number of gateways' }];
  return index < count ? [] : [{ path, message: 'is counted from 0 and less than cluster.count' }];
}

function checkPool(tree: Tree, name: string, pool: Readonly<Record<string, unknown>>): Finding[] {
  const at = (...rest: Path): Path => ['pools', name, ...rest];
  const hasRedis = mapOf(tree['state'])['kind'] === 'redis';
  const kind = textOf(pool['sharing']) ?? 'none';
  const onLoss = textOf(pool['on_redis_loss']);
  const findings: Finding[] = [];
  const tell = (path: Path, message: string): void => void findings.push({ path, message });
  if ((kind === 'ring' || kind === 'broker') && !hasRedis)
    tell(at('sharing'), `${kind} needs state.kind: redis, where gateways find each other`);
  const { index, count } = mapOf(tree['cluster']);
  if (kind === 'modulo' && (index === undefined || count === undefined))
    tell(at('sharing'), 'modulo needs cluster.index and cluster.count');
  if (onLoss !== null && onLoss !== 'shard' && !hasRedis)
    tell(at('on_redis_loss'), 'means nothing without state.kind: redis');
  if (onLoss?.startsWith(RESERVE) === true) {
    const reserve = onLoss.slice(RESERVE.length);
    const given = mapOf(tree['pools'])[reserve];
    if (given === undefined || reserve === name) tell(at('on_redis_loss'), 'must name another pool');
    else if (textOf(mapOf(given)['on_redis_loss'])?.startsWith(RESERVE) === true)
      tell(at('on_redis_loss'), 'must not name a pool that has a reserve itself');
  }
  return [...findings, ...checkGroups(pool, at)];
}

function checkGroups(pool: Readonly<Record<string, unknown>>, at: (...rest: Path) => Path): Finding[] {
  const groups = listOf(pool['site_groups']).map(mapOf);
  const isParted = pool['partition'] === 'by_site_group';
  if (isParted && groups.length === 0) return [{ path: at('partition'), message: 'needs site_groups' }];
  const seen = new Set<string>();
  return groups.flatMap((group, place) =>
    textsOf(group['sites']).flatMap(({ text }): Finding[] => {
      const site = siteOf(text.toLowerCase());
      if (!seen.has(site)) {
        seen.add(site);
        return [];
      }
      const path = at('site_groups', place, 'sites');
      return [{ path, message: `${site} is in a group already` }];
    }),
  );
}
