/** `turnpike serve`: load, build, start, wait for a signal, drain, end. */
import type { App, Started } from '../app.js';
import type { Config } from '../config/config.js';
import { loadConfig } from '../config/load.js';
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
  buildApp(config: Config): Promise<App>;
  onSignal(name: 'SIGTERM' | 'SIGINT', heard: () => void): void;
  /** A fault that nobody caught. */
  onFault(heard: (error: unknown) => void): void;
  exit(code: number): void;
}

const processParts: ServeParts = {
  buildApp: async (config) => (await import('../app.js')).buildApp(config),
  onSignal: (name, heard) => void process.on(name, heard),
  onFault: (heard) => void process.on('uncaughtException', heard).on('unhandledRejection', heard),
  exit: (code) => process.exit(code),
};

/** One line in the form of the log, since the log itself may be what failed. */
function fatalLine(error: unknown): string {
  const shown = error instanceof Error ? (error.stack ?? error.message) : typeof error;
  return JSON.stringify({ level: 60, time: systemClock.wallMs(), event: 'fatal', error: scrub(shown) });
}

/** Resolves with the name of the first signal; the second ends the process at once. */
function firstSignal(parts: ServeParts, output: Output): Promise<string> {
  return new Promise((resolve) => {
    let isFirst = true;
    for (const name of ['SIGTERM', 'SIGINT'] as const) {
      parts.onSignal(name, () => {
        if (isFirst) resolve(name);
        else {
          output.tell(`turnpike: ${name} again, ending at once`);
          parts.exit(exitCodes.failed);
        }
        isFirst = false;
      });
    }
  });
}

interface Running {
  readonly app: App;
  readonly started: Started;
}

async function start(config: Config, parts: ServeParts): Promise<Running | string> {
  try {
    const app = await parts.buildApp(config);
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

/** Serves until a signal. Exit code 0 when nothing was cut, 1 when something was, 2 when it could not start. */
export async function serve(
  values: FlagValues,
  output: Output,
  parts: ServeParts = processParts,
): Promise<number> {
  const loaded = loadConfig(loadInputOf(values));
  if (loaded.kind === 'problems') {
    tellProblems(loaded.problems, loaded.file, output);
    return exitCodes.notStarted;
  }
  const { config, warnings } = loaded;
  tellWarnings(warnings, config.file, output);
  parts.onFault((error) => {
    output.tell(fatalLine(error));
    parts.exit(exitCodes.fault);
  });
  const signal = firstSignal(parts, output);
  const running = await start(config, parts);
  if (typeof running === 'string') {
    output.tell(`turnpike: can not start: ${running}`);
    return exitCodes.notStarted;
  }
  output.tell(banner(running.started, config, running.app.upstreamCount));
  return drain(running.app, await signal, output);
}
