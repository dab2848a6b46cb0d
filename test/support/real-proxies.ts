/**
 * Proxies nobody here wrote, started as child processes with the least configuration that works: squid,
 * tinyproxy, haproxy, dante, and proxy-chain in-process. Each but dante listens on a 127.x.y.z address of its
 * own and goes out from that same address, so that an origin can tell by the peer address which one was used.
 */
import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server } from 'proxy-chain';
import { distinctAddress, launch } from './launched-program.js';

export { distinctAddress } from './launched-program.js';

/** A login of a proxy. Letters, digits, `-`, `_` and `.` only: some of these programs know no quoting. */
export interface ProxyAuth {
  username: string;
  password: string;
}

/** What every proxy here can be told. */
export interface ProxyOptions {
  auth?: ProxyAuth;
  /** Where to listen and to go out from; a loopback address of its own when not given. */
  listenHost?: string;
}

/** A running proxy. */
export interface RealProxy {
  /** With scheme and credentials, as a list of upstreams would name it. */
  url: string;
  host: string;
  port: number;
  /** What the program has printed and logged so far. */
  log(): string;
  close(): Promise<void>;
}

export const asRoot = process.getuid?.() === 0;

/** What a starter needs to know to write its program's configuration. */
export interface Place {
  folder: string;
  host: string;
  port: number;
}

interface Recipe {
  scheme: string;
  /** The first of these that exists is started. */
  programs: string[];
  /** Writes the configuration into the folder and returns the program's arguments. */
  prepare(place: Place): string[];
  logFiles?: string[];
  stopSignal?: NodeJS.Signals;
  cleanUp?: () => void;
}

export async function start(recipe: Recipe, options: ProxyOptions): Promise<RealProxy> {
  const folder = mkdtempSync(join(tmpdir(), `turnpike-${recipe.programs[0] ?? 'proxy'}-`));
  const cleanUp = () => {
    rmSync(folder, { recursive: true, force: true });
    recipe.cleanUp?.();
  };
  try {
    const host = options.listenHost ?? distinctAddress();
    const program = await launch({
      programs: recipe.programs,
      host,
      prepare: (port) => recipe.prepare({ folder, host, port }),
      logFiles: (recipe.logFiles ?? []).map((name) => join(folder, name)),
      stopSignal: recipe.stopSignal ?? 'SIGTERM',
    });
    return {
      url: proxyUrl(recipe.scheme, `${host}:${program.port}`, options.auth),
      ...{ host, port: program.port, log: program.log },
      close: async () => {
        await program.close();
        cleanUp();
      },
    };
  } catch (error) {
    cleanUp();
    throw error;
  }
}

function proxyUrl(scheme: string, authority: string, auth?: ProxyAuth): string {
  return `${scheme}://${auth === undefined ? '' : `${auth.username}:${auth.password}@`}${authority}`;
}

export function writeLines(path: string, lines: (string | undefined)[]): string {
  writeFileSync(path, `${lines.filter((line) => line !== undefined).join('\n')}\n`);
  return path;
}

/** Gives the folder to the user a daemon becomes when root starts it. */
export function giveTo(user: string, folder: string): void {
  if (!asRoot) return;
  const idOf = (flag: string) => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
  chownSync(folder, idOf('-u'), idOf('-g'));
}

/** The hash a password file holds, by the scheme of this openssl flag. */
export function hashOf(password: string, scheme: '-apr1' | '-6'): string {
  return execFileSync('openssl', ['passwd', scheme, password], { encoding: 'utf8' }).trim();
}

function squidAuthLines(folder: string, auth: ProxyAuth | undefined): string[] {
  if (auth === undefined) return ['http_access allow all'];
  const passwords = writeLines(join(folder, 'passwords'), [
    `${auth.username}:${hashOf(auth.password, '-apr1')}`,
  ]);
  return [
    `auth_param basic program /usr/lib/squid/basic_ncsa_auth ${passwords}`,
    'auth_param basic children 2 startup=1 idle=1',
    'auth_param basic realm squid',
    'acl known proxy_auth REQUIRED',
    'http_access allow known',
    'http_access deny all',
  ];
}

/** Starts Squid without a cache. */
export function startSquid(options: ProxyOptions = {}): Promise<RealProxy> {
  const prepare = ({ folder, host, port }: Place): string[] => {
    giveTo('proxy', folder);
    const config = writeLines(join(folder, 'squid.conf'), [
      `http_port ${host}:${port}`,
      `tcp_outgoing_address ${host}`,
      ...squidAuthLines(folder, options.auth),
      'cache deny all',
      'http_upgrade_request_protocols websocket allow all',
      'cache_mem 1 MB',
      'memory_pools off',
      'netdb_filename none',
      'pinger_enable off',
      // Otherwise as many as the limit of open files, which in a container may be a million.
      'max_filedescriptors 4096',
      'shutdown_lifetime 0 seconds',
      'visible_hostname squid.test',
      `pid_filename ${folder}/squid.pid`,
      `coredump_dir ${folder}`,
      `cache_log ${folder}/cache.log`,
      `access_log stdio:${folder}/access.log`,
      'buffered_logs off',
    ]);
    return ['-N', '-f', config];
  };
  const logFiles = ['access.log', 'cache.log'];
  // Told politely it takes two seconds to end, even with nothing to do.
  return start({ scheme: 'http', programs: ['squid'], prepare, logFiles, stopSignal: 'SIGKILL' }, options);
}

