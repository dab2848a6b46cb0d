/** Apache as a forward proxy (mod_proxy), with the modules that it needs for that and no more. */
import { join } from 'node:path';
import { asRoot, giveTo, hashOf, start, writeLines } from './real-proxies.js';
import type { Place, ProxyAuth, ProxyOptions, RealProxy } from './real-proxies.js';

const modules = ['mpm_event', 'authn_core', 'authn_file', 'authz_core', 'authz_user', 'auth_basic'];
const proxyModules = ['proxy', 'proxy_http', 'proxy_connect'];

function accessLines(folder: string, auth: ProxyAuth | undefined): string[] {
  if (auth === undefined) return ['  Require all granted'];
  const passwords = writeLines(join(folder, 'passwords'), [
    `${auth.username}:${hashOf(auth.password, '-apr1')}`,
  ]);
  return [
    '  AuthType Basic',
    '  AuthName apache',
    '  AuthBasicProvider file',
    `  AuthUserFile ${passwords}`,
    '  Require valid-user',
  ];
}

/** Starts Apache; like the others it listens on and goes out from an address of its own. */
export function startApache(options: ProxyOptions = {}): Promise<RealProxy> {
  const prepare = ({ folder, host, port }: Place): string[] => {
    giveTo('www-data', folder);
    const config = writeLines(join(folder, 'apache.conf'), [
      `ServerRoot ${folder}`,
      `DefaultRuntimeDir ${folder}`,
      `PidFile ${folder}/apache.pid`,
      `ErrorLog ${folder}/error.log`,
      'ServerName apache.test',
      `Listen ${host}:${port}`,
      ...(asRoot ? ['User www-data', 'Group www-data'] : []),
      ...[...modules, ...proxyModules].map(
        (name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`,
      ),
      'StartServers 1',
      'ThreadsPerChild 25',
      'ProxyRequests On',
      'ProxyVia Off',
      `ProxySourceAddress ${host}`,
      'AllowCONNECT 1-65535',
      '<Proxy "*">',
      ...accessLines(folder, options.auth),
      '</Proxy>',
    ]);
    return ['-f', config, '-DFOREGROUND'];
  };
  return start({ scheme: 'http', programs: ['apache2'], prepare, logFiles: ['error.log'] }, options);
}
