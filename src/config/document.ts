/**
 * YAML text into a plain tree, and paths of the tree back into line numbers. What the parser says is translated
 * by its code: its own messages quote the file, and the file may hold passwords.
 */
import { LineCounter, isMap, isNode, isPair, isScalar, isSeq, parseDocument } from 'yaml';
import type { Document, YAMLError } from 'yaml';
import type { Path, Problem } from './problems.js';

/** A tree of settings as they are written. */
export type Tree = Record<string, unknown>;

/** What came of reading the text. */
export type ReadDocument =
  | { readonly kind: 'tree'; readonly tree: Tree; readonly lineOf: (path: Path) => number | null }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] };

const meanings: Readonly<Record<string, string>> = {
  ALIAS_PROPS: 'an alias must not have an anchor or a tag',
  BAD_ALIAS: 'an alias to an anchor that does not exist',
  BAD_DIRECTIVE: 'a bad % directive',
  BAD_DQ_ESCAPE: 'a bad \\ escape in double quotes; use single quotes for text with backslashes',
  BAD_INDENT: 'the indentation is wrong',
  BAD_SCALAR_START: 'text that begins with a reserved character; put it in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a list or map where a name should be',
  BLOCK_IN_FLOW: 'an indented list or map inside brackets',
  COMMENT_SPACE: 'a # needs a blank before it to begin a comment',
  DUPLICATE_KEY: 'the same setting twice',
  MISSING_CHAR: 'something is missing: a colon, a comma, a bracket or a quote',
  MULTILINE_IMPLICIT_KEY: 'a colon is missing, or a text of several lines needs quotes',
  MULTIPLE_DOCS: 'more than one document (---) in the file',
  TAB_AS_INDENT: 'a tab in the indentation; use blanks',
  TAG_RESOLVE_FAILED: 'a tag (!) that does not exist; put text that begins with ! in quotes',
  UNEXPECTED_TOKEN: 'something unexpected; text with : or # or { or [ in it needs quotes',
};

function syntaxProblem(error: YAMLError, counter: LineCounter): Problem {
  const meaning = meanings[error.code] ?? 'the file can not be understood here';
  return { path: '', message: `not valid YAML: ${meaning}`, line: counter.linePos(error.pos[0]).line };
}

/** Empty settings (`clients:` with nothing behind it) count as left out. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutNulls(inner)]));
}

function lineFinder(document: Document, counter: LineCounter): (path: Path) => number | null {
  const line = (node: unknown): number | null => {
    const range = isNode(node) ? node.range : null;
    return range === null || range === undefined ? null : counter.linePos(range[0]).line;
  };
  return (path) => {
    let node: unknown = document.contents;
    let found = line(node);
    for (const step of path) {
      if (isMap(node)) {
        const pair = node.items.find(
          (item) => isPair(item) && isScalar(item.key) && String(item.key.value) === step,
        );
        if (pair === undefined) return found;
        found = line(pair.key) ?? found;
        node = pair.value;
      } else if (isSeq(node) && typeof step === 'number') {
        node = node.items[step];
        found = line(node) ?? found;
      } else return found;
    }
    return found;
  };
}

/** Reads the text of a file. An empty file is an empty tree. */
export function readDocument(text: string): ReadDocument {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false, stringKeys: true });
  const errors = [...document.errors, ...document.warnings];
  if (errors.length > 0)
    return { kind: 'problems', problems: errors.map((error) => syntaxProblem(error, counter)) };
  const whole = (message: string): ReadDocument => ({
    kind: 'problems',
    problems: [{ path: '', message, line: 1 }],
  });
  let tree: unknown;
  try {
    tree = withoutNulls(document.toJS({ maxAliasCount: 100 })) ?? {};
  } catch {
    return whole('not valid YAML: too many aliases');
  }
  if (typeof tree !== 'object' || tree === null || Array.isArray(tree)) {
    return whole("expected settings by name, such as 'listen: { proxy: 127.0.0.1:8080 }'");
  }
  return { kind: 'tree', tree: { ...tree }, lineOf: lineFinder(document, counter) };
}
