/** What `serve` tells people when it has started: where it listens, a line to try, what is missing. */
import type { Started } from '../app.js';
import type { Config } from '../config/config.js';
import { formatAddress } from '../config/units.js';
import { packageVersion } from './version.js';

const reachable = (host: string): string => (host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host);

const noUpstreams = `no upstreams yet, so every request is answered 503 no_upstream. Add some:
  turnpike serve --upstreams proxies.txt   (one a line: http://user:password@host:port)
  or pools.default.upstreams in the configuration, see config/turnpike.example.yaml`;

function tryLine(started: Started, config: Config): string | null {
  const [proxy] = started.proxy;
  if (proxy === undefined) return null;
  const at = formatAddress({ host: reachable(proxy.host), port: proxy.port });
  // With a name alone curl asks for the password, so that it stays out of the shell's history.
  const client = config.clients.find((each) => each.password !== null);
  const login = client === undefined ? '' : ` --proxy-user ${client.name}`;
  return `try: curl -i -x http://${at}${login} http://example.com/`;
}

function socketOf({ adminSocket }: Started): string | null {
  return adminSocket === undefined ? null : `unix:${adminSocket}`;
}

/** The lines. `upstreams`: how many there are over all pools. */
export function banner(started: Started, config: Config, upstreams: number): string {
  const scheme = config.adminApi.tls === null ? 'http' : 'https';
  const place = started.admin === null ? socketOf(started) : `${scheme}://${formatAddress(started.admin)}`;
  const admin = place === null ? 'off' : `${place}  /metrics /healthz /readyz /api/v1`;
  const lines = [
    `turnpike ${packageVersion()}`,
    ...started.proxy.map((at) => `  proxy  http://${formatAddress(at)}`),
    `  admin  ${admin}`,
    started.adminTokenFile === undefined ? null : `  token  kept in ${started.adminTokenFile}`,
    `  exits  ${upstreams} in ${config.pools.map((pool) => pool.name).join(', ')}`,
    upstreams === 0 ? noUpstreams : tryLine(started, config),
  ];
  return lines.filter((line) => line !== null).join('\n');
}
