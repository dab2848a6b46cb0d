/** What a configuration may say and hardly means: warnings, never refusals. */
import { siteOf } from '../protocol/host.js';
import type { Config } from './config.js';
import type { Finding } from './problems.js';
import { isLoopback } from './units.js';

function aboutSites(config: Config): Finding[] {
  return config.routes.flatMap((route, index) =>
    (route.match.site ?? []).flatMap((site): Finding[] => {
      const domain = siteOf(site.toLowerCase());
      if (domain === site.toLowerCase()) return [];
      const message = `a site is a registrable domain, here ${domain}; for one host write host: instead`;
      return [{ path: ['routes', index, 'match', 'site'], message }];
    }),
  );
}

function aboutPools(config: Config): Finding[] {
  const routed = config.routes.flatMap((route) => route.pools ?? config.pools.map((pool) => pool.name));
  const reserves = config.pools.map(({ sharing }) => sharing?.onLoss);
  const used = [...routed, ...reserves.flatMap((each) => (each?.kind === 'reserve' ? [each.pool] : []))];
  return config.pools.flatMap((pool): Finding[] => {
    if (!used.includes(pool.name))
      return [{ path: ['pools', pool.name], message: 'no route uses this pool' }];
    if (pool.sources.length > 0) return [];
    return [
      { path: ['pools', pool.name], message: 'has no upstreams: requests for it end with 503 no_upstream' },
    ];
  });
}

function aboutAdmin(config: Config): Finding[] {
  if (config.admin === null || isLoopback(config.admin.host) || config.adminApi.tls !== null) return [];
  const message =
    'tokens and answers travel in clear to this address: set admin.tls, or keep it on a network you trust';
  return [{ path: ['listen', 'admin'], message }];
}

/** The warnings about a configuration. */
export function advise(config: Config): Finding[] {
  return [...aboutAdmin(config), ...aboutPools(config), ...aboutSites(config)];
}
