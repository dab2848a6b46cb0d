/** Patterns for host names, compared label by label: `*.example.com` never means `evil-example.com`. */
import { readHost } from './host.js';

/** Whether a canonical host matches. */
export type HostMatcher = (host: string) => boolean;

/**
 * Compiles `example.com`, `*.example.com` (any number of labels in place of the star, at least one; not the domain
 * itself), `*` (every host), or an address. The name is folded as targets are. Null where the text is no pattern.
 */
export function compileHostPattern(pattern: string): HostMatcher | null {
  if (pattern === '*') return () => true;
  const isWild = pattern.startsWith('*.');
  const text = isWild ? pattern.slice(2) : pattern;
  const bare = text.includes(':') && !text.startsWith('[') ? `[${text}]` : text;
  const result = readHost(Buffer.from(bare, 'utf8').toString('latin1'));
  if (result.kind === 'malformed') return null;
  const { host, addressClass } = result.facts;
  if (!isWild) return (candidate) => candidate === host;
  const isName = addressClass === 'name' || addressClass === 'special_name';
  return isName ? (candidate) => candidate.length > host.length + 1 && candidate.endsWith(`.${host}`) : null;
}
