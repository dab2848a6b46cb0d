/** What a gateway in a process of its own costs and counts: memory, descriptors, its metrics. */
import { readFileSync } from 'node:fs';
import type { ServeProcess } from './serve-process.js';

const MIB = 1024 * 1024;

/** Resident memory of a process, in MiB. */
export function residentMib(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  return (Number(kib) * 1024) / MIB;
}

/** All metrics of the gateway as text. */
export async function scrape({ admin }: ServeProcess): Promise<string> {
  return (await fetch(`${admin}/metrics`)).text();
}

/** The sum of all series of this metric whose labels contain `label`. */
export function sumOf(metrics: string, name: string, label = ''): number {
  let sum = 0;
  for (const line of metrics.split('\n')) {
    if (!line.startsWith(`${name} `) && !line.startsWith(`${name}{`)) continue;
    if (line.includes(label)) sum += Number(line.slice(line.lastIndexOf(' ')));
  }
  return sum;
}

/** How many series there are. */
export function seriesIn(metrics: string): number {
  return metrics.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
}

/** A line of measured figures, for people: tests print what they must not assert on a shared machine. */
export function tell(what: string, figures: Record<string, number | string>): void {
  const text = Object.entries(figures).map(([name, value]) => {
    const shown = typeof value === 'number' && !Number.isInteger(value) ? value.toFixed(1) : value;
    return `${name} ${shown}`;
  });
  process.stdout.write(`figures: ${what}: ${text.join(', ')}\n`);
}