/** Starts tinyproxy. */
export function startTinyproxy(options: ProxyOptions = {}): Promise<RealProxy> {
  const { auth } = options;
  const prepare = ({ folder, host, port }: Place): string[] => {
    const config = writeLines(join(folder, 'tinyproxy.conf'), [
      `Port ${port}`,
      `Listen ${host}`,
      `Bind ${host}`,
      'Timeout 60',
      'MaxClients 200',
      'LogLevel Info',
      auth && `BasicAuth ${auth.username} ${auth.password}`,
    ]);
    return ['-d', '-c', config];
  };
  return start({ scheme: 'http', programs: ['tinyproxy'], prepare }, options);
}

/** Starts HAProxy as a TCP front of another proxy, whose login it passes on. */
export async function startHaproxy(
  options: Omit<ProxyOptions, 'auth'> & {
    behind: Pick<RealProxy, 'url' | 'host' | 'port'>;
    /** Version of the PROXY protocol by which it tells who connected. */
    sends?: 'send-proxy' | 'send-proxy-v2';
  },
): Promise<RealProxy> {
  const { behind } = options;
  const prepare = ({ folder, host, port }: Place): string[] => {
    const config = writeLines(join(folder, 'haproxy.cfg'), [
      'global',
      '  maxconn 500',
      '  log stdout format raw local0',
      'defaults',
      '  mode tcp',
      '  log global',
      '  option tcplog',
      '  timeout connect 5s',
      '  timeout client 60s',
      '  timeout server 60s',
      'listen front',
      `  bind ${host}:${port}`,
      `  server behind ${behind.host}:${behind.port} source ${host} ${options.sends ?? ''}`,
    ]);
    return ['-db', '-f', config];
  };
  const front = await start({ scheme: 'http', programs: ['haproxy'], prepare }, options);
  const url = new URL(behind.url);
  url.hostname = front.host;
  url.port = String(front.port);
  return { ...front, url: url.href.replace(/\/$/, '') };
}

let danteCount = 0;

/**
 * Dante checks passwords by the system or by PAM; a PAM service of our own spares the system a user.
 * It lives in /etc/pam.d until the proxy is closed, and so needs root.
 */
function danteAuth(auth: ProxyAuth): { service: string; write(folder: string): void; remove(): void } {
  if (!asRoot) throw new Error('startDante with a login needs root: it writes a PAM service');
  const service = `turnpike-dante-${process.pid}-${++danteCount}`;
  const path = `/etc/pam.d/${service}`;
  return {
    service,
    write(folder) {
      const passwords = writeLines(join(folder, 'passwords'), [
        `${auth.username}:${hashOf(auth.password, '-6')}`,
      ]);
      // Not pam_exec: dante reaps every child itself, and the module then takes a good password for a failure.
      writeLines(path, [
        `auth required pam_pwdfile.so pwdfile=${passwords}`,
        'account required pam_permit.so',
      ]);
    },
    remove: () => {
      rmSync(path, { force: true });
    },
  };
}

/**
 * Starts Dante, a SOCKS4 and SOCKS5 proxy; CONNECT only. A login needs root. It takes only addresses that an
 * interface carries by name, so it listens on and goes out from 127.0.0.1, unlike all others here.
 */
export function startDante(options: ProxyOptions = {}): Promise<RealProxy> {
  const auth = options.auth && danteAuth(options.auth);
  const prepare = ({ folder, host, port }: Place): string[] => {
    auth?.write(folder);
    const config = writeLines(join(folder, 'danted.conf'), [
      'logoutput: stdout',
      `internal: ${host} port = ${port}`,
      `external: ${host}`,
      `socksmethod: ${auth === undefined ? 'none' : 'pam.username'}`,
      'clientmethod: none',
      ...(asRoot ? ['user.privileged: root', 'user.unprivileged: nobody'] : []),
      'client pass {',
      '  from: 0.0.0.0/0 to: 0.0.0.0/0',
      '  log: error',
      '}',
      'socks pass {',
      '  from: 0.0.0.0/0 to: 0.0.0.0/0',
      '  command: connect',
      '  log: connect error',
      auth && `  pam.servicename: ${auth.service}`,
      '}',
    ]);
    return ['-f', config];
  };
  const recipe: Recipe = { scheme: 'socks5h', programs: ['danted', 'sockd'], prepare };
  const placed = { listenHost: '127.0.0.1', ...options };
  return start(auth === undefined ? recipe : { ...recipe, cleanUp: auth.remove }, placed);
}

/** Starts proxy-chain in this process, over TLS when it gets a certificate. */
export async function startProxyChain(
  options: ProxyOptions & { certificate?: { cert: string; key: string } } = {},
): Promise<RealProxy> {
  const { auth, certificate } = options;
  const host = options.listenHost ?? distinctAddress();
  const lines: string[] = [];
  const common = {
    ...{ host, port: 0 },
    prepareRequestFunction: (asked: {
      username: string;
      password: string;
      hostname: string;
      port: number;
    }) => {
      const known =
        auth === undefined || (asked.username === auth.username && asked.password === auth.password);
      lines.push(`${known ? 'passed' : 'refused'} ${asked.hostname}:${asked.port}`);
      return { requestAuthentication: !known, localAddress: host };
    },
  };
  const server =
    certificate === undefined
      ? new Server({ ...common, serverType: 'http' })
      : new Server({ ...common, serverType: 'https', httpsOptions: certificate });
  await server.listen();
  return {
    url: proxyUrl(certificate === undefined ? 'http' : 'https', `${host}:${server.port}`, auth),
    ...{ host, port: server.port },
    log: () => lines.join('\n'),
    close: () => server.close(true),
  };
}
