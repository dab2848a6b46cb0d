import { describe, expect, it } from 'vitest';
import { errorTable } from '../../src/core/errors.js';
import { classify } from '../../src/outcome/classify.js';
import type { FaultKind } from '../../src/outcome/facts.js';
import { answer, fault, refusal, usualContext, verdictOf } from './verdicts.js';

const challenge = ['Proxy-Authenticate', 'Basic realm="x"'] as const;

describe('classify: faults on the way', () => {
  it.each<[FaultKind, string, string | undefined, string | null]>([
    ['refused', 'upstream_failed', 'upstream_refused', 'refused'],
    ['unreachable', 'upstream_failed', 'upstream_unreachable', 'unreachable'],
    ['timeout', 'upstream_failed', 'upstream_timeout', 'timeout'],
    ['dns', 'upstream_failed', 'upstream_dns', 'dns'],
    ['tls', 'upstream_failed', 'upstream_tls', 'tls'],
    ['auth', 'upstream_failed', 'upstream_auth', 'auth'],
    ['closed', 'upstream_failed', 'upstream_closed', 'closed'],
    ['reset', 'upstream_failed', 'upstream_closed', 'reset'],
    ['protocol', 'upstream_failed', 'upstream_protocol', 'protocol'],
    ['failed', 'unclear', 'upstream_error', 'unclear'],
    ['denied', 'unclear', 'upstream_error', null],
    ['unsupported', 'unclear', 'upstream_error', null],
    ['loop', 'upstream_failed', 'loop_detected', 'refused'],
    ['local', 'local_fault', 'local_resources', null],
    ['deadline', 'unclear', 'exchange_timeout', null],
    ['client_gone', 'client_gone', undefined, null],
    ['target_dns', 'target_failed', 'target_dns', null],
    ['target_dns_busy', 'target_failed', 'target_dns', null],
    ['target_forbidden', 'target_failed', 'target_refused', null],
    ['target_loop', 'target_failed', 'loop_detected', null],
    ['target_unreachable', 'target_failed', 'target_unreachable', null],
    ['target_timeout', 'target_failed', 'target_timeout', null],
    ['target_malformed', 'target_failed', 'target_failed', null],
  ])('C23 %s is %s with code %s', (kind, name, code, health) => {
    const verdict = verdictOf(fault(kind));
    expect(verdict).toMatchObject({ name, health, reason: kind });
    expect(verdict.failure?.code).toBe(code);
    expect(verdict.blame).toBe(verdict.failure ? errorTable[verdict.failure.code].blame : 'client');
  });

  it('X06 our own faults ask to come back a second later and touch no exit', () => {
    const verdict = verdictOf(fault('local'));
    expect(verdict).toMatchObject({ blame: 'gateway', health: null, retryAfterMs: 1000 });
    expect(verdict.failure?.retryAfterMs).toBe(1000);
  });

  it('B05 silence after the dial is a class of its own: it may be the target’s', () => {
    const phases = ['dial', 'tls', 'greeting', 'handshake', 'send', 'first_byte', 'body'] as const;
    expect(phases.map((phase) => verdictOf(fault('timeout', phase)).health)).toEqual([
      'timeout',
      'timeout',
      'timeout',
      'silent',
      'silent',
      'silent',
      'silent',
    ]);
  });

  it.each(['closed', 'reset'] as const)('B05 %s in place of an answer counts like silence', (kind) => {
    expect(verdictOf(fault(kind, 'first_byte', true))).toMatchObject({ health: 'silent', reason: kind });
    expect(verdictOf(fault(kind, 'tls')).health).toBe(kind);
  });

  it('R01 says whether anything of the request was sent', () => {
    const sent = verdictOf(fault('reset', 'first_byte', true));
    expect(sent.failure?.detail).toBe('what happened (the request was sent)');
    const unsent = verdictOf(fault('refused'));
    expect(unsent.failure?.detail).toBe('what happened (nothing of the request was sent)');
  });

  it('N04 a name that could not be looked up now may be asked for again, one that does not exist may not', () => {
    expect(verdictOf(fault('target_dns_busy')).failure?.isRetryable).toBe(true);
    expect(verdictOf(fault('target_dns')).failure?.isRetryable).toBeUndefined();
  });

  it('H10 a malformed answer is the target’s', () => {
    expect(verdictOf(fault('target_malformed', 'first_byte', true))).toMatchObject({
      name: 'target_failed',
      blame: 'target',
      health: null,
    });
  });
});

