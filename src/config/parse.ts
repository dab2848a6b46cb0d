/** From a tree to settings by the schema: everything that is wrong at once, section by section. */
import type { z } from 'zod';
import { knownKeysAt } from './json-schema.js';
import { laterWord } from './later-keys.js';
import { findingsOf } from './problems.js';
import type { Finding, Path } from './problems.js';
import { configSchema } from './schema.js';
import type { Settings } from './schema.js';
import type { Tree } from './document.js';

function valueAt(tree: unknown, path: Path): unknown {
  let value = tree;
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

function explained(issue: z.core.$ZodIssue, tree: Tree): Finding[] {
  return findingsOf(issue, [], knownKeysAt).map((finding) => {
    const later = laterWord(finding.path, valueAt(tree, finding.path));
    return later === null ? finding : { ...finding, message: later };
  });
}

/** What came of it: settings, or what has to be mended first. */
export type Parsed =
  | { readonly kind: 'settings'; readonly settings: Settings }
  | { readonly kind: 'findings'; readonly findings: readonly Finding[] };

/** Checks a tree against the schema and fills in defaults. */
export function parseSettings(tree: Tree): Parsed {
  const result = configSchema.safeParse(tree, { reportInput: true });
  if (result.success) return { kind: 'settings', settings: result.data };
  return { kind: 'findings', findings: result.error.issues.flatMap((issue) => explained(issue, tree)) };
}
