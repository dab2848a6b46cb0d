import { describe, expect, it } from 'vitest';
import { classify } from '../../src/outcome/classify.js';
import type { AnswerFacts, FaultFacts } from '../../src/outcome/facts.js';
import type { RuleAction, RuleFinding } from '../../src/outcome/finding.js';
import { answer, fault, usualContext, verdictOf } from './verdicts.js';

describe('classify: what a rule found', () => {
  const finding = (...actions: readonly RuleAction[]): RuleFinding => ({
    name: 'robot-check',
    actions,
    scope: 'exit_site',
    evidence: { status: 200, field: 'body', found: 'captcha', bodyHash: null, bodyStart: null },
  });
  const ruled = (facts: AnswerFacts | FaultFacts, ...actions: readonly RuleAction[]) =>
    verdictOf(facts, { finding: finding(...actions) });

  it.each([
    [['ban', 'retry'], 'blocked'],
    [['ban'], 'blocked'],
    [['retry_only'], 'blocked'],
    [['throttle', 'retry'], 'blocked'],
    [['throttle'], 'throttled'],
    [['deliver'], 'ok'],
  ] as const)('%o makes an answer %s', (actions, name) => {
    const verdict = ruled(answer(403, [['Retry-After', '5']]), ...actions);
    expect(verdict).toMatchObject({ name, failure: null, health: null, reason: 'rule robot-check' });
    expect(verdict.rule?.actions).toEqual(actions);
    expect(verdict.retryAfterMs).toBe(name === 'ok' ? null : 5000);
  });

  it('a fault stays a failure, and deliver can’t make an answer of it', () => {
    expect(ruled(fault('reset', 'first_byte', true), 'ban')).toMatchObject({
      name: 'blocked',
      failure: { code: 'upstream_closed' },
    });
    expect(ruled(fault('reset'), 'deliver').rule).toBe(null);
  });

  it('what a proxy confesses, and what nobody’s exit did, is not the site’s word', () => {
    const confession = answer(503, [['X-Squid-Error', 'ERR_DNS_FAIL 0']]);
    expect(ruled(confession, 'ban')).toMatchObject({ name: 'target_failed', rule: null });
    expect(ruled(fault('client_gone'), 'ban')).toMatchObject({ name: 'client_gone', rule: null });
    expect(ruled(fault('local'), 'ban')).toMatchObject({ name: 'local_fault', rule: null });
    expect(classify({ kind: 'tunnel' }, { ...usualContext, finding: finding('ban') }).rule).toBe(null);
  });

  it('nothing is found where the client wants no judgement', () => {
    expect(verdictOf(answer(200), { finding: finding('ban'), detect: false }).name).toBe('ok');
  });

  it.each([521, 522, 523, 524, 525, 526])('Cloudflare’s %i is the target’s', (status) => {
    const page = [['CF-RAY', '1']] as const;
    expect(verdictOf(answer(status, page))).toMatchObject({ name: 'target_failed', failure: null });
    expect(verdictOf(answer(status, [['Server', 'cloudflare']])).name).toBe('target_failed');
    expect(verdictOf(answer(status)).name).toBe('ok');
  });
});