describe('classify: answers that no proxy can have given', () => {
  const targets = (status: number, ...fields: (readonly [string, string])[]) =>
    verdictOf({ ...answer(status, fields), isTargets: true });

  it('a 407 of a target never reaches the client, and is no sign against the exit', () => {
    const verdict = targets(407, challenge);
    expect(verdict).toMatchObject({ name: 'target_failed', blame: 'target', health: null });
    expect(verdict.failure?.code).toBe('target_failed');
  });

  it('the marks of a proxy mean nothing there', () => {
    expect(targets(404, ['X-Squid-Error', 'ERR_DNS_FAIL 0'])).toMatchObject({ name: 'ok', failure: null });
    expect(targets(503, ['X-Squid-Error', 'ERR_DNS_FAIL 0'])).toMatchObject({
      name: 'unclear',
      health: null,
    });
  });

  it('statuses are read as ever', () => {
    expect([403, 429, 502, 200].map((status) => targets(status).name)).toEqual([
      'suspect',
      'throttled',
      'unclear',
      'ok',
    ]);
    expect(verdictOf({ ...answer(403), isTargets: true }, { detect: false }).name).toBe('ok');
  });
});

describe('classify: answers over plain HTTP', () => {
  it.each([200, 204, 301, 304, 401, 404, 410, 500, 501, 505, 520, 999])(
    'H11 %i is the page’s own',
    (status) => {
      expect(verdictOf(answer(status))).toMatchObject({ name: 'ok', failure: null, health: null });
    },
  );

  it('a tunnel that stands is ok', () => {
    expect(classify({ kind: 'tunnel' }, usualContext).name).toBe('ok');
  });

  it('403 is suspect, 429 throttled, as the route lists them', () => {
    expect(verdictOf(answer(403))).toMatchObject({ name: 'suspect', failure: null, reason: 'status_403' });
    expect(verdictOf(answer(429))).toMatchObject({ name: 'throttled', blame: 'target', retryAfterMs: null });
    const statuses = { suspect: [999, 202], throttled: [420], unclear: [520] };
    expect([999, 202, 403, 429, 420, 520].map((s) => verdictOf(answer(s), { statuses }).name)).toEqual([
      'suspect',
      'suspect',
      'ok',
      'ok',
      'throttled',
      'unclear',
    ]);
  });

  it('B11 a Retry-After goes along', () => {
    expect(verdictOf(answer(429, [['Retry-After', '3']])).retryAfterMs).toBe(3000);
    expect(verdictOf(answer(503, [['Retry-After', '3']]))).toMatchObject({
      name: 'throttled',
      retryAfterMs: 3000,
      failure: null,
    });
  });

  it('a listed 5xx is throttled only with Retry-After', () => {
    const statuses = { suspect: [], throttled: [503, 520], unclear: [] };
    expect(verdictOf(answer(503), { statuses }).name).toBe('unclear');
    expect(verdictOf(answer(520), { statuses }).name).toBe('unclear');
    expect(verdictOf(answer(520, [['Retry-After', '1']]), { statuses }).name).toBe('throttled');
    expect(verdictOf(answer(521, [['Retry-After', '1']]), { statuses }).name).toBe('ok');
  });

  it.each([502, 503, 504])(
    'B19 a bare %i may be anybody’s: unclear, to be delivered in the end',
    (status) => {
      expect(verdictOf(answer(status))).toEqual({
        name: 'unclear',
        blame: null,
        reason: `status_${status}`,
        failure: null,
        retryAfterMs: null,
        health: 'unclear',
        rule: null,
      });
    },
  );

  it('B19 a 502 with the mark of the proxy is the proxy’s', () => {
    const verdict = verdictOf(answer(502, [['X-Squid-Error', 'ERR_CANNOT_FORWARD 0']]));
    expect(verdict).toMatchObject({ name: 'unclear', blame: 'upstream', health: null });
    expect(verdict.failure?.code).toBe('upstream_error');
  });

  it('B20 a DNS failure that the proxy reports is the target’s', () => {
    const verdict = verdictOf(answer(503, [['X-Squid-Error', 'ERR_DNS_FAIL 0']]));
    expect(verdict).toMatchObject({ name: 'target_failed', blame: 'target', health: null });
    expect(verdict.failure).toEqual({
      code: 'target_dns',
      detail: 'the upstream reports: X-Squid-Error ERR_DNS_FAIL',
    });
  });

  it('A12 a 401 to CONNECT is a login that was refused, whatever tinyproxy calls it', () => {
    expect(verdictOf(refusal(401))).toMatchObject({ health: 'auth', failure: { code: 'upstream_auth' } });
  });

  it('a 407 never goes on: with a challenge it is the upstream’s', () => {
    const verdict = verdictOf(answer(407, [challenge]));
    expect(verdict).toMatchObject({ name: 'upstream_failed', blame: 'upstream', health: 'auth' });
    expect(verdict.failure).toEqual({
      code: 'upstream_auth',
      detail: 'the upstream refused the configured login (407)',
    });
    const without = verdictOf(answer(407, [challenge]), { upstreamHasLogin: false });
    expect(without.failure?.detail).toBe('the upstream wants a login and none is configured (407)');
  });

  it('B21 a 407 without a challenge counts against nobody', () => {
    const verdict = verdictOf(answer(407));
    expect(verdict).toMatchObject({ name: 'unclear', health: null });
    expect(verdict.failure?.code).toBe('upstream_auth');
  });

  it('detect off: whatever the target says is good, the proxy’s own faults are not', () => {
    const off = { detect: false };
    expect([403, 429, 502, 503].map((status) => verdictOf(answer(status), off).name)).toEqual([
      'ok',
      'ok',
      'ok',
      'ok',
    ]);
    expect(verdictOf(answer(407, [challenge]), off).failure?.code).toBe('upstream_auth');
    const squid = answer(503, [['X-Squid-Error', 'ERR_CONNECT_FAIL 111']]);
    expect(verdictOf(squid, off).failure?.code).toBe('target_unreachable');
    expect(verdictOf(refusal(403), off).failure?.code).toBe('upstream_error');
    expect(verdictOf(fault('refused'), off).failure?.code).toBe('upstream_refused');
  });
});

