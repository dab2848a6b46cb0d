/** Configurations for tests: text in a folder of their own, loaded with an environment of their own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { Config } from '../../src/config/config.js';
import { loadConfig } from '../../src/config/load.js';
import type { Loaded } from '../../src/config/load.js';
import type { CliOverrides } from '../../src/config/overrides.js';
import { formatProblem } from '../../src/config/problems.js';

const folders: string[] = [];

/** A folder that is removed when the test file is done. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-config-'));
  folders.push(folder);
  return folder;
}

afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** What a test loads. */
export interface Loading {
  readonly env?: Record<string, string>;
  readonly overrides?: CliOverrides;
  /** Files beside the configuration. */
  readonly files?: Record<string, string>;
}

/** Loads a text as a file. */
export function loadText(text: string, loading: Loading = {}): Loaded {
  const folder = temporaryFolder();
  for (const [name, content] of Object.entries(loading.files ?? {}))
    writeFileSync(join(folder, name), content);
  const file = join(folder, 'turnpike.yaml');
  writeFileSync(file, text);
  return loadConfig({ file, overrides: loading.overrides ?? {}, env: loading.env ?? {} });
}

/** Loads a text that has nothing wrong. */
export function configOf(text: string, loading: Loading = {}): Config {
  const loaded = loadText(text, loading);
  if (loaded.kind === 'problems')
    throw new Error(loaded.problems.map((each) => formatProblem(each, null)).join('\n'));
  return loaded.config;
}

/** `line path: message` of everything that is wrong with a text. */
export function problemsOf(text: string, loading: Loading = {}): string[] {
  const loaded = loadText(text, loading);
  if (loaded.kind === 'config') return [];
  return loaded.problems.map(({ line, path, message }) => `${line ?? '-'} ${path}: ${message}`);
}

/** The same of what is unwise. */
export function warningsOf(text: string, loading: Loading = {}): string[] {
  const loaded = loadText(text, loading);
  if (loaded.kind === 'problems') throw new Error('has problems');
  return loaded.warnings.map(({ line, path, message }) => `${line ?? '-'} ${path}: ${message}`);
}
