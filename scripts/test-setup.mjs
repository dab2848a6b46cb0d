/**
 * Finds the real programs that integration tests run against, and installs the missing ones with apt where
 * that is possible (root on Debian or a relative). Everything there: says nothing, takes a few milliseconds.
 *
 *   node scripts/test-setup.mjs              find or install
 *   node scripts/test-setup.mjs --versions   the same, then print what was found
 *
 * To need one more program, add one row to `tools`.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, chmodSync, constants, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import process from 'node:process';

/**
 * `programs`: any one of them will do. `module`: a Python module instead, for Debian's own /usr/bin/python3.
 * `file`: a file that the package brings instead.
 */
const tools = [
  { name: 'squid', debian: 'squid', programs: ['squid'], version: ['-v'], use: 'a real upstream proxy' },
  {
    name: 'tinyproxy',
    debian: 'tinyproxy-bin',
    programs: ['tinyproxy'],
    version: ['-v'],
    use: 'a real upstream proxy',
  },
  {
    name: 'haproxy',
    debian: 'haproxy',
    programs: ['haproxy'],
    version: ['-v'],
    use: 'a TCP front before proxies',
  },
  {
    name: 'dante',
    debian: 'dante-server',
    programs: ['danted', 'sockd'],
    version: ['-v'],
    use: 'a real SOCKS5 upstream',
  },
  { name: 'pam_pwdfile', debian: 'libpam-pwdfile', file: 'security/pam_pwdfile.so', use: 'logins of dante' },
  {
    name: 'chromium',
    debian: 'chromium',
    programs: ['chromium', 'chromium-browser', 'google-chrome'],
    version: ['--version'],
    use: 'a real browser as client',
  },
  { name: 'curl', debian: 'curl', programs: ['curl'], version: ['--version'], use: 'a real client' },
  { name: 'wget', debian: 'wget', programs: ['wget'], version: ['--version'], use: 'a real client' },
  { name: 'wget2', debian: 'wget2', programs: ['wget2'], version: ['--version'], use: 'a real client' },
  {
    name: 'apache',
    debian: 'apache2-bin',
    programs: ['apache2'],
    version: ['-v'],
    use: 'a real upstream proxy (mod_proxy)',
  },
  {
    name: 'openssl',
    debian: 'openssl',
    programs: ['openssl'],
    version: ['version'],
    use: 'certificates of test origins',
  },
  {
    name: 'redis',
    debian: 'redis-server',
    programs: ['redis-server'],
    version: ['--version'],
    use: 'the state that gateways share',
  },
  {
    name: 'postgres',
    debian: 'postgresql',
    programs: ['postgres'],
    version: ['--version'],
    use: 'the store that gateways share',
  },
  {
    name: 'prometheus',
    debian: 'prometheus',
    programs: ['prometheus'],
    version: ['--version'],
    use: 'what scrapes us, and the check of alert rules (promtool)',
  },
  { name: 'ip', debian: 'iproute2', programs: ['ip'], version: ['-V'], use: 'networks of their own' },
  {
    name: 'unshare',
    debian: 'util-linux',
    programs: ['unshare'],
    version: ['--version'],
    use: 'networks of their own',
  },
  { name: 'requests', debian: 'python3-requests', module: 'requests', use: 'a real client' },
  { name: 'socks', debian: 'python3-socks', module: 'socks', use: 'SOCKS5 for Python requests' },
  ...['httpx', 'urllib3', 'aiohttp', 'pycurl', 'scrapy'].map((name) => ({
    ...{ name, debian: `python3-${name}`, module: name, use: 'a real client' },
  })),
];

/** Where Debian keeps the programs of PostgreSQL, by version. */
const postgres = '/usr/lib/postgresql';
const inSbin = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

/** Asked for anew each time: an installation may bring new folders. */
function searchPath() {
  const versions = existsSync(postgres) ? readdirSync(postgres) : [];
  const ofPostgres = versions.map((version) => join(postgres, version, 'bin'));
  return [...(process.env.PATH ?? '').split(delimiter), ...inSbin, ...ofPostgres];
}

