/**
 * What is wrong with a configuration, in words that hold no value from it: a password written in the wrong
 * place must not end up on a screen or in a log. Names of settings are shown only when they look like names.
 */
import type { z } from 'zod';
import { laterKey } from './later-keys.js';
import { nearest } from './near-miss.js';

/** Steps from the top of the file to a value. */
export type Path = readonly (string | number)[];

/** One thing to mend, or (as a warning) to think about. */
export interface Problem {
  /** `pools.dc.upstreams[2].url`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
  /** Line in the file, from 1; null when the value does not come from the file or is missing. */
  readonly line: number | null;
  /** The flag or variable that it comes from; not there for what comes from the file. */
  readonly origin?: string;
}

/** A problem before its line is known. */
export interface Finding {
  readonly path: Path;
  readonly message: string;
}

/** A key as it may be shown. */
export function showName(name: string): string {
  return /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/.test(name) ? name : '(…)';
}

/** `pools.dc.upstreams[2].url` */
export function formatPath(path: Path): string {
  return path
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`;
      return index === 0 ? showName(step) : `.${showName(step)}`;
    })
    .join('');
}

/** `turnpike.yaml:12: pools.dc.upstreams[2].url: expected …`, or `listen.proxy: expected … (from --listen)` */
export function formatProblem(problem: Problem, file: string | null): string {
  const { path, message, line, origin } = problem;
  if (origin !== undefined) return `${path}: ${message} (from ${origin})`;
  const place = file === null || line === null ? (file ?? '') : `${file}:${line}`;
  return [place, path, message].filter((part) => part !== '').join(': ');
}

type Issue = z.core.$ZodIssue;

const pathOf = (path: PropertyKey[]): Path => path.map((step) => (typeof step === 'symbol' ? '(…)' : step));

/** The branch of a union that the value was most likely meant for: the one whose first fault lies deepest. */
function likelyBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] {
  const depth = (issues: readonly Issue[]): number =>
    Math.max(
      ...issues.map((issue) =>
        issue.code === 'invalid_type' && issue.path.length === 0 ? -1 : issue.path.length,
      ),
      -1,
    );
  return branches.reduce(
    (best, branch) => (depth(branch) > depth(best) ? branch : best),
    branches.at(0) ?? [],
  );
}

function unknownKey(path: Path, key: string, known: readonly string[]): Finding {
  const where = [...path, key];
  const later = laterKey(path, key);
  if (later !== null) return { path: where, message: later };
  const near = nearest(key, known);
  const hint = near === null ? '' : `; did you mean ${near}?`;
  return { path: where, message: `unknown setting${hint}` };
}

/** What a zod issue says, as findings. `knownAt` tells which keys the schema knows at a path. */
export function findingsOf(issue: Issue, above: Path, knownAt: (path: Path) => readonly string[]): Finding[] {
  const path = [...above, ...pathOf(issue.path)];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => unknownKey(path, key, knownAt(path)));
    case 'invalid_union':
      return unionFindings(issue, path, knownAt);
    case 'invalid_key':
    case 'invalid_element':
      return [{ path, message: issue.issues.at(0)?.message ?? issue.message }];
    case 'invalid_type':
      return [{ path, message: issue.input === undefined ? missing(inOurWords(issue)) : inOurWords(issue) }];
    default:
      return [{ path, message: inOurWords(issue) }];
  }
}

const inOurWords = (issue: Issue): string => issue.message.replace(/^Invalid input: /, '');

function missing(message: string): string {
  return message.startsWith('expected ') ? `is missing; ${message}` : message;
}

function unionFindings(
  issue: Extract<Issue, { code: 'invalid_union' }>,
  path: Path,
  knownAt: (path: Path) => readonly string[],
): Finding[] {
  if (issue.message !== 'Invalid input' || issue.errors.length === 0)
    return [{ path, message: issue.message }];
  return likelyBranch(issue.errors).flatMap((nested) => findingsOf(nested, path, knownAt));
}
