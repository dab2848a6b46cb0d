/**
 * The documents say what the code does: error codes, commands, metrics and the example configuration are
 * each one table in the code, and this test compares the pages with them.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '..');

/** The text of a page, or a failure that names it. */
function page(path: string): string {
  if (!existsSync(join(root, path))) throw new Error(`${path} is missing`);
  return readFileSync(join(root, path), 'utf8');
}

/** One export of a source file, or a failure that names both. */
async function exported<T>(path: string, name: string): Promise<T> {
  if (!existsSync(join(root, path))) throw new Error(`${path} is missing; it must export ${name}`);
  const module = (await import(pathToFileURL(join(root, path)).href)) as Record<string, unknown>;
  if (module[name] === undefined) throw new Error(`${path} must export ${name}`);
  return module[name] as T;
}

/** The sections of a page whose heading matches, each with the subsections below it. */
function sections(text: string, heading: RegExp): string {
  const taken: string[] = [];
  let depth = 0;
  let isCode = false;
  for (const line of text.split('\n')) {
    if (line.startsWith('```')) isCode = !isCode;
    const level = isCode ? 0 : (/^(#+) /.exec(line)?.[1]?.length ?? 0);
    if (level > 0 && depth > 0 && level <= depth) depth = 0;
    if (level > 0 && depth === 0 && heading.test(line)) depth = level;
    if (depth > 0) taken.push(line);
  }
  return taken.join('\n');
}

/** Cells of the table rows whose first cell is one word in backticks. */
function codeRows(text: string): string[][] {
  return text
    .split('\n')
    .filter((line) => /^\|\s*`\w+`\s*\|/.test(line))
    .map((line) => line.split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim().replaceAll('`', '')));
}

const yesOrNo = (flag: boolean) => (flag ? 'yes' : 'no');

interface ErrorRow {
  status: number;
  blame: string;
  retryable: boolean;
}

/** What of the table is wrong: codes missing, unknown or twice, and rows that say something else than the code. */
function errorTableProblems(text: string, table: Record<string, ErrorRow>): string[] {
  const rows = codeRows(sections(text, /error/i));
  const listed = rows.map(([code]) => code ?? '');
  const missing = Object.keys(table).filter((code) => !listed.includes(code));
  const doubled = listed.filter((code, at) => listed.indexOf(code) !== at);
  const differing = rows.flatMap(([code = '', ...cells]) => {
    const row = table[code];
    if (row === undefined) return [`${code} is not in src/core/errors.ts`];
    const expected = [String(row.status), row.blame, yesOrNo(row.retryable)];
    const absent = expected.filter((value) => !cells.some((cell) => cell === value));
    return absent.length === 0 ? [] : [`the row of ${code} must have the cells ${expected.join(', ')}`];
  });
  return [
    ...missing.map((code) => `${code} is missing`),
    ...doubled.map((code) => `${code} is listed twice`),
    ...differing,
  ];
}

describe('README', () => {
  it('lists exactly the error codes, with status, blame and whether to try again', async () => {
    const table = await exported<Record<string, ErrorRow>>('src/core/errors.ts', 'errorTable');
    expect(errorTableProblems(page('README.md'), table)).toEqual([]);
  });

  it('names every command', async () => {
    const commands = await exported<readonly { name: string; summary: string }[]>(
      'src/cli/commands.ts',
      'commands',
    );
    const section = sections(page('README.md'), /\bCLI\b|command/i);
    const missing = commands.filter(({ name }) => !new RegExp(`\\b${name}\\b`).test(section));
    expect(missing.map(({ name }) => `the section about commands does not name ${name}`)).toEqual([]);
    expect(commands.filter(({ summary }) => summary === '').map(({ name }) => name)).toEqual([]);
  });
});

describe('config/turnpike.example.yaml', () => {
  it('is what the schema generates', async () => {
    const exampleYaml = await exported<() => string>('src/config/example.ts', 'exampleYaml');
    expect(page('config/turnpike.example.yaml')).toBe(exampleYaml());
  });
});

describe('scripts/breakage-list.mjs', () => {
  it('fits the code: each text stands once, each case has its test', async () => {
    type Breakage = Record<'what' | 'file' | 'find' | 'put' | 'test' | 'case', string>;
    const list = await exported<readonly Breakage[]>('scripts/breakage-list.mjs', 'breakages');
    expect(list.length).toBeGreaterThanOrEqual(20);
    const wrong = list.filter((each) => {
      const isThere = page(each.file).split(each.find).length === 2;
      return (
        !isThere || each.find === each.put || !page(`test/field/${each.test}.test.ts`).includes(each.case)
      );
    });
    expect(wrong.map(({ what }) => what)).toEqual([]);
  });
});

/** Names of metrics in a text, without the endings that a histogram's series add. */
function metricNames(text: string): Set<string> {
  const found = text.match(/\bturnpike_[a-z0-9_]+/g) ?? [];
  return new Set(found.map((name) => name.replace(/_(bucket|sum|count)$/, '')));
}

function metricProblems(text: string, table: Record<string, unknown>): string[] {
  const named = metricNames(text);
  const known = Object.keys(table);
  const bare = new Set(known.map((name) => name.replace(/_(bucket|sum|count)$/, '')));
  return [
    ...known.filter((name) => !text.includes(`\`${name}\``)).map((name) => `${name} is not described`),
    ...[...named].filter((name) => !bare.has(name)).map((name) => `${name} is no metric of ours`),
  ];
}

describe('docs/metrics.md', () => {
  it('describes every metric and no other', async () => {
    const table = await exported<Record<string, unknown>>('src/telemetry/metrics.ts', 'metricTable');
    expect(metricProblems(page('docs/metrics.md'), table)).toEqual([]);
  });
});

describe('docs/api.md', () => {
  it('lists every problem of the admin API, with status and what to do', async () => {
    const table = await exported<Record<string, { status: number; title: string; todo: string }>>(
      'src/admin/problem-codes.ts',
      'problemTable',
    );
    const rows = Object.entries(table).map(([code, { status, title, todo }]) => {
      return `| \`${code}\` | ${status} | ${title} | ${todo} |`;
    });
    const text = sections(page('docs/api.md'), /^## Errors/);
    expect(rows.filter((row) => !text.includes(row))).toEqual([]);
    expect(codeRows(text).map(([code]) => code)).toEqual(Object.keys(table));
  });
});

interface MetricLabels {
  labels: readonly string[];
}

/** Labels that a scrape or a histogram adds. */
const addedLabels = ['instance', 'job', 'le'];

/** Metrics that don't exist, and labels in braces that a metric doesn't have. */
function queryProblems(text: string, table: Record<string, MetricLabels>): string[] {
  const unknown = [...metricNames(text)].filter((name) => table[name] === undefined);
  const labels = [...text.matchAll(/\b(turnpike_[a-z0-9_]+?)(?:_bucket|_sum|_count)?\{([^}]*)\}/g)].flatMap(
    ([, name = '', inside = '']) =>
      [...inside.matchAll(/([a-z_]+)\s*[=!]~?/g)]
        .map(([, label = '']) => label)
        .filter((label) => ![...(table[name]?.labels ?? []), ...addedLabels].includes(label))
        .map((label) => `${name} has no label ${label}`),
  );
  return [...unknown.map((name) => `${name} is no metric of ours`), ...labels];
}

describe('dashboard and alerts', () => {
  it.each(['config/grafana/turnpike.json', 'config/prometheus/turnpike.rules.yaml'])(
    '%s names metrics and labels that there are',
    async (path) => {
      const table = await exported<Record<string, MetricLabels>>('src/telemetry/metrics.ts', 'metricTable');
      expect(metricNames(page(path)).size).toBeGreaterThan(10);
      expect(queryProblems(page(path).replaceAll('\\"', '"'), table)).toEqual([]);
    },
  );

  it('docs/metrics.md names every alert', () => {
    const alerts = [...page('config/prometheus/turnpike.rules.yaml').matchAll(/alert: (\w+)/g)].map(
      ([, name]) => name,
    );
    expect(alerts.length).toBeGreaterThan(15);
    expect(alerts.filter((name) => !page('docs/metrics.md').includes(`\`${name}\``))).toEqual([]);
  });
});

describe('these checks', () => {
  const table = {
    bad_request: { status: 400, blame: 'client', retryable: false },
    no_upstream: { status: 503, blame: 'gateway', retryable: true },
  };
  const good = ['| `bad_request` | 400 | client | no |', '| `no_upstream` | 503 | gateway | yes |'];
  const problems = (...rows: string[]) =>
    errorTableProblems(
      ['# Turnpike', '## Error codes', ...rows, '## Other', '| `x` | 1 |'].join('\n'),
      table,
    );

  it('pass a right table and see a wrong one', () => {
    expect(problems(...good)).toEqual([]);
    expect(problems(good[0] ?? '')).toEqual(['no_upstream is missing']);
    expect(problems(...good, '| `gone` | 400 | client | no |')).toHaveLength(1);
    expect(problems(...good, ...good.slice(1))).toEqual(['no_upstream is listed twice']);
    expect(problems(good[0] ?? '', '| `no_upstream` | 502 | gateway | yes |')).toHaveLength(1);
  });

  it('see a metric too many or too few', () => {
    const metrics = { turnpike_requests_total: {}, turnpike_dial_seconds: {} };
    expect(
      metricProblems(
        '`turnpike_requests_total` `turnpike_dial_seconds`, `turnpike_dial_seconds_sum`',
        metrics,
      ),
    ).toEqual([]);
    expect(metricProblems('`turnpike_requests_total` `turnpike_gone`', metrics)).toHaveLength(2);
  });

  it('see a query of what is not there', () => {
    const metrics = { turnpike_exits: { labels: ['pool'] } };
    expect(queryProblems('sum(turnpike_exits{pool="a",instance=~"b"})', metrics)).toEqual([]);
    expect(queryProblems('turnpike_exits{site!="a"} / turnpike_gone', metrics)).toEqual([
      'turnpike_gone is no metric of ours',
      'turnpike_exits has no label site',
    ]);
  });

  it('say which file or export is missing', async () => {
    await expect(exported('src/nowhere.ts', 'nothing')).rejects.toThrow('src/nowhere.ts is missing');
    await expect(exported('src/core/errors.ts', 'nothing')).rejects.toThrow('must export nothing');
    expect(() => page('docs/nowhere.md')).toThrow('docs/nowhere.md is missing');
  });
});

describe('docs/credentials.md', () => {
  it('K2 K6 shows the table of statuses', async () => {
    type Table = Readonly<Record<string, Readonly<Record<string, string>>>>;
    const table = await exported<Table>('src/access/credential-status.ts', 'statusTable');
    const columns = ['active', 'cooldown', 'exhausted', 'banned', 'invalid', 'disabled'];
    const rows = Object.entries(table).map(([event, row]) => [event, ...columns.map((name) => row[name])]);
    const shown = codeRows(sections(page('docs/credentials.md'), /^## Status/));
    expect(shown).toEqual(rows);
  });
});
