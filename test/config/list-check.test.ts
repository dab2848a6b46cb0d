import { rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { inspectLists } from '../../src/config/list-check.js';
import { configOf } from './support.js';

it('says when a pool is too large for its algorithm', () => {
  const config = configOf(
    'pools: { p: { strategy: hash, algorithm: ketama, upstreams: [ { file: a.txt } ] } }',
    {
      files: { 'a.txt': Array.from({ length: 1001 }, (_, n) => `h${n}.example:1`).join('\n') },
    },
  );
  expect(inspectLists(config).problems).toEqual([
    expect.stringMatching(/^pool p: .*at most 1000 .* not 1001$/),
  ]);
});

it('counts upstreams and names the lines that are left out, never their text', () => {
  const config = configOf(
    'pools: { p: { upstreams: [ { file: a.txt }, { file: b.txt }, { url: "http://h.example:1" }, { file: c.txt } ] } }',
    { files: { 'a.txt': 'http://u:p@h.example:1\nhtp://u:CANARY@h\n', 'b.txt': '# none\n', 'c.txt': 'x:1' } },
  );
  const [, , , last] = config.pools[0]?.sources ?? [];
  if (last?.kind === 'file') rmSync(last.file);
  const report = inspectLists(config);
  expect(report.upstreams).toBe(2);
  expect(report.problems).toEqual([
    expect.stringMatching(/a\.txt:2: /),
    expect.stringMatching(/b\.txt: holds no upstream$/),
    expect.stringMatching(/c\.txt does not exist$/),
  ]);
  expect(report.problems.join()).not.toContain('CANARY');
});
