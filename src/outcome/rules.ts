/**
 * Which rules an answer or a fault meets, in two steps: what its head decides, and what wants its body. It does not
 * know where the body comes from, nor what follows from a match.
 */
import type { Fields } from '../http1/fields.js';
import type { CompiledRule, CompiledRules } from './compile-rules.js';
import type { FaultFacts } from './facts.js';
import type { RuleEvidence, RuleFinding } from './finding.js';
import { meetBody, meetsLiterals, type Look } from './meet-body.js';
import { isStatus, limitOf, meetHead } from './meet-head.js';
import type { BodySeen, HeadSeen, HeadStage, RuleHit, RulePlace } from './rule-sights.js';

const NO_HITS: readonly RuleHit[] = [];
const NO_RULES: readonly CompiledRule[] = [];

/** The rules in force at one place. */
export class PlaceRules {
  private readonly byStatus = new Map<number, readonly CompiledRule[]>();
  private readonly byStatusUnread = new Map<number, readonly CompiledRule[]>();
  private readonly byField = new Map<string, CompiledRule[]>();
  private readonly plain: CompiledRule[] = [];
  private readonly ofFaults: CompiledRule[] = [];

  /** @param lookAt how far bodies are looked at where a rule says nothing else */
  constructor(
    private readonly compiled: CompiledRules,
    rules: readonly CompiledRule[],
    private readonly lookAt: number,
  ) {
    for (const rule of rules) {
      const [first] = rule.fields;
      if (rule.faults !== null) this.ofFaults.push(rule);
      else if (first === undefined || first.present === false) this.plain.push(rule);
      else this.byField.set(first.name, [...(this.byField.get(first.name) ?? []), rule]);
    }
  }

  /** Rules that a fault meets. */
  judgeFault(fault: FaultFacts): readonly RuleHit[] {
    if (this.ofFaults.length === 0) return NO_HITS;
    const met = this.ofFaults.filter(({ faults }) => faults?.includes(fault.fault) === true);
    return met.map((rule) => ({ rule, field: 'connect_fault', found: `${fault.fault} (${fault.phase})` }));
  }

  /** The first step. */
  judgeHead(head: HeadSeen): HeadStage {
    let hits: RuleHit[] | null = null;
    let pending: CompiledRule[] | null = null;
    const consider = (rule: CompiledRule): void => {
      const hit = meetHead(rule, head);
      if (hit === null) return;
      if (hit === 'open') {
        if (head.isReadable || !rule.needsBody) (pending ??= []).push(rule);
      } else if (hits === null || !isKnown(hits, hit)) (hits ??= []).push(hit);
    };
    for (const rule of this.ofStatus(head.status, head.isReadable)) consider(rule);
    const { fields } = head;
    if (this.byField.size > 0) {
      for (let at = 0; at < fields.length; at++) {
        const name = fields.lowerNameAt(at);
        const asked = this.byField.get(name);
        // A field that stands there twice is asked about once.
        if (asked !== undefined && isFirst(fields, name, at)) asked.forEach(consider);
      }
    }
    return this.stage(head, hits ?? NO_HITS, pending ?? NO_RULES);
  }

  /** The second step: all rules that were met. */
  judgeBody(stage: HeadStage, body: BodySeen): readonly RuleHit[] {
    const { literals } = this.compiled;
    const wantsText = stage.pending.some((rule) => rule.needsBody);
    const finds = literals === null || !wantsText ? null : literals.find(body.bytes, stage.lookAt);
    const look: Look = { stage, body, finds, texts: this.compiled.texts, lookAt: this.lookAt, decoded: null };
    const all = [...stage.hits];
    for (const rule of stage.pending) {
      const hit = meetBody(rule, look);
      if (hit !== null && !isKnown(all, hit)) all.push(hit);
    }
    return all;
  }

  /** Whether a pattern or selector would be run on this text: all that can be told without it was found. */
  wantsEngine(stage: HeadStage, bytes: Uint8Array): boolean {
    const { literals } = this.compiled;
    const slow = stage.pending.filter((rule) => rule.pattern !== null || rule.missingSelector !== null);
    if (slow.length === 0) return false;
    const finds = literals?.find(bytes, stage.lookAt) ?? null;
    return slow.some((rule) => meetsLiterals(rule, finds, rule.within ?? this.lookAt));
  }

