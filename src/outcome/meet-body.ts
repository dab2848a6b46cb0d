/** Whether the body of an answer meets the conditions of a rule whose head conditions hold. */
import type { CompiledRule } from './compile-rules.js';
import type { Finds } from './literals.js';
import { FOUND_CHARS, meetSize } from './meet-head.js';
import type { BodySeen, HeadStage, RuleHit } from './rule-sights.js';

/** A body and what was found in it. */
export interface Look {
  readonly stage: HeadStage;
  readonly body: BodySeen;
  readonly finds: Finds | null;
  readonly texts: readonly string[];
  readonly lookAt: number;
  /** The text of the body, once a pattern or selector wanted it. */
  decoded: string | null;
}

/** The hit, or null. */
export function meetBody(rule: CompiledRule, look: Look): RuleHit | null {
  const { body, stage } = look;
  let hit: RuleHit | null = null;
  if (rule.sizeBelow !== null) {
    const length = stage.head.length ?? body.length;
    hit = length === null ? null : meetSize(rule, stage.head, length);
    if (hit === null || !rule.needsBody) return hit;
  }
  for (const group of rule.literals) {
    const literal = group.find((each) => isWithin(look.finds, each, rule.within ?? look.lookAt));
    if (literal === undefined) return null;
    hit = { rule, field: 'body', found: look.texts[literal] ?? '' };
  }
  if (rule.pattern !== null) {
    const found = rule.pattern.find(textOf(look).slice(0, rule.within ?? look.lookAt));
    if (found === null) return null;
    hit = { rule, field: 'body', found: found.slice(0, FOUND_CHARS) };
  }
  return rule.needsWhole ? meetMissing(rule, look) : hit;
}

/** Whether one literal of each group was found. */
export function meetsLiterals(rule: CompiledRule, finds: Finds | null, within: number): boolean {
  return rule.literals.every((group) => group.some((literal) => isWithin(finds, literal, within)));
}

function isWithin(finds: Finds | null, literal: number, within: number): boolean {
  const at = finds?.[literal] ?? -1;
  return at !== -1 && at <= within;
}

/** Only a page that is there to its end can lack something. */
function meetMissing(rule: CompiledRule, look: Look): RuleHit | null {
  if (!look.body.isWhole) return null;
  if (rule.missingTexts.some((each) => isWithin(look.finds, each, Infinity))) return null;
  if (rule.missingSelector?.(textOf(look)) === true) return null;
  const texts = rule.missingTexts.map((each) => look.texts[each] ?? '');
  return { rule, field: 'missing', found: texts.join(', ').slice(0, FOUND_CHARS) || 'the selector' };
}

function textOf(look: Look): string {
  const { bytes } = look.body;
  look.decoded ??= Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return look.decoded;
}