describe('classify: a refused CONNECT', () => {
  it('407 is the login, with or without a challenge', () => {
    expect(verdictOf(refusal(407))).toMatchObject({ name: 'upstream_failed', health: 'auth' });
    expect(verdictOf(refusal(407, challenge)).failure?.code).toBe('upstream_auth');
  });

  it('403 is an upstream that does not go there: elsewhere it may work, and it is no fault', () => {
    const verdict = verdictOf(refusal(403));
    expect(verdict).toMatchObject({ name: 'unclear', blame: 'upstream', health: null });
    expect(verdict.failure?.detail).toMatch(/does not go to this target/);
  });

  it.each([302, 400, 404, 429, 500, 502, 503, 504])(
    'R08 %i without a mark: the upstream’s word, and nothing more is known',
    (status) => {
      const verdict = verdictOf(refusal(status));
      expect(verdict).toMatchObject({ name: 'unclear', blame: 'upstream', health: 'unclear' });
      expect(verdict.failure).toEqual({
        code: 'upstream_error',
        detail: `the upstream answered CONNECT with status ${status}`,
      });
    },
  );

  it('B20 C23 with a mark it says whose fault', () => {
    expect(verdictOf(refusal(503, ['X-Squid-Error', 'ERR_DNS_FAIL 0'])).failure?.code).toBe('target_dns');
    const own = verdictOf(refusal(500, ['Proxy-Status', 'px; error=proxy_internal_error']));
    expect(own).toMatchObject({ name: 'upstream_failed', health: 'error' });
    expect(verdictOf(refusal(594)).failure?.code).toBe('target_unreachable');
  });
});
