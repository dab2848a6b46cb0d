/**
 * Reload: parse → build → swap → let the old end. Everything that can fail comes before the swap, and the swap is one
 * synchronous step: a request sees either all of the old rules or all of the new ones. What is counted, pinned or under
 * way belongs to no configuration and stays.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Reloaded } from '../admin/services.js';
import type { Config } from '../config/config.js';
import type { Loaded } from '../config/load.js';
import { formatProblem } from '../config/problems.js';
import type { ConfigReloaded, Emit } from '../core/events.js';
import { Secret } from '../core/secret.js';
import type { Rules } from '../gateway/services.js';
import { buildRules, countUpstreams, type BuiltRules, type RulesParts } from './rules.js';

/** What came of a new configuration; the admin API says it in the same words. */
export type Applied = Reloaded;

/** Who asked for it. */
export type ReloadCause = ConfigReloaded['cause'];

/** What a reload works on. */
export interface ReloadParts {
  readonly emit: Emit;
  /** The configuration of the start: what needs a restart is compared with it. */
  readonly startedWith: Config;
  readonly rulesParts: RulesParts;
  /** Whether the gateway is on its way out, and takes no new rules. */
  readonly isStopping: () => boolean;
  /**
   * Puts the new rules in force, all at once; returns them as they are in force.
   * @throws before anything is changed, when a part can't be made.
   */
  readonly swap: (config: Config, built: BuiltRules) => Rules;
}

/** What is opened once, at the start. */
const fixed: readonly { readonly name: string; readonly of: (config: Config) => unknown }[] = [
  { name: 'listen.proxy', of: ({ listeners }) => listeners.map(({ at }) => at) },
  { name: 'listen.admin', of: ({ admin, adminSocket }) => ({ admin, adminSocket }) },
  { name: 'listen.admin_hosts', of: ({ adminHosts }) => adminHosts },
  { name: 'admin', of: ({ adminApi }) => adminApi },
  { name: 'state', of: ({ state }) => state },
  { name: 'storage', of: ({ storage }) => storage },
  { name: 'vault', of: ({ vault }) => vault === null },
  { name: 'audit', of: ({ audit }) => audit },
  { name: 'cluster', of: ({ cluster }) => cluster },
  { name: 'data_dir', of: ({ dataDir }) => dataDir },
  { name: 'log.file', of: ({ log }) => log.file },
];

/** Sections of a configuration, by the names that people know. */
const sections: readonly { readonly name: string; readonly of: (config: Config) => unknown }[] = [
  {
    name: 'listen',
    of: ({ listeners, admin, adminSocket, adminHosts }) => [listeners, admin, adminSocket, adminHosts],
  },
  { name: 'admin', of: ({ adminApi }) => adminApi },
  { name: 'targets', of: ({ allowedTargets }) => allowedTargets },
  ...(
    ['clients', 'pools', 'routes', 'sessions', 'timeouts', 'limits', 'bans', 'tunnels', 'retry'] as const
  ).map((name) => ({ name, of: (config: Config) => config[name] })),
  { name: 'log', of: ({ log }) => log },
  { name: 'state', of: ({ state }) => state },
  { name: 'storage', of: ({ storage }) => storage },
  { name: 'vault', of: ({ vault }) => vault },
  { name: 'audit', of: ({ audit }) => audit },
  { name: 'alerts', of: ({ alerts }) => alerts },
  { name: 'cluster', of: ({ cluster }) => cluster },
  { name: 'data_dir', of: ({ dataDir }) => dataDir },
];

/** With its secrets readable, which no comparison looks into; for comparing only. */
function revealed(value: unknown): unknown {
  if (value instanceof Secret) return value.reveal();
  if (Array.isArray(value)) return value.map(revealed);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, revealed(each)]));
}

function namesOfOthers(table: typeof sections, a: Config, b: Config): string[] {
  return table
    .filter(({ of }) => !isDeepStrictEqual(revealed(of(a)), revealed(of(b))))
    .map(({ name }) => name);
}

/** Names of the settings in which two configurations differ and that a running gateway can't change. */
export function settingsThatNeedRestart(running: Config, next: Config): string[] {
  return namesOfOthers(fixed, running, next);
}

/** Names of the sections in which two configurations differ. What lists hold is no setting. */
export function settingsThatChanged(before: Config, next: Config): string[] {
  return namesOfOthers(sections, before, next);
}

/** Takes new configurations, one after the other. */
export class Reloads {
  private last: Promise<unknown> = Promise.resolve();

  private inForce: Config;

  constructor(private readonly parts: ReloadParts) {
    this.inForce = parts.startedWith;
  }

  /** Loads and applies; what is wrong with the file keeps the old configuration. Never rejects. */
  reload(load: () => Loaded, cause: ReloadCause): Promise<Applied> {
    return this.inTurn(cause, () => {
      const loaded = load();
      if (loaded.kind === 'config') return this.take(loaded.config);
      return Promise.resolve(kept(loaded.problems.map((problem) => formatProblem(problem, loaded.file))));
    });
  }

  /** Applies a configuration that is loaded already. Never rejects. */
  apply(config: Config, cause: ReloadCause): Promise<Applied> {
    return this.inTurn(cause, () => this.take(config));
  }

  private inTurn(cause: ReloadCause, work: () => Promise<Applied>): Promise<Applied> {
    const turn = this.last.then(async () => {
      const applied = await attempted(work);
      this.tell(applied, cause);
      return applied;
    });
    this.last = turn;
    return turn;
  }

  private async take(config: Config): Promise<Applied> {
    const built = await buildRules(config, this.parts.rulesParts);
    const rules = this.swapIn(config, built);
    if (rules === null) return kept(['the gateway is stopping']);
    const needsRestart = settingsThatNeedRestart(this.parts.startedWith, config);
    const changed = settingsThatChanged(this.inForce, config);
    this.inForce = config;
    return { kind: 'applied', upstreams: countUpstreams(rules), changed, needsRestart };
  }

  /** Null where it is too late. What is not put in force is closed. */
  private swapIn(config: Config, built: BuiltRules): Rules | null {
    try {
      if (!this.parts.isStopping()) return this.parts.swap(config, built);
    } catch (error) {
      built.keeper.close();
      throw error;
    }
    built.keeper.close();
    return null;
  }

  private tell(applied: Applied, cause: ReloadCause): void {
    this.parts.emit({
      type: 'config_reloaded',
      outcome: applied.kind,
      cause,
      problems: applied.kind === 'kept' ? applied.problems : [],
      needsRestart: applied.kind === 'applied' ? applied.needsRestart : [],
    });
  }
}

/** A build that throws is a configuration that can't be served: a list that is gone, a certificate that does not fit. */
async function attempted(work: () => Promise<Applied>): Promise<Applied> {
  try {
    return await work();
  } catch (error) {
    return kept([error instanceof Error ? error.message : 'it can not be built']);
  }
}

function kept(problems: readonly string[]): Applied {
  return { kind: 'kept', problems };
}
