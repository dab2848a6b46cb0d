/**
 * The rules of the house that neither the linter nor the compiler can hold, as functions from files to
 * complaints. They read no disk, so that test/tidy.test.ts can feed each a bad sample and see it complain.
 */
import ts from 'typescript';

/** A file by its path from the root, with forward slashes. */
export interface SourceFile {
  path: string;
  text: string;
}

/** Where and what: `src/http1/head.ts:12: …`. */
export type Complaint = string;

export const pureFolders = [
  'http1',
  'protocol',
  'facts',
  'upstreams',
  'routing',
  'request',
  'outcome',
  'checkup',
];
const pureInAccess = [
  ...['acquire-context', 'credential-filters', 'credential-input', 'credential-secret', 'credential-status'],
  ...['import-lines', 'pick-trees', 'policy-chain', 'policy-document', 'wake-heap'],
];
const pureFiles = [
  ...['src/vault/envelope.ts', 'src/vault/keyring.ts'],
  ...pureInAccess.map((name) => `src/access/${name}.ts`),
];
const maxLines = 300;

/** Whether the file decides on values only: no socket, no file, no time. */
export function isPure(path: string): boolean {
  return pureFiles.includes(path) || pureFolders.some((folder) => path.startsWith(`src/${folder}/`));
}

const bareName = (path: string) => (path.split('/').at(-1) ?? '').split('.')[0] ?? '';

const emptyNames = ['util', 'utils', 'helper', 'helpers', 'manager', 'common', 'misc', 'shared', 'types'];

/** A name must say what the file does to a request; these say nothing. */
export function emptyName({ path }: SourceFile): Complaint[] {
  const words = bareName(path).split('-');
  const folders = path.split('/').slice(1, -1);
  return emptyNames
    .filter((name) => words.at(-1) === name || folders.includes(name))
    .map((name) => `${path}: "${name}" says nothing; name it for what it does to a request`);
}

function parse({ path, text }: SourceFile): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
}

/** An index that only passes names on hides where things are. */
export function barrel(file: SourceFile): Complaint[] {
  if (bareName(file.path) !== 'index') return [];
  const isPassedOn = (statement: ts.Statement) =>
    ts.isExportDeclaration(statement) || ts.isImportDeclaration(statement);
  const only = parse(file).statements.every(isPassedOn);
  return only ? [`${file.path}: only re-exports; import from the file that defines it`] : [];
}

/** No file needs more lines than fit in one head. */
export function tooLong({ path, text }: SourceFile): Complaint[] {
  const lines = text.replace(/\n$/, '').split('\n').length;
  return lines > maxLines
    ? [`${path}: ${lines} lines, at most ${maxLines}; it holds more than one thing`]
    : [];
}

interface Ban {
  pattern: RegExp;
  instead: string;
  /** Paths where it may stand. */
  allowed?: RegExp;
  /** Paths it is about; src/ when not given. */
  where?: RegExp;
}

const anywhere = /^(src|test|bench|scripts)\//;
// Assembled, so that this file does not complain about itself.
const fixme = new RegExp(`\\b(${['FIX' + 'ME', 'TO' + 'DO', 'XX' + 'X'].join('|')})\\b`);
const disabling = 'eslint-' + 'disable';
const silencing = new RegExp('@ts-' + '(ignore|nocheck)');

