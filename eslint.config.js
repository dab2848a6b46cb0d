/**
 * The rules of the house that a linter can hold. Every ban says what to use instead, and where the banned
 * thing may stand. Layout is Prettier's business; imports between folders are dependency-cruiser's.
 */
import { builtinRules } from 'eslint/use-at-your-own-risk';
import prettier from 'eslint-config-prettier/flat';
import tseslint from 'typescript-eslint';

const codeFiles = ['**/*.{ts,mts,js,mjs,cjs}'];
const typedFiles = ['**/*.{ts,mts}'];
const testFiles = ['test/**/*.ts', 'bench/**/*.ts'];
const outsideTime = 'time is an argument. Take a Clock from src/core/clock.ts';
const outsideChance = 'chance is an argument. Take a Random from src/core/random.ts';
const outsideCiphers =
  'a nonce that is used twice or a tag that is cut short gives everything away. Use aeadSeal and aeadOpen of src/core/aead.ts';
const outsideEnv =
  'the environment is read once, in src/config/load.ts. Take the value from the frozen Config';

const timerNames = ['setTimeout', 'setInterval', 'setImmediate'];

const bannedGlobals = timerNames.map((name) => ({ name, message: `${name}: ${outsideTime}.` }));

const bannedClockProperties = [
  { object: 'Date', property: 'now', message: `Date.now: ${outsideTime}.` },
  { object: 'performance', property: 'now', message: `performance.now: ${outsideTime}.` },
  { object: 'process', property: 'hrtime', message: `process.hrtime: ${outsideTime}.` },
  { object: 'Math', property: 'random', message: `Math.random: ${outsideChance}.` },
  ...['globalThis', 'global'].flatMap((object) =>
    timerNames.map((property) => ({ object, property, message: `${property}: ${outsideTime}.` })),
  ),
];
const bannedEnv = { object: 'process', property: 'env', message: `process.env: ${outsideEnv}.` };

const ciphers = ['createCipheriv', 'createDecipheriv', 'default'];

const bannedImports = {
  paths: [
    { name: 'node:timers', message: `node:timers: ${outsideTime}.` },
    { name: 'node:timers/promises', message: `node:timers/promises: ${outsideTime}.` },
    { name: 'node:perf_hooks', importNames: ['performance'], message: `performance: ${outsideTime}.` },
    {
      name: 'node:crypto',
      importNames: ciphers,
      message: `Ciphers: ${outsideCiphers}.`,
    },
    {
      name: 'node:process',
      importNames: ['env', 'hrtime'],
      message: `env: ${outsideEnv}; hrtime: ${outsideTime}.`,
    },
  ],
  patterns: [
    {
      regex:
        '^(?!node:)(assert|buffer|crypto|dns|events|fs|http|https|net|os|path|stream|tls|url|util|zlib)(/|$)',
      message: 'Name Node modules with their node: prefix.',
    },
  ],
};

const withoutCipherBan = {
  ...bannedImports,
  paths: bannedImports.paths.filter(({ importNames }) => importNames !== ciphers),
};

const bannedSyntax = [
  {
    selector: "NewExpression[callee.name='Date'][arguments.length=0]",
    message: `new Date() reads the wall clock: ${outsideTime} and pass its milliseconds.`,
  },
  {
    selector: 'TSEnumDeclaration',
    message: 'An enum is neither a type nor a value alone. Use a union of string literals.',
  },
];

/** True for a function that only registers tests: a callback of `describe`, or a contract suite around one. */
function registersTests(node) {
  const isRegistration = (call) => {
    let callee = call?.type === 'CallExpression' ? call.callee : undefined;
    while (callee?.type === 'CallExpression' || callee?.type === 'MemberExpression') {
      callee = callee.type === 'CallExpression' ? callee.callee : callee.object;
    }
    return callee?.type === 'Identifier' && ['describe', 'it', 'test'].includes(callee.name);
  };
  const isDescribe = isRegistration(node.parent) && /^describe\b/.test(calleeText(node.parent));
  const statements = node.body?.type === 'BlockStatement' ? node.body.body : [];
  return (
    isDescribe || statements.some((s) => s.type === 'ExpressionStatement' && isRegistration(s.expression))
  );
}

