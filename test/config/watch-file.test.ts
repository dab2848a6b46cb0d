import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { watchFile } from '../../src/config/watch-file.js';
import { FakeClock } from '../support/fake-clock.js';
import { waitFor } from '../support/wait.js';

async function watched(text: string | null) {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-watch-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'turnpike.yaml');
  if (text !== null) writeFileSync(file, text);
  const clock = new FakeClock();
  let changes = 0;
  const stop = watchFile(file, clock, () => (changes += 1));
  // What it finds at its first look is what it knows.
  await waitFor('the first look', () => clock.pending === 1);
  /** Lets the watcher look so many times; what it did by then is told. */
  const looks = async (count: number): Promise<number> => {
    for (let look = 0; look < count; look++) {
      await waitFor('a look', () => clock.pending === 1);
      clock.advance(500);
    }
    await waitFor('the last look', () => clock.pending === 1);
    return changes;
  };
  return { folder, file, clock, stop, looks };
}

describe('watchFile', () => {
  it('tells of a change once, when the file has stayed the same for a look', async () => {
    const { file, looks } = await watched('one');
    expect(await looks(3)).toBe(0);
    writeFileSync(file, 'one and a half');
    expect(await looks(1)).toBe(0);
    writeFileSync(file, 'one and a half, and more');
    expect(await looks(1)).toBe(0);
    expect(await looks(1)).toBe(1);
    expect(await looks(3)).toBe(1);
  });

  it('sees a file that was moved into place, and a link that was turned', async () => {
    const { folder, file, looks } = await watched(null);
    const versions = ['a', 'b'].map((name) => join(folder, name));
    for (const version of versions) writeFileSync(version, 'the same text');
    symlinkSync(versions[0] ?? '', file);
    expect(await looks(3)).toBe(1);
    symlinkSync(versions[1] ?? '', `${file}.new`);
    renameSync(`${file}.new`, file);
    expect(await looks(3)).toBe(2);
  });

  it('waits for a file that is gone, and ends when told', async () => {
    const { file, looks, clock, stop } = await watched('one');
    await looks(1);
    rmSync(file);
    expect(await looks(3)).toBe(0);
    writeFileSync(file, 'back, and another');
    expect(await looks(3)).toBe(1);
    stop();
    expect(clock.pending).toBe(0);
  });
});
