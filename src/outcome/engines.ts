/**
 * The engines behind `matches` and `missing`: RE2JS, whose time is linear in the text, and the selectors of
 * htmlparser2 with css-select. They are loaded when the first rule wants them, since most configurations have none.
 */
import { createRequire } from 'node:module';
import type * as cssSelect from 'css-select';
import type * as htmlparser2 from 'htmlparser2';
import type * as re2js from 're2js';

const load = createRequire(import.meta.url);

/** Longest pattern, in characters. */
export const MAX_PATTERN = 512;

/** What a text engine says about a text. */
export interface TextTest {
  /** What was found, or null. */
  find(text: string): string | null;
}

/** A pattern that was compiled, or why it could not be. */
export type Compiled<T> =
  { readonly kind: 'ok'; readonly value: T } | { readonly kind: 'bad'; readonly why: string };

const bad = (why: string): { kind: 'bad'; why: string } => ({ kind: 'bad', why });

/** Compiles a pattern, ASCII case aside. Back-references and the like don't exist in this engine and are refused. */
export function compilePattern(pattern: string): Compiled<TextTest> {
  if (pattern.length > MAX_PATTERN) return bad(`the pattern has more than ${MAX_PATTERN} characters`);
  const { RE2JS } = load('re2js') as typeof re2js;
  try {
    const program = RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE);
    const find = (text: string): string | null => {
      const matcher = program.matcher(text);
      return matcher.find() ? (matcher.group() ?? '') : null;
    };
    return { kind: 'ok', value: { find } };
  } catch (error) {
    return bad(`the pattern can not be read: ${firstLine(error)}`);
  }
}

/** Compiles a CSS selector into the question whether a page has such an element. */
export function compileSelector(selector: string): Compiled<(html: string) => boolean> {
  if (selector.length > MAX_PATTERN) return bad(`the selector has more than ${MAX_PATTERN} characters`);
  const css = load('css-select') as typeof cssSelect;
  try {
    const query = css.compile(selector);
    const has = (html: string): boolean => {
      const { parseDocument } = load('htmlparser2') as typeof htmlparser2;
      return css.selectOne(query, parseDocument(html).children as never) !== null;
    };
    return { kind: 'ok', value: has };
  } catch (error) {
    return bad(`the selector can not be read: ${firstLine(error)}`);
  }
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
}

const META = /[.^$*+?()[\]{}|\\]/;

/**
 * The longest text that everything a pattern matches must have, or null where none of at least three characters is
 * sure. Groups and classes are skipped, a choice on the top level makes nothing sure.
 */
export function requiredLiteral(pattern: string): string | null {
  const runs: string[] = [''];
  for (let at = 0; at < pattern.length;) {
    if (pattern[at] === '|') return null;
    const { text, length } = unitAt(pattern, at);
    const after = pattern[at + length];
    const isOptional = after === '?' || after === '*' || after === '{';
    if (text !== null && !isOptional) runs.push((runs.pop() ?? '') + text);
    if (text === null || isOptional || after === '+') runs.push('');
    at += length + quantifierLength(pattern, at + length);
  }
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), '');
  return longest.length >= 3 ? longest : null;
}

/** One unit of a pattern: the text that it stands for, or null where that is open. */
function unitAt(pattern: string, at: number): { text: string | null; length: number } {
  const first = pattern[at] ?? '';
  if (first === '\\') {
    const second = pattern[at + 1] ?? '';
    if (/[A-Za-z0-9]/.test(second)) return { text: null, length: escapeLength(pattern, at) };
    return { text: second, length: 2 };
  }
  if (first === '(') return { text: null, length: groupLength(pattern, at) };
  if (first === '[') return { text: null, length: classLength(pattern, at) };
  return { text: META.test(first) ? null : first, length: 1 };
}

/** `\Q…\E` and `\x{…}`, `\p{…}` are longer than two. */
function escapeLength(pattern: string, at: number): number {
  if (pattern[at + 1] === 'Q') {
    const end = pattern.indexOf('\\E', at + 2);
    return (end === -1 ? pattern.length : end + 2) - at;
  }
  if (/[xpP]/.test(pattern[at + 1] ?? '')) {
    if (pattern[at + 2] !== '{') return pattern[at + 1] === 'x' ? 4 : 3;
    const end = pattern.indexOf('}', at);
    return (end === -1 ? pattern.length : end + 1) - at;
  }
  return 2;
}

function quantifierLength(pattern: string, at: number): number {
  const found = /^(?:[?*+]|\{[^}]*\})\??/.exec(pattern.slice(at));
  return found === null ? 0 : found[0].length;
}

function classLength(pattern: string, at: number): number {
  let end = at + 1;
  if (pattern[end] === '^') end++;
  if (pattern[end] === ']') end++;
  while (end < pattern.length && pattern[end] !== ']') end += pattern[end] === '\\' ? 2 : 1;
  return end + 1 - at;
}

function groupLength(pattern: string, at: number): number {
  let depth = 0;
  for (let end = at; end < pattern.length;) {
    const sign = pattern[end];
    if (sign === '[') {
      end += classLength(pattern, end);
      continue;
    }
    if (sign === '(') depth++;
    if (sign === ')' && --depth === 0) return end + 1 - at;
    end += sign === '\\' ? 2 : 1;
  }
  return pattern.length - at;
}
