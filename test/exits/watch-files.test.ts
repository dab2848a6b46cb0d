import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.js';
import { TimerWheel } from '../../src/core/timer-wheel.js';
import { FileWatch } from '../../src/exits/watch-files.js';
import { waitFor } from '../support/wait.js';

let folder: string;
let watch: FileWatch | null = null;
const changes: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'turnpike-watch-'));
  changes.length = 0;
});
afterEach(() => {
  watch?.close();
  rmSync(folder, { recursive: true });
});

async function watching(files: readonly string[], lookMs = 100_000): Promise<void> {
  const wheel = new TimerWheel(systemClock);
  watch = new FileWatch(files, (file) => changes.push(file), wheel, { settleMs: 50, lookMs });
  await watch.settle();
}

describe('FileWatch', () => {
  it('tells of a file that is written, replaced, and comes back; once for a shower of writes', async () => {
    const file = join(folder, 'a.txt');
    const other = join(folder, 'b.txt');
    writeFileSync(file, 'one');
    writeFileSync(other, 'one');
    await watching([file, other]);
    for (let n = 0; n < 20; n++) writeFileSync(file, `${n}`.repeat(n + 5));
    await waitFor('the first change', () => changes.length === 1);
    writeFileSync(join(folder, 'new'), 'two');
    renameSync(join(folder, 'new'), file);
    await waitFor('the second change', () => changes.length === 2);
    rmSync(file);
    await waitFor('the third change', () => changes.length === 3);
    writeFileSync(file, 'three');
    await waitFor('the fourth change', () => changes.length === 4);
    expect(new Set(changes)).toEqual(new Set([file]));
  });

  it('finds by looking what the system does not tell: a folder that comes later', async () => {
    const file = join(folder, 'later', 'a.txt');
    await watching([file], 60);
    const { mkdirSync } = await import('node:fs');
    mkdirSync(join(folder, 'later'));
    writeFileSync(file, 'one');
    await waitFor('the change', () => changes.length > 0);
    expect(changes[0]).toBe(file);
  });
});
