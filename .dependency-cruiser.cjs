/**
 * Who may import whom: the table of ARCHITECTURE.md, turned into dependency-cruiser rules.
 * Run by test/tidy.test.ts. To change an edge, change the table here and in ARCHITECTURE.md together.
 */

const pureFolders = ['http1', 'protocol', 'facts', 'upstreams', 'routing', 'request', 'outcome', 'checkup'];
const pureOfCredentials = [
  ...['acquire-context', 'credential-filters', 'credential-input', 'credential-secret', 'credential-status'],
  ...['import-lines', 'pick-trees', 'policy-chain', 'policy-document', 'wake-heap'],
];
const pureFiles = [
  ...['^src/vault/envelope\\.ts$', '^src/vault/keyring\\.ts$'],
  ...['^src/audit/chain\\.ts$', '^src/audit/check\\.ts$'],
  `^src/credentials/(${pureOfCredentials.join('|')})\\.ts$`,
];

/** folder → folders it may import; `types` may be imported with `import type` only. */
const importTable = {
  core: { imports: [], types: ['http1'] },
  http1: { imports: ['core'] },
  protocol: { imports: ['core'] },
  facts: { imports: ['core'] },
  upstreams: { imports: ['core', 'protocol', 'facts'] },
  request: { imports: ['core', 'protocol'], types: ['http1'] },
  outcome: { imports: ['core', 'http1', 'protocol', 'facts'], types: ['upstreams'] },
  routing: { imports: ['core', 'protocol', 'upstreams', 'outcome'], types: ['facts', 'request'] },
  checkup: { imports: ['core'], types: ['outcome'] },
  state: { imports: ['core', 'facts'], types: ['checkup'] },
  storage: { imports: ['core'] },
  exits: { imports: ['core', 'protocol', 'facts', 'upstreams', 'state', 'open'] },
  open: { imports: ['core', 'http1', 'protocol'], types: ['upstreams'] },
  vault: { imports: ['core', 'storage'] },
  audit: { imports: ['core', 'storage'] },
  credentials: { imports: ['core', 'protocol', 'facts', 'state', 'storage', 'vault', 'audit'] },
  alerts: { imports: ['core', 'protocol', 'open', 'credentials'] },
  access: { imports: ['core', 'protocol', 'facts', 'request', 'storage', 'audit'], types: ['credentials'] },
  telemetry: { imports: ['core'] },
  gateway: {
    imports: [
      'core',
      ...pureFolders.filter((name) => name !== 'checkup'),
      'state',
      'exits',
      'open',
      ...['vault', 'audit', 'credentials', 'access', 'telemetry'],
    ],
  },
  admin: {
    imports: [
      ...['core', 'facts', 'upstreams', 'routing', 'outcome'],
      ...['exits', 'state', 'storage', 'vault', 'audit', 'credentials', 'access', 'telemetry'],
    ],
  },
  config: { imports: ['core', ...pureFolders] },
  client: { imports: ['core'] },
  cli: { imports: ['app', 'config', 'core', 'client', 'checkup'] },
};

/** Libraries that stay at one edge, so that no other folder sees their types. */
const libraryHomes = {
  ioredis: ['^src/state/redis/'],
  pg: ['^src/storage/postgres'],
  kysely: ['^src/storage/'],
  libsql: ['^src/storage/sqlite'],
  pino: ['^src/telemetry/'],
  'prom-client': ['^src/telemetry/'],
  fastify: ['^src/admin/'],
};

const ioModules = ['net', 'http', 'http2', 'https', 'tls', 'dgram', 'dns', 'fs', 'timers', 'child_process'];
const clientLibraries = ['ioredis', 'pg', 'kysely', 'libsql', 'pino', 'prom-client', 'fastify', 'undici'];

const insideFolder = (folder) => (folder === 'app' ? '^src/app(\\.ts$|/)' : `^src/${folder}/`);
const packageNamed = (names) => `(^|/node_modules/)(${names.join('|')})(/|$)`;

/** The two rules of one row: folders never imported, and folders imported for their types only. */
function rulesOfRow([folder, { imports, types = [] }]) {
  const from = { path: insideFolder(folder) };
  const known = [folder, ...imports, ...types];
  const rules = [
    {
      name: `${folder}-imports`,
      comment: `${folder} may import ${[...imports, ...types.map((t) => `${t} (type)`)].join(', ') || 'nothing'}`,
      severity: 'error',
      from,
      to: { path: '^src/', pathNot: known.map(insideFolder) },
    },
  ];
  if (types.length > 0) {
    rules.push({
      name: `${folder}-imports-types-only`,
      comment: `${folder} may import types only from ${types.join(', ')}: use import type`,
      severity: 'error',
      from,
      to: { path: types.map(insideFolder), dependencyTypesNot: ['type-only'] },
    });
  }
  return rules;
}

const libraryRules = Object.entries(libraryHomes).map(([library, homes]) => ({
  name: `${library}-at-home`,
  comment: `${library} is known only to ${homes.join(', ')}: go through the port`,
  severity: 'error',
  from: { path: '^src/', pathNot: homes },
  to: { path: packageNamed([library]) },
}));

const pureFrom = { path: [...pureFolders.map(insideFolder), ...pureFiles] };

const pureRules = [
  {
    name: 'pure-without-io',
    comment: 'A PURE folder decides on values: take bytes or facts as arguments, return what must be done',
    severity: 'error',
    from: pureFrom,
    to: { path: `^(node:)?(${ioModules.join('|')})(/|$)`, dependencyTypes: ['core'] },
  },
  {
    name: 'pure-without-clients',
    comment: 'A PURE folder knows no client library: the adapter translates',
    severity: 'error',
    from: pureFrom,
    to: { path: packageNamed(clientLibraries) },
  },
];

const generalRules = [
  {
    name: 'app-without-cli',
    comment: 'app is the composition root: cli starts it, not the other way round',
    severity: 'error',
    from: { path: insideFolder('app') },
    to: { path: '^src/cli/' },
  },
  {
    name: 'known-folders',
    comment: 'A new folder in src/ needs a row in importTable (and in ARCHITECTURE.md) first',
    severity: 'error',
    from: { path: '^src/', pathNot: [...Object.keys(importTable), 'app'].map(insideFolder) },
    to: {},
  },
  {
    name: 'no-cycles',
    comment: 'Two files that need each other are one file, or miss a third',
    severity: 'error',
    from: { path: '^src/' },
    to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
  },
  {
    name: 'src-alone',
    comment: 'What is published must not need tests, benchmarks or scripts',
    severity: 'error',
    from: { path: '^src/' },
    to: { path: '^(test|bench|scripts)/' },
  },
  {
    name: 'runtime-dependencies',
    comment: 'What src/ imports stands under dependencies in package.json',
    severity: 'error',
    from: { path: '^src/' },
    to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'resolvable',
    comment: 'The imported file or package does not exist',
    severity: 'error',
    from: { path: '^src/' },
    to: { couldNotResolve: true },
  },
];

module.exports = {
  forbidden: [
    ...Object.entries(importTable).flatMap(rulesOfRow),
    ...libraryRules,
    ...pureRules,
    ...generalRules,
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json', '.d.ts'],
    },
  },
};
