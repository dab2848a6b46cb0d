/**
 * The house rules as a test: imports, names, sizes, replaced calls, orphans, PURE files. Below each rule's
 * run over the tree stands a sample it must complain about, so that a rule that has gone blind is noticed.
 */
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import * as rules from './support/house-rules.js';
import type { CruisedModule, SourceFile } from './support/house-rules.js';

const root = resolve(import.meta.dirname, '..');
const codeFile = /\.(ts|mts|js|mjs|cjs|lua|sql)$/;

function filesUnder(folder: string): SourceFile[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => codeFile.test(name))
    .map((name) => `${folder}/${name.split(sep).join('/')}`)
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

const sources = filesUnder('src');
const everything = [...sources, ...['test', 'bench', 'scripts'].flatMap(filesUnder)];
const typescript = sources.filter((file) => file.path.endsWith('.ts'));
const existing = new Set(everything.map((file) => file.path));

interface Cruise {
  modules: CruisedModule[];
  summary: { violations: { from: string; to: string; rule: { name: string } }[] };
}

/** Runs dependency-cruiser, as one would by hand, over src/ of a folder that has our configuration. */
async function cruise(folder: string): Promise<Cruise> {
  const program = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const args = [program, '--config', '.dependency-cruiser.cjs', '--output-type', 'json', 'src'];
  const options = { cwd: folder, maxBuffer: 256 << 20 };
  // It exits non-zero when there are violations, and prints all the same.
  const { stdout } = await promisify(execFile)(process.execPath, args, options).catch(
    (error: { stdout?: string; stderr?: string }) => {
      if (error.stdout?.startsWith('{')) return { stdout: error.stdout };
      throw new Error(`dependency-cruiser failed: ${error.stderr ?? 'it did not start'}`);
    },
  );
  return JSON.parse(stdout) as Cruise;
}

