import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.js';
import { openLogSink } from '../../src/telemetry/log-sink.js';
import { waitFor } from '../support/wait.js';
import { manualClock } from './manual-clock.js';

const folder = mkdtempSync(join(tmpdir(), 'turnpike-sink-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const read = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

describe('a sink', () => {
  it('writes lines in their order, appending', async () => {
    const file = join(folder, 'order');
    for (const round of [0, 1]) {
      const sink = openLogSink(file, systemClock);
      for (let i = 0; i < 5000; i++) sink.write(`${round * 5000 + i}\n`);
      await sink.close();
    }
    expect(read(file)).toBe(Array.from({ length: 10_000 }, (_, i) => `${i}\n`).join(''));
  });

  it('writes within half a second, also a single line', async () => {
    const file = join(folder, 'single');
    const clock = manualClock();
    const sink = openLogSink(file, clock);
    sink.write('one\n');
    expect(read(file)).toBe('');
    clock.advance(500);
    await waitFor('the line', () => read(file) === 'one\n');
    await sink.close();
  });

  it('writes what is left when it is closed, and nothing after', async () => {
    const file = join(folder, 'closed');
    const sink = openLogSink(file, manualClock());
    sink.write('last\n');
    await sink.close();
    await sink.close();
    sink.write('late\n');
    expect(read(file)).toBe('last\n');
    expect(sink.dropped()).toBe(1);
  });

  it('goes on in a new file after the old was moved away', async () => {
    const file = join(folder, 'rotated');
    const clock = manualClock();
    const sink = openLogSink(file, clock);
    sink.write('before\n');
    clock.advance(500);
    await waitFor('the line', () => read(file) === 'before\n');
    renameSync(file, `${file}.1`);
    sink.reopen();
    sink.write('after\n');
    await sink.close();
    expect([read(`${file}.1`), read(file)]).toEqual(['before\n', 'after\n']);
  });

  it('that can not be opened says so at once', () => {
    expect(() => openLogSink(join(folder, 'no/such/folder'), systemClock)).toThrow(/ENOENT/);
  });
});

describe('a disk that is full', () => {
  it('costs lines, which are counted, and nothing else', async () => {
    const sink = openLogSink('/dev/full', systemClock);
    for (let i = 0; i < 1000; i++) sink.write(`${'x'.repeat(99)}\n`);
    await waitFor('lost lines', () => sink.dropped() >= 100);
    for (let i = 0; i < 10; i++) sink.write('more\n');
    const before = performance.now();
    await sink.close();
    expect(performance.now() - before).toBeLessThan(2500);
    expect(sink.dropped()).toBe(1010);
  });

  it('does not make the buffer grow without end', () => {
    const sink = openLogSink('/dev/full', manualClock());
    const line = `${'x'.repeat(1023)}\n`;
    for (let i = 0; i < 20_000; i++) sink.write(line);
    expect(sink.dropped()).toBeGreaterThan(10_000);
    void sink.close();
  });
});

/** Runs a small program that logs to its standard output; resolves with what it said and how it ended. */
function program(body: string): ReturnType<typeof spawn> {
  const at = (path: string): string => JSON.stringify(resolve(import.meta.dirname, '../../dist', path));
  const text = `
    import { openLogSink } from ${at('telemetry/log-sink.js')};
    import { systemClock } from ${at('core/clock.js')};
    const sink = openLogSink(null, systemClock);
    setInterval(() => undefined, 1000);
    ${body}`;
  return spawn(process.execPath, ['--input-type=module', '-e', text], { stdio: ['ignore', 'pipe', 'pipe'] });
}

const ended = (child: ReturnType<typeof spawn>): Promise<number | null> =>
  new Promise((done) => child.once('exit', (code) => done(code)));

describe('standard output', () => {
  it('gets what is buffered when the process just ends', async () => {
    const child = program("sink.write('a\\n'); sink.write('b\\n'); process.exit(3);");
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
    expect(await ended(child)).toBe(3);
    await waitFor('both lines', () => text === 'a\nb\n');
  });

  it('whose reader has stopped does not hold the end of the process', async () => {
    const child = program(`
      for (let i = 0; i < 3000; i++) sink.write('x'.repeat(1000) + '\\n');
      setTimeout(async () => { await sink.close(); process.exit(sink.dropped() > 0 ? 4 : 5); }, 300);`);
    child.stdout?.pause();
    const before = performance.now();
    expect(await ended(child)).toBe(4);
    expect(performance.now() - before).toBeLessThan(8000);
  });

  it('whose reader is slow gets everything', async () => {
    const child = program(`
      for (let i = 0; i < 1000; i++) sink.write('x'.repeat(999) + '\\n');
      setTimeout(async () => { await sink.close(); process.exit(sink.dropped()); }, 300);`);
    let bytes = 0;
    child.stdout?.pause();
    setTimeout(() => child.stdout?.on('data', (chunk: Buffer) => (bytes += chunk.length)).resume(), 1200);
    expect(await ended(child)).toBe(0);
    await waitFor('everything', () => bytes === 1_000_000);
  });

  it('whose reader has gone does not end the process', async () => {
    const child = program(`
      const timer = setInterval(() => sink.write('x\\n'), 10);
      setTimeout(async () => { clearInterval(timer); await sink.close(); process.exit(sink.dropped() > 0 ? 6 : 7); }, 1500);`);
    child.stdout?.destroy();
    expect(await ended(child)).toBe(6);
  });
});
