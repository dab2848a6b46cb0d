/** `turnpike serve`: load, build, start; reload when told or when the file changes; wait for a signal, drain, end. */
import type { App, Started } from '../app.js';
import type { Config } from '../config/config.js';
import { loadConfig, type Loaded } from '../config/load.js';
import { watchFile } from '../config/watch-file.js';
import { systemClock } from '../core/clock.js';
import { scrub } from '../core/scrub.js';
import { banner } from './banner.js';
import { exitCodes } from './exit-codes.js';
import { loadInputOf } from './flags.js';
import type { FlagValues } from './flags.js';
import type { Output } from './output.js';
import { tellProblems, tellWarnings } from './report.js';
import { startTrouble } from './start-trouble.js';

/** What `serve` needs of the process and of the gateway; tests hand in their own. */
export interface ServeParts {
  /** @param load loads the configuration anew, for the admin API */
  buildApp(config: Config, load: () => Loaded): Promise<App>;
  onSignal(name: 'SIGTERM' | 'SIGINT' | 'SIGHUP', heard: () => void): void;
  /** Calls back after each change of the file; the returned function ends that. */
  watch(file: string, changed: () => void): () => void;
  /** A fault that nobody caught. */
  onFault(heard: (error: unknown) => void): void;
}

const processParts: ServeParts = {
  buildApp: async (config, load) => (await import('../app.js')).buildApp(config, { load }),
  onSignal: (name, heard) => void process.on(name, heard),
  watch: (file, changed) => watchFile(file, systemClock, changed),
  onFault: (heard) => void process.on('uncaughtException', heard).on('unhandledRejection', heard),
};

/** One line in the form of the log, since the log itself may be what failed. */
function fatalLine(error: unknown): string {
  const shown = error instanceof Error ? (error.stack ?? error.message) : typeof error;
  return JSON.stringify({ level: 60, time: systemClock.wallMs(), event: 'fatal', error: scrub(shown) });
}

/** What people and the program's own faults can bring about at any time. */
interface Interruptions {
  /** The name of the first signal. */
  readonly signal: Promise<string>;
  /** The exit code when there is no waiting for anything else: a second signal, or a fault. */
  readonly atOnce: Promise<number>;
}

function interruptions(parts: ServeParts, output: Output): Interruptions {
  let stopAtOnce: (code: number) => void = () => undefined;
  const atOnce = new Promise<number>((resolve) => (stopAtOnce = resolve));
  parts.onFault((error) => {
    output.tell(fatalLine(error));
    stopAtOnce(exitCodes.fault);
  });
  const signal = new Promise<string>((resolve) => {
    let isFirst = true;
    const heard = (name: string): void => {
      if (isFirst) resolve(name);
      else stopAtOnce(exitCodes.failed);
      isFirst = false;
    };
    for (const name of ['SIGTERM', 'SIGINT'] as const) parts.onSignal(name, () => heard(name));
  });
  return { signal, atOnce };
}

interface Running {
  readonly app: App;
  readonly started: Started;
}

async function start(config: Config, parts: ServeParts, load: () => Loaded): Promise<Running | string> {
  try {
    const app = await parts.buildApp(config, load);
    return { app, started: await app.start() };
  } catch (error) {
    return startTrouble(error);
  }
}

async function drain(app: App, signal: string, output: Output): Promise<number> {
  output.tell(`turnpike: ${signal}, draining (again to end at once)`);
  const { cut } = await app.stop(signal);
  if (cut === 0) return exitCodes.ok;
  output.tell(`turnpike: ${cut} ${cut === 1 ? 'exchange was' : 'exchanges were'} cut`);
  return exitCodes.failed;
}

/** Takes the configuration anew at SIGHUP and when its file changes, until the returned function is called. */
function reloadWhenAsked(app: App, config: Config, parts: ServeParts, load: () => Loaded): () => void {
  const reload = (cause: 'signal' | 'file'): void => {
    void app.reload(load, cause);
  };
  parts.onSignal('SIGHUP', () => reload('signal'));
  return config.file === null ? () => undefined : parts.watch(config.file, () => reload('file'));
}

async function live(config: Config, parts: ServeParts, told: Told): Promise<number> {
  // Until there is something to reload, a SIGHUP must not end the process.
  parts.onSignal('SIGHUP', () => undefined);
  const running = await start(config, parts, told.load);
  if (typeof running === 'string') {
    told.output.tell(`turnpike: can not start: ${running}`);
    return exitCodes.notStarted;
  }
  told.output.tell(banner(running.started, config, running.app.upstreamCount));
  const stopWatching = reloadWhenAsked(running.app, config, parts, told.load);
  const signal = await told.signal;
  stopWatching();
  return drain(running.app, signal, told.output);
}

interface Told {
  readonly output: Output;
  /** Loads the configuration anew, from where it came. */
  readonly load: () => Loaded;
  readonly signal: Promise<string>;
}

/**
 * Serves until a signal. Exit code 0 when nothing was cut, 1 when something was or a second signal came,
 * 2 when it could not start, 70 after a fault that nobody caught.
 */
export async function serve(
  values: FlagValues,
  output: Output,
  parts: ServeParts = processParts,
): Promise<number> {
  const load = (): Loaded => loadConfig(loadInputOf(values));
  const loaded = load();
  if (loaded.kind === 'problems') {
    tellProblems(loaded.problems, loaded.file, output);
    return exitCodes.notStarted;
  }
  const { config, warnings } = loaded;
  tellWarnings(warnings, config.file, output);
  const { signal, atOnce } = interruptions(parts, output);
  return Promise.race([atOnce, live(config, parts, { output, signal, load })]);
}