const violationsOf = ({ summary }: Cruise) =>
  summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`);

/** A folder like ours with these files in it, for a rule to complain about. */
function sampleTree(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-tidy-'));
  for (const name of ['.dependency-cruiser.cjs', 'tsconfig.json', 'package.json']) {
    cpSync(join(root, name), join(folder, name));
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

describe('imports', () => {
  const ours = cruise(root);

  it('follow the table', async () => {
    expect(violationsOf(await ours)).toEqual([]);
  });

  it('leave no file that nobody uses', async () => {
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(rules.orphans((await ours).modules, rules.entryPointsOf(manifest))).toEqual([]);
  });

  it('are seen when wrong', async () => {
    const folder = sampleTree({
      'src/core/a.ts': "import { b } from '../http1/b.js';\nexport const a = b;\n",
      'src/http1/b.ts':
        "import net from 'node:net';\nimport fc from 'fast-check';\nimport { request } from 'undici';\nexport const b = [net, request, fc];\n",
      'src/gateway/c.ts':
        "import { d } from '../admin/d.js';\nimport pg from 'pg';\nexport const c = [d, pg];\n",
      'src/admin/d.ts': "import { c } from '../gateway/c.js';\nexport const d = c;\n",
      'src/routing/e.ts':
        "import type { F } from '../request/f.js';\nimport './gone.js';\nexport type E = F;\n",
      'src/request/f.ts': 'export interface F {\n  n: number;\n}\n',
      'src/outcome/g.ts': "import { h } from '../upstreams/h.js';\nexport const g = h;\n",
      'src/upstreams/h.ts': 'export const h = 1;\n',
      'src/stray/i.ts': "import { h } from '../upstreams/h.js';\nexport const i = h;\n",
    });
    try {
      const found = new Set(
        (await cruise(folder)).summary.violations.map(({ rule, from }) => `${from} ${rule.name}`),
      );
      const expected = [
        'src/core/a.ts core-imports-types-only',
        'src/http1/b.ts pure-without-io',
        'src/http1/b.ts pure-without-clients',
        'src/http1/b.ts runtime-dependencies',
        'src/gateway/c.ts gateway-imports',
        'src/gateway/c.ts pg-at-home',
        'src/admin/d.ts admin-imports',
        'src/routing/e.ts resolvable',
        'src/outcome/g.ts outcome-imports-types-only',
        'src/stray/i.ts known-folders',
      ];
      expect([...found]).toEqual(expect.arrayContaining(expected));
      // A cycle is told once, from whichever of its files comes first.
      expect([...found].join()).toMatch(/src\/(admin\/d|gateway\/c)\.ts no-cycles/);
      expect([...found].join()).not.toContain('routing-imports');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('are counted to find orphans', () => {
    const uses = (source: string, ...paths: string[]) => ({
      source,
      dependencies: paths.map((resolved) => ({ resolved })),
    });
    const modules = [
      uses('src/cli/main.ts', 'src/app.ts'),
      uses('src/app.ts'),
      uses('src/exits/list-worker.ts'),
    ];
    const entries = rules.entryPointsOf({ bin: { turnpike: 'dist/cli/main.js' } });
    expect(rules.orphans(modules, entries)).toEqual([]);
    expect(rules.orphans([...modules, uses('src/lost.ts')], entries)).toHaveLength(1);
    expect(rules.entryPointsOf({ exports: { './client': { import: './dist/client/client.js' } } })).toEqual(
      new Set(['src/client/client.ts']),
    );
  });
});

describe('files', () => {
  it('have names that say something', () => {
    expect(everything.flatMap(rules.emptyName)).toEqual([]);
    const bad = [
      'src/core/utils.ts',
      'src/gateway/session-manager.ts',
      'src/common/clock.ts',
      'test/helpers/a.ts',
    ];
    for (const path of bad) expect(rules.emptyName({ path, text: '' }), path).toHaveLength(1);
  });

  it('are no mere re-exports', () => {
    expect(everything.filter((file) => file.path.endsWith('.ts')).flatMap(rules.barrel)).toEqual([]);
    expect(rules.barrel({ path: 'src/open/index.ts', text: "export * from './open.js';\n" })).toHaveLength(1);
    expect(rules.barrel({ path: 'src/open/index.ts', text: 'export const a = 1;\n' })).toEqual([]);
  });

  it('have at most 300 lines', () => {
    expect(everything.flatMap(rules.tooLong)).toEqual([]);
    expect(rules.tooLong({ path: 'src/a.ts', text: 'a\n'.repeat(300) })).toEqual([]);
    expect(rules.tooLong({ path: 'src/a.ts', text: 'a\n'.repeat(301) })).toHaveLength(1);
  });
});

describe('text', () => {
  it('uses nothing that has a better replacement', () => {
    const own = 'test/tidy.test.ts';
    expect(everything.filter((file) => file.path !== own).flatMap(rules.bannedText)).toEqual([]);
  });

  it.each([
    ['src/gateway/a.ts', "console.log('x');"],
    ['src/gateway/a.ts', 'process.exit(1);'],
    ['src/gateway/a.ts', "if (error.message.includes('ECONN')) retry();"],
    ['src/gateway/a.ts', "if (error.message === 'x') retry();"],
    ['src/gateway/a.ts', 'const b = JSON.parse(JSON.stringify(a));'],
    ['src/gateway/a.ts', "data.toString('binary');"],
    ['src/gateway/a.ts', '// FIXME later'],
    ['scripts/a.mjs', '// TODO later'],
    ['src/gateway/a.ts', '// @ts-ignore'],
    ['src/gateway/a.ts', '// eslint-disable-next-line eqeqeq'],
    ['test/a.test.ts', "it.only('x', () => {});"],
    ['test/a.test.ts', "describe.skip('x', () => {});"],
    ['test/a.test.ts', "it.concurrent.only('x', () => {});"],
  ])('is refused in %s: %s', (path, text) => {
    expect(rules.bannedText({ path, text })).toHaveLength(1);
  });

  it.each([
    ['src/cli/demo.ts', "console.log('x');"],
    ['src/cli/main.ts', 'process.exit(1);'],
    ['src/gateway/a.ts', '// eslint-disable-next-line eqeqeq -- the library compares so'],
    ['test/a.test.ts', "it.each([1])('x', () => {});"],
  ])('is allowed in %s: %s', (path, text) => {
    expect(rules.bannedText({ path, text })).toEqual([]);
  });
});

describe('PURE files', () => {
  it('never wait', () => {
    expect(typescript.flatMap(rules.pureWaits)).toEqual([]);
    const bad = [
      'export async function f() {}',
      'export const f = async () => 1;',
      'export type F = Promise<void>;',
    ];
    for (const text of bad) {
      expect(rules.pureWaits({ path: 'src/http1/a.ts', text }), text).toHaveLength(1);
      expect(rules.pureWaits({ path: 'src/gateway/a.ts', text }), text).toEqual([]);
    }
  });

  it('have their own tests', () => {
    expect(typescript.flatMap((file) => rules.untestedPure(file, existing))).toEqual([]);
    const bad = { path: 'src/http1/a.ts', text: 'export const a = 1;\n' };
    expect(rules.untestedPure(bad, new Set())).toHaveLength(1);
    expect(rules.untestedPure(bad, new Set(['test/http1/a.test.ts']))).toEqual([]);
    const types = "import type { B } from './b.js';\nexport interface A {\n  b: B;\n}\nexport type { B };\n";
    expect(rules.untestedPure({ path: 'src/http1/a.ts', text: types }, new Set())).toEqual([]);
    expect(rules.untestedPure({ path: 'src/vault/keyring.ts', text: bad.text }, new Set())).toHaveLength(1);
  });
});