const bans: Ban[] = [
  {
    pattern: /\bconsole\.\w+\(/,
    instead: 'emit an event (core/events.ts); the command line alone prints',
    allowed: /^src\/cli\//,
  },
  {
    pattern: /\bprocess\.exit\(/,
    instead: 'return an exit code to src/cli/main.ts, so that what is open is closed',
    allowed: /^src\/cli\/main\.ts$/,
  },
  {
    pattern:
      /\b(?:e|err|error|cause|reason|fault)\.message\s*(?:[!=]==?|\.(?:includes|startsWith|endsWith|match|indexOf)\b)/,
    instead: 'tell errors apart by their code, never by their text',
  },
  { pattern: /JSON\.parse\(\s*JSON\.stringify/, instead: 'structuredClone' },
  { pattern: /\burl\.parse\(|\bnew Buffer\(/, instead: 'new URL, Buffer.from' },
  { pattern: /'binary'/, instead: "'latin1'" },
  {
    pattern: new RegExp(`\\b(?:it|test|describe)(?:\\.\\w+)*\\.(?:only|skip|todo)\\b`),
    instead: 'run it, or delete it',
    where: /^test\//,
  },
  { pattern: fixme, instead: 'do it now, or write it into the closing note', where: anywhere },
  { pattern: silencing, instead: '@ts-expect-error, with the reason', where: anywhere },
  {
    pattern: new RegExp(`${disabling}(?!.* -- \\S)`),
    instead: `the reason after it: ${disabling}-next-line rule -- reason`,
    where: anywhere,
  },
];

/** Calls and words that have a better replacement. */
export function bannedText({ path, text }: SourceFile): Complaint[] {
  const apply = bans.filter((ban) => (ban.where ?? /^src\//).test(path) && ban.allowed?.test(path) !== true);
  return text.split('\n').flatMap((line, at) =>
    apply.flatMap(({ pattern, instead }) => {
      const found = pattern.exec(line);
      return found === null ? [] : [`${path}:${at + 1}: ${found[0].trim()} – instead: ${instead}`];
    }),
  );
}

/** A decision that waits is no decision: PURE files have no async, await or Promise. */
export function pureWaits(file: SourceFile): Complaint[] {
  if (!isPure(file.path)) return [];
  const source = parse(file);
  const complaints: Complaint[] = [];
  const visit = (node: ts.Node): void => {
    const isPromise = ts.isIdentifier(node) && node.text === 'Promise';
    if (node.kind === ts.SyntaxKind.AsyncKeyword || ts.isAwaitExpression(node) || isPromise) {
      const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
      complaints.push(
        `${file.path}:${line}: a PURE file neither waits nor promises; return what must be done`,
      );
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return complaints;
}

/** Whether the file declares types only, and so has nothing a test could run. */
function hasOnlyTypes(file: SourceFile): boolean {
  return parse(file).statements.every(
    (statement) =>
      ts.isInterfaceDeclaration(statement) ||
      ts.isTypeAliasDeclaration(statement) ||
      (ts.isImportDeclaration(statement) &&
        statement.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword) ||
      (ts.isExportDeclaration(statement) && statement.isTypeOnly),
  );
}

/** Each PURE file that runs has its own test, at the mirrored place. */
export function untestedPure(file: SourceFile, existing: ReadonlySet<string>): Complaint[] {
  const expected = file.path.replace(/^src\//, 'test/').replace(/\.ts$/, '.test.ts');
  if (!isPure(file.path) || existing.has(expected) || hasOnlyTypes(file)) return [];
  return [`${file.path}: a PURE file has its own test, ${expected}`];
}

/** A module and what it imports, as dependency-cruiser sees them. */
export interface CruisedModule {
  source: string;
  dependencies: { resolved: string }[];
}

/** Files in src/ that nothing imports, but for the entry points (and workers, started by their path). */
export function orphans(modules: readonly CruisedModule[], entryPoints: ReadonlySet<string>): Complaint[] {
  const imported = new Set(
    modules.flatMap((module) => module.dependencies.map((dependency) => dependency.resolved)),
  );
  return modules
    .map((module) => module.source)
    .filter((path) => path.startsWith('src/') && !imported.has(path))
    .filter((path) => !entryPoints.has(path) && !/(^|[-/])worker\.ts$/.test(path))
    .map((path) => `${path}: nobody imports it; use it or delete it`);
}

/** Sources of the paths in dist/ that package.json names under `bin` and `exports`. */
export function entryPointsOf(manifest: { bin?: unknown; exports?: unknown }): Set<string> {
  const pathsIn = (value: unknown): string[] => {
    if (typeof value === 'string') return [value];
    return typeof value === 'object' && value !== null ? Object.values(value).flatMap(pathsIn) : [];
  };
  const toSource = (path: string) => path.replace(/^(\.\/)?dist\//, 'src/').replace(/(\.d\.ts|\.js)$/, '.ts');
  return new Set(pathsIn([manifest.bin, manifest.exports]).map(toSource));
}
