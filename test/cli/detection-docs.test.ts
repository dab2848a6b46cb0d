/** docs/detection.md: its tables are those of the schema, and its five minutes are run as they are written. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { run } from '../../src/cli/run.js';
import { knownKeysAt } from '../../src/config/json-schema.js';
import { ruleActions, ruleScopes } from '../../src/outcome/finding.js';
import { keptOutput } from './support.js';

const text = readFileSync(join(import.meta.dirname, '../../docs/detection.md'), 'utf8');

it('names every setting of a rule, in its table', () => {
  const rows = [...text.matchAll(/^\| `(\w+)` \|/gm)].map((found) => found[1]);
  const when = knownKeysAt(['rules', 0, 'when']);
  expect(rows.sort()).toEqual([...new Set([...when, ...knownKeysAt(['rules', 0])])].sort());
  const inner = ['header', 'redirect', 'body', 'missing'].flatMap((key) =>
    knownKeysAt(['rules', 0, 'when', key]),
  );
  for (const word of [...inner, ...ruleActions, ...ruleScopes])
    expect(text).toMatch(new RegExp(`\\b${word}\\b`));
});

it('the five minutes work as they are written', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-docs-'));
  try {
    for (const [, name = '', body = ''] of text.matchAll(/<!-- file: (\S+) -->\n```\w*\n([^]*?)```/g))
      writeFileSync(join(folder, name), body);
    const [, command = '', printed = ''] = /<!-- run -->\n```\n\$ turnpike (.*)\n([^]*?)```/.exec(text) ?? [];
    const output = keptOutput();
    const args = command.split(' ').map((word) => (word.includes('.') ? join(folder, word) : word));
    expect(await run(args, output)).toBe(0);
    const bare = output.printed.join('\n').replaceAll(`${folder}/`, '');
    const squeezed = (lines: string): string[] =>
      lines
        .trim()
        .split('\n')
        .map((line) => line.trim().replace(/ {2,}/g, '  '));
    expect(squeezed(bare)).toEqual(squeezed(printed));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
