import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.js';
import { keepAlive } from '../../src/cli/keep-alive.js';
import { run } from '../../src/cli/run.js';
import { packageVersion } from '../../src/cli/version.js';
import { keptOutput } from './support.js';

async function ran(...args: string[]): Promise<{ code: number; printed: string; told: string }> {
  const output = keptOutput();
  const code = await run(args, output);
  return { code, printed: output.printed.join('\n'), told: output.told.join('\n') };
}

describe('the program', () => {
  it('helps, with every command of the table that is not hidden', async () => {
    const { code, printed } = await ran('--help');
    expect(code).toBe(0);
    for (const { name, isHidden } of commands) {
      if (isHidden === true) expect(printed).not.toContain(name);
      else expect(printed).toContain(name.split(' ')[0]);
    }
    expect(printed).toContain('turnpike serve --upstreams proxies.txt');
  });

  it('helps with each command and each of its flags', async () => {
    for (const { name, flags } of commands) {
      const { code, printed } = await ran(...name.split(' '), '--help');
      expect(code).toBe(0);
      for (const { spelling } of flags) expect(printed).toContain(spelling);
    }
  });

  it('tells its version', async () => {
    const manifest = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../package.json'), 'utf8'));
    expect(await ran('--version')).toEqual({ code: 0, printed: manifest.version, told: '' });
    expect(packageVersion()).toBe(manifest.version);
  });

  it.each([
    [['sevre'], /unknown command.*\n*.*serve/s],
    [['serve', '--lisen', 'x'], /unknown option.*--listen/s],
    [['serve', 'x'], /too many arguments/],
    [['serve', '--listen'], /argument missing/],
    [[], /Usage/],
  ])('used wrongly (%j) says how and ends with 2', async (args, message) => {
    const { code, told } = await ran(...args);
    expect(code).toBe(2);
    expect(told).toMatch(message);
  });

  it('has no flag that takes a password: argv is for everybody to read', () => {
    for (const { flags } of commands) {
      const values = flags.filter(({ spelling }) => !spelling.endsWith('<file>'));
      expect(values.filter(({ spelling }) => /pass|secret|token|key/.test(spelling))).toEqual([]);
    }
  });
});

it('generate writes the files that are committed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-generate-'));
  try {
    const { code, printed } = await ran('generate', '--folder', folder);
    expect(code).toBe(0);
    for (const path of printed.split('\n')) expect(existsSync(path)).toBe(true);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it('stays alive until it may end', () => {
  const before = process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;
  const release = keepAlive();
  expect(process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length).toBe(before + 1);
  release();
});
