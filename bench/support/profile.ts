/**
 * Reads what `node --cpu-prof` wrote and says where the time went.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const SHOWN = 25;
/** V8's names for time that belongs to no function of ours. */
const NOT_WORK = new Set(['(idle)', '(root)']);

interface ProfileNode {
  id: number;
  callFrame: { functionName: string; url: string; lineNumber: number };
}

interface Profile {
  nodes: ProfileNode[];
  startTime: number;
  samples: number[];
  timeDeltas: number[];
}

/** Arguments for `node` that leave a profile in `directory` when the process ends. */
export function profileArguments(directory: string): string[] {
  return ['--cpu-prof', `--cpu-prof-dir=${directory}`, '--cpu-prof-interval=500'];
}

/** Begin and end in µs of the monotonic clock. */
type Window = readonly [number, number];

/**
 * One report per profile in the folder: the functions with the most self time, as share of the time not idle.
 * Only samples within one of the windows count, so neither start nor warm-up; with no windows, all do.
 */
export function profileReports(directory: string, windows: readonly Window[]): string[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.cpuprofile'))
    .map((name) => {
      const profile = JSON.parse(readFileSync(join(directory, name), 'utf8')) as Profile;
      return [`\nprofile ${join(directory, name)}`, ...topFunctions(profile, windows)].join('\n');
    });
}

function topFunctions(profile: Profile, windows: readonly Window[]): string[] {
  const selfMicros = new Map<string, number>();
  const names = new Map(profile.nodes.map((node) => [node.id, nameOf(node)]));
  let nowMicros = profile.startTime;
  for (const [at, id] of profile.samples.entries()) {
    const tookMicros = profile.timeDeltas[at] ?? 0;
    nowMicros += tookMicros;
    if (!isWithin(nowMicros, windows)) continue;
    const name = names.get(id) ?? '(unknown)';
    selfMicros.set(name, (selfMicros.get(name) ?? 0) + tookMicros);
  }
  const work = [...selfMicros].filter(([name]) => !NOT_WORK.has(name)).sort((a, b) => b[1] - a[1]);
  const total = work.reduce((sum, [, micros]) => sum + micros, 0);
  return work.slice(0, SHOWN).map(([name, micros]) => {
    const share = ((micros / total) * 100).toFixed(1).padStart(5);
    return `${share} %  ${(micros / 1000).toFixed(0).padStart(6)} ms  ${name}`;
  });
}

function isWithin(micros: number, windows: readonly Window[]): boolean {
  return windows.length === 0 || windows.some(([from, to]) => micros >= from && micros <= to);
}

function nameOf({ callFrame }: ProfileNode): string {
  const name = callFrame.functionName || '(anonymous)';
  if (callFrame.url === '') return name;
  const file = callFrame.url
    .replace(/^file:\/\//, '')
    .split('/')
    .slice(-3)
    .join('/');
  return `${name}  ${file}:${callFrame.lineNumber + 1}`;
}
