/**
 * `turnpike exits test`: asks for a page through each exit of a configuration or a list. It runs a gateway of its own,
 * on a free port of this machine and for nobody else, so that exits are used exactly as they will be.
 */
import type { App } from '../../app.js';
import type { Config } from '../../config/config.js';
import { loadConfig } from '../../config/load.js';
import { systemClock } from '../../core/clock.js';
import { systemRandom } from '../../core/random.js';
import { Secret } from '../../core/secret.js';
import type { CommandRow } from '../commands.js';
import { exitCodes } from '../exit-codes.js';
import { configFlags, loadInputOf, type FlagValues } from '../flags.js';
import type { Output } from '../output.js';
import { forEachOf, Progress } from '../progress.js';
import { tellProblems } from '../report.js';
import { startTrouble } from '../start-trouble.js';
import { table } from '../table.js';
import { tryExit, type TrialResult } from './try-exit.js';

const standardUrl = 'http://example.com/';
const clientName = 'exits-test';
const taken = new Set(['--config <file>', '--upstreams <file>', '--allow-target <address>']);

interface Plan {
  readonly url: URL;
  readonly atOnce: number;
  readonly timeoutMs: number;
}

/** An exit and what came of trying it. */
type Tried = TrialResult & { readonly exit: string; readonly address: string };

const numberIn = (values: FlagValues, name: string, standard: number): number => {
  const value = Number(values[name] ?? standard);
  return Number.isFinite(value) ? value : NaN;
};

function planOf(values: FlagValues): Plan | string {
  const given = typeof values['url'] === 'string' ? values['url'] : standardUrl;
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return '--url: expected http:// or https://';
  const atOnce = numberIn(values, 'concurrency', 20);
  if (!Number.isInteger(atOnce) || atOnce < 1 || atOnce > 1000)
    return '--concurrency: expected a number from 1 to 1000';
  const seconds = numberIn(values, 'timeout', 15);
  if (!(seconds > 0 && seconds <= 600)) return '--timeout: expected seconds, at most 600';
  return { url, atOnce, timeoutMs: seconds * 1000 };
}

/** The same exits behind one private door: one client with a password nobody knows, one route to all pools. */
function privateConfig(config: Config, password: Secret): Config {
  const [first] = config.routes;
  if (first === undefined) throw new Error('a configuration has at least one route');
  const { pools: _pools, ...route } = first;
  const limits = {
    requests: null,
    tunnels: null,
    connections: null,
    exchanges: null,
    bytes: null,
    cutsTunnels: false,
  };
  return {
    ...config,
    listeners: [{ ...config.listeners[0], ...privateDoor }],
    admin: null,
    adminSocket: null,
    clients: [{ name: clientName, password, allowFrom: [], limits, targets: [], tags: [], defaults: {} }],
    routes: [{ ...route, name: 'test', match: {}, expose: 'id' }],
    log: { ...config.log, level: 'silent', file: null },
  };
}

const privateDoor = {
  at: { host: '127.0.0.1', port: 0 },
  label: 'exits-test',
  client: null,
  route: null,
  defaults: {},
  tls: null,
  proxyFrom: [],
};

async function tryAll(app: App, plan: Plan, password: string, output: Output): Promise<Tried[]> {
  const { proxy } = await app.start();
  const [door] = proxy;
  if (door === undefined) throw new Error('the gateway does not listen');
  const login = `Basic ${Buffer.from(`${clientName}:${password}`).toString('base64')}`;
  const exits = [...new Map([...app.exits()].map((exit) => [exit.id, exit])).values()];
  const progress = new Progress(output, exits.length);
  const tried = await forEachOf(exits, plan.atOnce, async ({ id, label }) => {
    const { url, timeoutMs } = plan;
    const result = await tryExit({ proxy: door, login, exit: id, url, timeoutMs, clock: systemClock });
    progress.step();
    return { exit: id, address: label, ...result };
  });
  progress.end();
  return tried;
}

function tell(tried: readonly Tried[], values: FlagValues, output: Output): void {
  if (values['json'] === true) {
    output.print(
      JSON.stringify(
        tried.map(({ isForbidden: _, ...shown }) => shown),
        null,
        2,
      ),
    );
    return;
  }
  const rows = tried.map(({ exit, address, isGood, status, ms, detail }) => [
    ...[isGood ? 'good' : 'bad', exit, address],
    ...[status === null ? '-' : String(status), `${ms}ms`, detail],
  ]);
  output.print(table(['', 'EXIT', 'ADDRESS', 'STATUS', 'TIME', 'DETAIL'], rows));
  const good = tried.filter(({ isGood }) => isGood).length;
  output.tell(`${good} of ${tried.length} exits are good`);
}

async function testExits(values: FlagValues, output: Output): Promise<number> {
  const plan = planOf(values);
  if (typeof plan === 'string') {
    output.tell(`turnpike: ${plan}`);
    return exitCodes.notStarted;
  }
  const loaded = loadConfig(loadInputOf(values));
  if (loaded.kind === 'problems') {
    tellProblems(loaded.problems, loaded.file, output);
    return exitCodes.notStarted;
  }
  const password = systemRandom.hex(16);
  const { buildApp } = await import('../../app.js');
  try {
    const app = await buildApp(privateConfig(loaded.config, new Secret(password)));
    try {
      const tried = await tryAll(app, plan, password, output);
      const refused = tried.find(({ isForbidden }) => isForbidden);
      if (refused !== undefined) {
        output.tell(`turnpike: --url: nothing was tried: ${refused.detail}`);
        output.tell(`Where that is meant, add --allow-target ${plan.url.hostname}`);
        return exitCodes.notStarted;
      }
      tell(tried, values, output);
      return tried.length > 0 && tried.every(({ isGood }) => isGood) ? exitCodes.ok : exitCodes.failed;
    } finally {
      await app.stop('the test is over');
    }
  } catch (error) {
    output.tell(`turnpike: can not test: ${startTrouble(error)}`);
    return exitCodes.notStarted;
  }
}

/** The command. */
export const testCommand: CommandRow = {
  name: 'exits test',
  summary: 'Ask for a page through each exit of a configuration or a list. Needs no running gateway.',
  flags: [
    ...configFlags.filter(({ spelling }) => taken.has(spelling)),
    { spelling: '--url <url>', help: `page to ask for (default ${standardUrl})` },
    { spelling: '--concurrency <number>', help: 'exits tried at once (default 20)' },
    { spelling: '--timeout <seconds>', help: 'patience for each (default 15)' },
    { spelling: '--json', help: 'print JSON' },
  ],
  run: testExits,
};