function calleeText(call) {
  let callee = call.callee;
  while (callee.type !== 'Identifier')
    callee = callee.type === 'CallExpression' ? callee.callee : callee.object;
  return callee.name;
}

const functionLength = builtinRules.get('max-lines-per-function');

/** ESLint's own max-lines-per-function, which lets suites be as long as their tests need. */
const maxLinesPerTestFunction = {
  meta: functionLength.meta,
  create(context) {
    const report = (problem) => {
      if (!registersTests(problem.node)) context.report(problem);
    };
    return functionLength.create(Object.create(context, { report: { value: report } }));
  },
};

const sixtyLines = ['error', { max: 60, skipBlankLines: true, skipComments: true, IIFEs: true }];

const sizes = {
  'max-lines': ['error', { max: 300, skipBlankLines: false, skipComments: false }],
  'max-lines-per-function': sixtyLines,
  'max-params': ['error', 4],
};

const typedRules = {
  '@typescript-eslint/no-floating-promises': 'error',
  '@typescript-eslint/no-misused-promises': 'error',
  '@typescript-eslint/switch-exhaustiveness-check': [
    'error',
    { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: true },
  ],
  '@typescript-eslint/no-explicit-any': 'error',
  '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
  '@typescript-eslint/consistent-type-exports': 'error',
  '@typescript-eslint/no-unused-vars': [
    'error',
    { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true, caughtErrors: 'none' },
  ],
  '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
  '@typescript-eslint/return-await': ['error', 'in-try-catch'],
  // The in-memory half of an asynchronous port has nothing to await, and still must reject and not throw.
  '@typescript-eslint/require-await': 'off',
  eqeqeq: ['error', 'always'],
};

/** Tests read JSON and captured output; what they assert is their type check. */
const relaxedInTests = {
  '@typescript-eslint/no-unsafe-argument': 'off',
  '@typescript-eslint/no-unsafe-assignment': 'off',
  '@typescript-eslint/no-unsafe-call': 'off',
  '@typescript-eslint/no-unsafe-member-access': 'off',
  '@typescript-eslint/no-unsafe-return': 'off',
  '@typescript-eslint/unbound-method': 'off',
  'max-lines-per-function': 'off',
  'turnpike/max-lines-per-function': sixtyLines,
};

export default tseslint.config(
  { ignores: ['dist/**', 'dist-bench/**', 'dist-fuzz/**', 'coverage/**', 'bench/out/**', 'data/**'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  { files: codeFiles, rules: sizes },
  {
    files: typedFiles,
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: typedRules,
  },
  {
    files: ['src/**/*.ts'],
    rules: {
      'no-restricted-globals': ['error', ...bannedGlobals],
      'no-restricted-properties': ['error', ...bannedClockProperties, bannedEnv],
      'no-restricted-imports': ['error', bannedImports],
      'no-restricted-syntax': ['error', ...bannedSyntax],
    },
  },
  {
    // The only places that may ask for time and chance.
    files: ['src/core/clock.ts', 'src/core/random.ts', 'src/app.ts'],
    rules: {
      'no-restricted-globals': 'off',
      'no-restricted-imports': 'off',
      'no-restricted-properties': ['error', bannedEnv],
      'no-restricted-syntax': 'off',
    },
  },
  {
    // The only place that may encrypt.
    files: ['src/core/aead.ts'],
    rules: { 'no-restricted-imports': ['error', withoutCipherBan] },
  },
  {
    // The only place that may read the environment.
    files: ['src/config/load.ts'],
    rules: { 'no-restricted-properties': ['error', ...bannedClockProperties] },
  },
  {
    files: testFiles,
    plugins: { turnpike: { rules: { 'max-lines-per-function': maxLinesPerTestFunction } } },
    rules: relaxedInTests,
  },
  prettier,
);
