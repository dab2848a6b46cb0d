/** A gateway in this process for tests: real sockets, ports from the system, every event kept. */
import { buildApp, type App, type AppParts, type Applied } from '../../src/app.js';
import { loadConfig } from '../../src/config/load.js';
import type { TurnpikeEvent } from '../../src/core/events.js';
import { seededRandom } from '../../src/core/random.js';
import { waitFor } from './wait.js';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';

/** What a test's gateway is made of. Everything is laid over {@link defaults}. */
export interface GatewayOptions {
  /** URLs of the exits of the pool `main`, or whole entries. */
  readonly upstreams: readonly (string | Record<string, unknown>)[];
  /** More of the configuration file, section by section (`timeouts`, `routes`, `clients`, …). */
  readonly config?: Record<string, unknown>;
  /** Strategy of the pool `main`. */
  readonly strategy?: string;
  readonly parts?: AppParts;
  readonly env?: NodeJS.ProcessEnv;
}

/** A gateway that runs. */
export interface TestGateway {
  readonly app: App;
  readonly host: '127.0.0.1';
  readonly port: number;
  readonly adminPort: number;
  /** Where every listener listens, in the order of the configuration. */
  readonly listening: Awaited<ReturnType<App['start']>>['proxy'];
  /** `http://127.0.0.1:port`. */
  readonly url: string;
  /** Everything that happened so far. */
  readonly events: readonly TurnpikeEvent[];
  /** What its log has written so far, after flushing it. Only complete after `close`. */
  readonly logFile: string;
  /** Waits until an event of this type (and this kind) came, the first by default. */
  event<T extends TurnpikeEvent['type']>(
    type: T,
    matches?: (event: Extract<TurnpikeEvent, { type: T }>) => boolean,
  ): Promise<Extract<TurnpikeEvent, { type: T }>>;
  /** Takes over another configuration, given as to {@link startGateway}; what is left out is as at the start. */
  apply(changes: Partial<GatewayOptions>): Promise<Applied>;
  metrics(): Promise<string>;
  /** Stops at once where nothing is under way; returns what was cut. */
  close(): Promise<{ cut: number }>;
}

/** Scaled down so that a fault shows in milliseconds; tests override what they are about. */
const defaults = {
  listen: { proxy: '127.0.0.1:0', admin: '127.0.0.1:0' },
  targets: { allow: ['127.0.0.0/8', '::1/128'] },
  timeouts: { drain: '1s' },
};

/** Starts a gateway. @throws with all problems of the configuration. */
export async function startGateway(options: GatewayOptions): Promise<TestGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-gateway-'));
  const logFile = join(folder, 'access.log');
  const config = configOf(options, { folder, logFile });
  const events: TurnpikeEvent[] = [];
  const app = await buildApp(config, {
    random: seededRandom(1),
    ...options.parts,
    subscriber: (event) => {
      events.push(event);
      options.parts?.subscriber?.(event);
    },
  });
  const { proxy, admin } = await app.start();
  const port = proxy[0]?.port ?? 0;
  return {
    app,
    host: '127.0.0.1',
    port,
    adminPort: admin?.port ?? 0,
    listening: proxy,
    url: `http://127.0.0.1:${port}`,
    events,
    logFile,
    event: (type, matches = () => true) =>
      waitFor(`an event ${type}`, () =>
        events.find((event): event is Extract<TurnpikeEvent, { type: typeof type }> => {
          return event.type === type && matches(event as Extract<TurnpikeEvent, { type: typeof type }>);
        }),
      ),
    apply: (changes) => app.apply(configOf({ ...options, ...changes }, { folder, logFile })),
    metrics: async () => (await fetch(`http://127.0.0.1:${admin?.port ?? 0}/metrics`)).text(),
    close: async () => {
      const stopped = await app.stop('the test is over');
      rmSync(folder, { recursive: true, force: true });
      return stopped;
    },
  };
}

function configOf(options: GatewayOptions, paths: { folder: string; logFile: string }) {
  const { config = {}, env = {} } = options;
  const file = join(paths.folder, 'turnpike.yaml');
  const upstreams = options.upstreams.map((each) => (typeof each === 'string' ? { url: each } : each));
  const tree: Record<string, unknown> = {
    ...defaults,
    log: { file: paths.logFile },
    pools: { main: { upstreams, strategy: options.strategy ?? 'round_robin' } },
    routes: [{ match: {}, pools: ['main'] }],
    ...config,
    timeouts: { ...defaults.timeouts, ...(config['timeouts'] as object | undefined) },
  };
  writeFileSync(file, stringify(tree));
  const loaded = loadConfig({ file, overrides: {}, env });
  if (loaded.kind === 'config') return loaded.config;
  throw new Error(`the configuration has problems: ${JSON.stringify(loaded.problems)}`);
}