  private stage(head: HeadSeen, hits: readonly RuleHit[], pending: readonly CompiledRule[]): HeadStage {
    const decided = decisive(hits);
    // What stands behind the rule that decides can change nothing more.
    const open = decided === null ? pending : pending.filter(({ order }) => order < decided.rule.order);
    let lookAt = 0;
    let holdBytes = 0;
    for (const rule of open) {
      const within = rule.needsBody ? (rule.within ?? this.lookAt) : 0;
      lookAt = Math.max(lookAt, within);
      holdBytes = Math.max(holdBytes, bytesFor(rule, head, within));
    }
    return { head, hits, pending: open, lookAt, holdBytes };
  }

  /** Rules that ask for no field, by the status that they want; without those of bodies where none can be read. */
  private ofStatus(status: number, isReadable: boolean): readonly CompiledRule[] {
    const known = isReadable ? this.byStatus : this.byStatusUnread;
    let rules = known.get(status);
    if (rules === undefined) {
      rules = this.plain.filter((rule) => isStatus(rule, status) && (isReadable || !rule.needsBody));
      // Statuses have three digits, so this holds a thousand lists at most.
      known.set(status, rules);
    }
    return rules;
  }
}

/** The hit that decides: the first in the order of the rules that is more than counted. */
export function decisive(hits: readonly RuleHit[]): RuleHit | null {
  let best: RuleHit | null = null;
  for (const hit of hits) {
    if (!hit.rule.spec.shadow && (best === null || hit.rule.order < best.rule.order)) best = hit;
  }
  return best;
}

/** What a decisive hit says to verdicts and records. */
export function findingOf(hit: RuleHit, about: Omit<RuleEvidence, 'field' | 'found'>): RuleFinding {
  const { name, then, scope } = hit.rule.spec;
  return { name, actions: then, scope, evidence: { ...about, field: hit.field, found: hit.found } };
}

/** A rule of several alternatives is met once. */
function isKnown(hits: readonly RuleHit[], { rule }: RuleHit): boolean {
  return hits.some((hit) => hit.rule.order === rule.order);
}

/** How much must have come before the rule can be told; a body over its size has failed it. */
function bytesFor(rule: CompiledRule, head: HeadSeen, within: number): number {
  if (rule.sizeBelow === null || head.length !== null) return within;
  const limit = limitOf(rule.sizeBelow, head.usual.size) ?? 0;
  return rule.needsBody ? Math.min(limit, within) : limit;
}

function isFirst(fields: Fields, name: string, at: number): boolean {
  for (let before = 0; before < at; before++) if (fields.lowerNameAt(before) === name) return false;
  return true;
}

/** Places whose rules are kept at hand. */
const MOST_PLACES = 2000;

/** All rules in force, by place. */
export class RuleBook {
  private readonly placed = new Map<string, PlaceRules>();
  /** Places with the same rules share them. */
  private readonly shared = new Map<string, PlaceRules>();

  /** @param lookAt how far bodies are looked at where a rule says nothing else */
  constructor(
    readonly compiled: CompiledRules,
    readonly lookAt: number,
  ) {}

  /** The rules in force at a place. */
  at(place: RulePlace): PlaceRules {
    const known = this.placed.get(place.host);
    if (known !== undefined) return known;
    const rules = this.compiled.rules.filter(
      ({ spec, hosts }) =>
        spec.site.length === 0 ||
        spec.site.includes(place.site) ||
        hosts.some((matches) => matches(place.host)),
    );
    const key = rules.map(({ order }) => order).join();
    let found = this.shared.get(key);
    if (found === undefined)
      this.shared.set(key, (found = new PlaceRules(this.compiled, rules, this.lookAt)));
    if (this.placed.size >= MOST_PLACES) this.forget();
    this.placed.set(place.host, found);
    return found;
  }

  private forget(): void {
    this.placed.clear();
    this.shared.clear();
  }
}
