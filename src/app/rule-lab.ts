/** The rule lab: what would these rules make of these stored answers? */
import type { RuleTestRow } from '../admin/services.js';
import { codingOf, type NotInspected } from '../gateway/decode-body.js';
import { isOfType } from '../gateway/inspect.js';
import type { BodyJudge } from '../gateway/judge-body.js';
import { classify } from '../outcome/classify.js';
import { decisive, findingOf, type RuleBook } from '../outcome/rules.js';
import type { HeadSeen, HeadStage, RuleHit, RulePlace } from '../outcome/rule-sights.js';
import { siteOf } from '../protocol/host.js';
import { statusDefaults } from '../config/schema-routes.js';
import { readStoredAnswer, type StoredAnswer } from './stored-answer.js';

/** What came of one sample. `trouble`: why its body was not looked at, or why the sample could not be read. */
export type LabRow = RuleTestRow;

/** The rules, and how they look. */
export interface Lab {
  readonly book: RuleBook;
  readonly types: ReadonlySet<string>;
  readonly judge: Pick<BodyJudge, 'judge'>;
}

/** Judges a sample as it would have been judged on its way. `host`: where it is from, if it doesn't say so itself. */
export async function tryRules(
  lab: Lab,
  sample: { readonly name: string; readonly bytes: Buffer },
  host = '',
): Promise<LabRow> {
  const stored = readStoredAnswer(sample.bytes);
  if (stored === null) return unreadable(sample.name);
  const place = placeOf(stored.host === '' ? host : stored.host);
  const stage = lab.book.at(place).judgeHead(headOf(stored, lab.types));
  const { hits, trouble } = await judgeBody(lab, { stored, stage, place });
  const hit = decisive(hits);
  const finding =
    hit === null ? null : findingOf(hit, { status: stored.status, bodyHash: null, bodyStart: null });
  const verdict = classify(
    {
      kind: 'answer',
      status: stored.status,
      fields: stored.fields,
      refusedTunnel: false,
      requestSent: true,
      isTargets: true,
    },
    { statuses: statusDefaults, detect: true, upstreamHasLogin: false, finding },
  );
  return {
    sample: sample.name,
    status: stored.status,
    verdict: verdict.name,
    rule: verdict.rule?.name ?? null,
    actions: verdict.rule?.actions ?? [],
    matches: hits.map(({ rule, field, found }) => ({
      rule: rule.spec.name,
      shadow: rule.spec.shadow,
      field,
      found,
    })),
    trouble,
  };
}

function unreadable(sample: string): LabRow {
  const trouble = 'no stored answer: the first line is not like HTTP/1.1 200 OK';
  return { sample, status: null, verdict: 'none', rule: null, actions: [], matches: [], trouble };
}

const placeOf = (host: string): RulePlace => ({ host, site: siteOf(host) });

function headOf(stored: StoredAnswer, types: ReadonlySet<string>): HeadSeen {
  const { status, fields, firstByteMs, usual, length } = stored;
  return {
    ...{ status, fields, firstByteMs, usual, length },
    isReadable: isOfType(fields.get('content-type'), types),
  };
}

async function judgeBody(
  lab: Lab,
  what: { readonly stored: StoredAnswer; readonly stage: HeadStage; readonly place: RulePlace },
): Promise<{ hits: readonly RuleHit[]; trouble: NotInspected | null }> {
  const { stored, stage, place } = what;
  if (stage.pending.length === 0) return { hits: stage.hits, trouble: null };
  const judgement = await lab.judge.judge({
    book: lab.book,
    place,
    stage,
    raw: stored.body,
    coding: codingFor(stored),
    isWhole: stored.isWhole,
  });
  if (judgement.kind === 'judged') return { hits: judgement.hits, trouble: null };
  return { hits: stage.hits, trouble: judgement.why };
}

/** Tools such as `curl --compressed -i` store the decoded body under the head that names the coding. */
function codingFor({ fields, body }: StoredAnswer): string | null {
  const isText = body.length > 0 && /^[\s<{["]/.test(body.toString('latin1', 0, 1));
  return isText ? 'identity' : codingOf(fields);
}
