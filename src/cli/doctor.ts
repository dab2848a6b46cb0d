/** `turnpike doctor`: the launch check, point by point: is this configuration, with its Redis, fit to serve? */
import { loadConfig } from '../config/load.js';
import type { CheckLine, Level } from '../checkup/line.js';
import { worstOf } from '../checkup/line.js';
import { systemClock } from '../core/clock.js';
import { systemRandom } from '../core/random.js';
import type { CommandRow } from './commands.js';
import { exitCodes } from './exit-codes.js';
import { configFlags, loadInputOf, type FlagValues } from './flags.js';
import type { Output } from './output.js';
import { tellProblems } from './report.js';
import { table } from './table.js';
import { packageVersion } from './version.js';

const codeOf: Readonly<Record<Level, number>> = { ok: 0, warn: 1, fail: 2 };

function shown(lines: readonly CheckLine[]): string {
  const rows = lines.flatMap(({ level, check, says, todo }) => [
    [level, check, says],
    ...(todo === '' ? [] : [['', '', `→ ${todo}`]]),
  ]);
  return table(['', 'CHECK', 'FOUND'], rows);
}

function metricsUrl(values: FlagValues): URL | null | string {
  const given = values['metrics'];
  if (typeof given !== 'string') return null;
  const url = URL.canParse(given) ? new URL(given) : null;
  return url !== null && /^https?:$/.test(url.protocol) ? url : '--metrics: expected http:// or https://';
}

async function doctor(values: FlagValues, output: Output): Promise<number> {
  const metrics = metricsUrl(values);
  if (typeof metrics === 'string') {
    output.tell(`turnpike: ${metrics}`);
    return exitCodes.notStarted;
  }
  const loaded = loadConfig(loadInputOf(values));
  if (loaded.kind === 'problems') {
    tellProblems(loaded.problems, loaded.file, output);
    return exitCodes.notStarted;
  }
  const { examine } = await import('../app/doctor.js');
  const parts = { clock: systemClock, random: systemRandom, version: packageVersion(), metrics };
  const lines = await examine(loaded.config, parts);
  output.print(values['json'] === true ? JSON.stringify(lines, null, 2) : shown(lines));
  return codeOf[worstOf(lines)];
}

/** The command. */
export const doctorCommand: CommandRow = {
  name: 'doctor',
  summary: 'Check a deployment before launch, point by point: coordination, Redis, detection, monitoring.',
  flags: [
    ...configFlags.filter(({ spelling }) => /^--(config|upstreams|admin)\b/.test(spelling)),
    { spelling: '--metrics <url>', help: 'where a running gateway has its metrics (default: as configured)' },
    { spelling: '--json', help: 'print JSON' },
  ],
  run: doctor,
};
