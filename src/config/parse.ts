/** From a tree to settings by the schema: everything that is wrong at once, section by section. */
import { knownKeysAt } from './json-schema.js';
import { findingsOf } from './problems.js';
import type { Finding } from './problems.js';
import { configSchema } from './schema.js';
import type { Settings } from './schema.js';
import type { Tree } from './document.js';

/** What came of it: settings, or what has to be mended first. */
export type Parsed =
  | { readonly kind: 'settings'; readonly settings: Settings }
  | { readonly kind: 'findings'; readonly findings: readonly Finding[] };

/** Checks a tree against the schema and fills in defaults. */
export function parseSettings(tree: Tree): Parsed {
  const result = configSchema.safeParse(tree, { reportInput: true });
  if (result.success) return { kind: 'settings', settings: result.data };
  return {
    kind: 'findings',
    findings: result.error.issues.flatMap((issue) => findingsOf(issue, [], knownKeysAt)),
  };
}