/** The full path of the first of these programs that can be run, or undefined. */
function findProgram(names) {
  for (const name of names) {
    for (const folder of searchPath()) {
      const path = join(folder, name);
      try {
        accessSync(path, constants.X_OK);
        return path;
      } catch {
        // Not here; look further.
      }
    }
  }
  return undefined;
}

/** Debian's modules are found by their folder, since starting Python for each would take longer than all the rest. */
function findModule(name) {
  const folder = `/usr/lib/python3/dist-packages/${name}`;
  if (existsSync(folder)) return folder;
  const python = spawnSync('/usr/bin/python3', ['-c', `import ${name}; print(${name}.__file__)`], {
    encoding: 'utf8',
  });
  return python.status === 0 ? python.stdout.trim() : undefined;
}

function findLibrary(name) {
  const folders = ['/usr/lib', '/lib', ...['x86_64', 'aarch64'].map((cpu) => `/usr/lib/${cpu}-linux-gnu`)];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

function find(tool) {
  if (tool.file !== undefined) return findLibrary(tool.file);
  return tool.module === undefined ? findProgram(tool.programs) : findModule(tool.module);
}

function missing() {
  return tools.filter((tool) => find(tool) === undefined);
}

const aptOptions = ['-y', '-q', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=180'];
const quiet = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };

function apt(...args) {
  return spawnSync('apt-get', [...args], { env: quiet, encoding: 'utf8', maxBuffer: 64 << 20 });
}

/** Runs `work` while dpkg is told to start no daemon; tests start their own, with their own configuration. */
function withoutDaemons(work) {
  const policy = '/usr/sbin/policy-rc.d';
  if (existsSync(policy)) return work();
  writeFileSync(policy, '#!/bin/sh\nexit 101\n');
  chmodSync(policy, 0o755);
  try {
    return work();
  } finally {
    rmSync(policy, { force: true });
  }
}

/** Installs the Debian packages of these tools; the package lists are only fetched when the first try fails. */
function install(wanted) {
  const packages = wanted.map((tool) => tool.debian);
  console.log(`test-setup: installing ${packages.join(' ')} (once)`);
  return withoutDaemons(() => {
    let result = apt('install', ...aptOptions, ...packages);
    if (result.status !== 0) {
      apt('update', '-q');
      result = apt('install', ...aptOptions, ...packages);
    }
    return result.status === 0
      ? ''
      : `${result.stdout ?? ''}${result.stderr ?? ''}`.trim().split('\n').slice(-8).join('\n');
  });
}

function canInstall() {
  return process.getuid?.() === 0 && findProgram(['apt-get']) !== undefined;
}

/** Says how to get each missing tool, since this script could not. */
function explain(stillMissing, aptOutput) {
  if (aptOutput !== '') console.error(`test-setup: apt-get said:\n${aptOutput}`);
  for (const tool of stillMissing) {
    console.error(
      `test-setup: ${tool.name} is missing (${whatIs(tool)}; ${tool.use}). On Debian: sudo apt-get install ${tool.debian}`,
    );
  }
}

function whatIs(tool) {
  if (tool.file !== undefined) return tool.file;
  return tool.module === undefined
    ? tool.programs.join(' or ')
    : `module ${tool.module} for /usr/bin/python3`;
}

function versionOf(tool) {
  if (tool.file !== undefined) return find(tool);
  const command =
    tool.module === undefined
      ? [findProgram(tool.programs), ...tool.version]
      : ['/usr/bin/python3', '-c', `import ${tool.module} as it; print(getattr(it, '__version__', it))`];
  const result = spawnSync(command[0], command.slice(1), { encoding: 'utf8' });
  return `${result.stdout}${result.stderr}`.trim().split('\n')[0];
}

function main() {
  const wanted = missing();
  let aptOutput = '';
  if (wanted.length > 0 && canInstall()) aptOutput = install(wanted);
  const stillMissing = missing();
  if (stillMissing.length > 0) {
    explain(stillMissing, aptOutput);
    return 1;
  }
  if (process.argv.includes('--versions')) {
    for (const tool of tools) console.log(`${tool.name.padEnd(10)} ${versionOf(tool)}`);
  }
  return 0;
}

process.exitCode = main();
