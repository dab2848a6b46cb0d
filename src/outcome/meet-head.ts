/** Whether the head of an answer meets the conditions of a rule. */
import type { Fields } from '../http1/fields.js';
import type { CompiledHeader, CompiledRule } from './compile-rules.js';
import type { OfBaseline } from './rule.js';
import type { HeadSeen, RuleHit } from './rule-sights.js';

/** How far into a value a pattern looks, so that the longest of heads holds nobody up. */
const MATCHED_CHARS = 1024;

/** Longest text of a find that is kept. */
export const FOUND_CHARS = 120;

/** Whether the rule looks at answers of this status. */
export function isStatus({ status }: CompiledRule, given: number): boolean {
  return (
    status === null || status === undefined || status.some(({ from, to }) => given >= from && given <= to)
  );
}

/** Null: not met; a hit: met; `open`: the body decides. */
export function meetHead(rule: CompiledRule, head: HeadSeen): RuleHit | 'open' | null {
  if (!isStatus(rule, head.status)) return null;
  let field = 'status';
  let found = '';
  for (const each of rule.fields) {
    const value = meetField(each, head.fields);
    if (value === null) return null;
    [field, found] = [`header ${each.name}`, value];
  }
  if (rule.redirect !== null && rule.redirect !== undefined) {
    const location = head.fields.get('location') ?? '';
    if (!meetsRedirect(rule.redirect, location)) return null;
    [field, found] = ['redirect', location.split('?', 1)[0] ?? ''];
  }
  if (rule.slowerThan !== null) {
    const limit = limitOf(rule.slowerThan, head.usual.firstByteMs);
    if (limit === null || head.firstByteMs <= limit) return null;
    [field, found] = ['slower_than', `${Math.round(head.firstByteMs)} ms, limit ${Math.round(limit)} ms`];
  }
  if (rule.sizeBelow !== null && (!head.isReadable || limitOf(rule.sizeBelow, head.usual.size) === null))
    return null;
  if (rule.needsBody) return 'open';
  if (rule.sizeBelow !== null) {
    return head.length === null ? 'open' : meetSize(rule, head, head.length);
  }
  return { rule, field, found: field === 'status' ? String(head.status) : found.slice(0, FOUND_CHARS) };
}

/** The hit of a body that is too small. */
export function meetSize(rule: CompiledRule, head: HeadSeen, length: number): RuleHit | null {
  const limit = rule.sizeBelow === null ? null : limitOf(rule.sizeBelow, head.usual.size);
  if (limit === null || length >= limit) return null;
  return { rule, field: 'size_below', found: `${length} bytes, limit ${Math.round(limit)}` };
}

/** A limit in bytes or milliseconds; null where what is usual is not known. */
export function limitOf(limit: number | OfBaseline, usual: number | null): number | null {
  if (typeof limit === 'number') return limit;
  return usual === null ? null : limit.share * usual;
}

/** The value that meets the test, or null. */
function meetField(test: CompiledHeader, fields: Fields): string | null {
  const { name } = test;
  if (test.present === false) return fields.has(name) ? null : '(missing)';
  if (!fields.has(name)) return null;
  if (test.is === undefined && test.contains === undefined && test.pattern === null)
    return shown(name, fields.get(name) ?? '');
  for (const value of fields.all(name)) {
    const lower = value.toLowerCase();
    const isRight = test.is === undefined || test.is.includes(lower);
    if (!isRight || (test.contains !== undefined && !test.contains.some((text) => lower.includes(text))))
      continue;
    if (test.pattern === null || test.pattern.find(value.slice(0, MATCHED_CHARS)) !== null)
      return shown(name, value);
  }
  return null;
}

/** Cookies are secrets of a kind: only their name is told. */
function shown(name: string, value: string): string {
  return name === 'set-cookie' ? `${value.split('=', 1)[0] ?? ''}=…` : value;
}

function meetsRedirect(redirect: NonNullable<CompiledRule['redirect']>, location: string): boolean {
  if (location === '') return false;
  const lower = location.toLowerCase();
  const { contains, host } = redirect;
  if (contains !== undefined && !contains.some((text) => lower.includes(text.toLowerCase()))) return false;
  if (host === undefined) return true;
  const named = /^(?:[a-z][a-z0-9+.-]*:)?\/\/(?:[^/?#@]*@)?([^/?#:]+)/.exec(lower)?.[1];
  return named !== undefined && host.some((each) => named === each || named.endsWith(`.${each}`));
}
