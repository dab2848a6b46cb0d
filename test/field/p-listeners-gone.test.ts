/** Whoever reads what the program says may be gone; it serves on, and ends when asked to. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { waitFor } from '../support/wait.js';

const program = join(import.meta.dirname, '../../dist/cli/main.js');

describe('P01 nobody reads standard error and output any more', () => {
  it('the gateway drains and ends in order, and does not tell a fault to nobody for ever', async () => {
    const data = mkdtempSync(join(tmpdir(), 'turnpike-gone-'));
    const child = spawn(
      process.execPath,
      [program, 'serve', '--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0'],
      { env: { PATH: process.env['PATH'], TURNPIKE_DATA_DIR: data }, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    onTestFinished(() => {
      child.kill('SIGKILL');
      rmSync(data, { recursive: true, force: true });
    });
    let said = '';
    child.stderr.on('data', (text: Buffer) => (said += text.toString()));
    await waitFor('the banner', () => /metrics/.test(said));
    child.stdout.destroy();
    child.stderr.destroy();
    // Telling of the signal is what fails.
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});
