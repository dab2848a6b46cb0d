/** Rules from their text to what pages meet, for tests. */
import { loadRules } from '../../src/config/rule-file.js';
import { Fields } from '../../src/http1/fields.js';
import { compileRules } from '../../src/outcome/compile-rules.js';
import type { HeadSeen } from '../../src/outcome/rule-sights.js';
import { RuleBook } from '../../src/outcome/rules.js';

export const LOOK_AT = 1024;

export function bookOf(rules: string): RuleBook {
  const loaded = loadRules(`detection: { fingerprints: false }\nrules: ${rules}`);
  if (loaded.kind === 'problems') throw new Error(JSON.stringify(loaded.problems));
  const compiled = compileRules(loaded.rules);
  if (compiled.kind === 'problems') throw new Error(JSON.stringify(compiled.problems));
  return new RuleBook(compiled.compiled, LOOK_AT);
}

export interface Page {
  readonly status?: number;
  readonly fields?: readonly (readonly [string, string])[];
  readonly body?: string;
  readonly isWhole?: boolean;
  readonly length?: number | null;
  readonly firstByteMs?: number;
  readonly usual?: HeadSeen['usual'];
  readonly isReadable?: boolean;
  readonly host?: string;
}

export const headOf = (page: Page): HeadSeen => ({
  status: page.status ?? 200,
  fields: Fields.of(...(page.fields ?? [])),
  firstByteMs: page.firstByteMs ?? 10,
  usual: page.usual ?? { size: null, firstByteMs: null },
  length: page.length === undefined ? (page.body ?? '').length : page.length,
  isReadable: page.isReadable ?? true,
});

export const stageOf = (rules: string, page: Page) =>
  bookOf(rules)
    .at({ host: page.host ?? 'www.shop.example', site: 'shop.example' })
    .judgeHead(headOf(page));

/** Names of the rules that a page meets, each with the condition and what was found. */
export function met(rules: string, page: Page): string[] {
  const place = bookOf(rules).at({ host: page.host ?? 'www.shop.example', site: 'shop.example' });
  const stage = place.judgeHead(headOf(page));
  const { body = '', isWhole = true } = page;
  const hits =
    stage.pending.length === 0
      ? stage.hits
      : place.judgeBody(stage, { bytes: Buffer.from(body), isWhole, length: isWhole ? body.length : null });
  return hits.map(({ rule, field, found }) => `${rule.spec.name} ${field}: ${found}`);
}

export const one = (when: string, page: Page): string | undefined =>
  met(`[{ name: r, when: ${when} }]`, page)[0];
