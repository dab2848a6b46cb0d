import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../src/outcome/classify.js';
import {
  MIN_REMAINING_MS,
  decideRetry,
  endWith,
  isSafe,
  judgeSuspects,
  type RetryDecision,
  type RetryFacts,
} from '../../src/outcome/retry.js';
import { answer, fault, refusal, verdictOf } from './verdicts.js';

const dead = verdictOf(fault('closed', 'first_byte', true));
const blocked: Verdict = { ...verdictOf(answer(403)), name: 'blocked', blame: 'upstream' };
const suspect = verdictOf(answer(403));
const throttled = verdictOf(answer(429));
const unclear = verdictOf(answer(503));
const ok = verdictOf(answer(200));

function decide(verdict: Verdict, changes: Partial<RetryFacts> = {}): RetryDecision {
  return decideRetry({
    verdict,
    method: 'GET',
    retryUnsafe: false,
    requestSent: true,
    bodyReplayable: true,
    attemptsMade: 1,
    retriesAllowed: 2,
    committed: false,
    remainingMs: 30_000,
    transportBudget: true,
    session: null,
    triedSameExit: false,
    suspectStatus: null,
    isSiteDown: false,
    isSuspended: false,
    previousSuspectStatus: null,
    ...changes,
  });
}

/** A decision in a word. */
function word(verdict: Verdict, changes: Partial<RetryFacts> = {}): string {
  const decision = decide(verdict, changes);
  return decision.kind === 'retry' ? decision.where : decision.kind;
}

describe('decideRetry: what is tried again', () => {
  it.each<[string, Verdict, string]>([
    ['a good answer', ok, 'deliver'],
    ['a block', blocked, 'elsewhere'],
    ['a suspect answer', suspect, 'elsewhere'],
    ['a throttled one', throttled, 'elsewhere'],
    ['a bare 503', unclear, 'elsewhere'],
    ['a closed connection', dead, 'elsewhere'],
    ['a refused CONNECT', verdictOf(refusal(503)), 'elsewhere'],
    ['an unreachable target', verdictOf(fault('target_unreachable')), 'elsewhere'],
    ['a malformed answer', verdictOf(fault('target_malformed')), 'elsewhere'],
    ['B20 a target name that does not exist', verdictOf(fault('target_dns')), 'fail'],
    ['N04 a target name that may resolve later', verdictOf(fault('target_dns_busy')), 'elsewhere'],
    ['Z05 a target that may not be visited', verdictOf(fault('target_forbidden')), 'fail'],
    ['Z01 a target that is the gateway', verdictOf(fault('target_loop')), 'fail'],
    ['an upstream that gives up', verdictOf(fault('failed', 'handshake')), 'elsewhere'],
    ['an upstream whose rules forbid it', verdictOf(fault('denied', 'handshake')), 'elsewhere'],
    ['X06 no sockets left', verdictOf(fault('local')), 'fail'],
    ['Z01 an upstream that leads back here', verdictOf(fault('loop')), 'elsewhere'],
    ['R09 the deadline', verdictOf(fault('deadline')), 'fail'],
    ['a client that left', verdictOf(fault('client_gone')), 'fail'],
  ])('G7 %s', (_what, verdict, expected) => {
    expect(word(verdict)).toBe(expected);
  });

  it('fails with what the verdict says', () => {
    expect(decide(dead, { attemptsMade: 3 })).toEqual({ kind: 'fail', failure: dead.failure });
  });

  it('blocks and faults are charged to different budgets', () => {
    expect(decide(suspect)).toEqual({ kind: 'retry', where: 'elsewhere', budget: 'block' });
    expect(decide(dead)).toEqual({ kind: 'retry', where: 'elsewhere', budget: 'transport' });
    expect(word(suspect, { transportBudget: false })).toBe('elsewhere');
    expect(word(dead, { transportBudget: false })).toBe('fail');
    expect(word(unclear, { transportBudget: false })).toBe('deliver');
  });
});

describe('decideRetry: when it stops', () => {
  it.each([0, 1, 3])('B14 %i retries are exactly one try more than that', (retriesAllowed) => {
    let attemptsMade = 1;
    while (word(blocked, { retriesAllowed, attemptsMade }) === 'elsewhere') attemptsMade++;
    expect(attemptsMade).toBe(1 + retriesAllowed);
    expect(decide(blocked, { retriesAllowed, attemptsMade })).toEqual({ kind: 'deliver', isPageOwn: false });
  });

  it('B15 the last answer is delivered when no other exit is left, a fault is told', () => {
    expect(endWith(throttled)).toEqual({ kind: 'deliver', isPageOwn: false });
    expect(endWith(dead)).toEqual({ kind: 'fail', failure: dead.failure });
    expect(endWith(verdictOf(fault('client_gone')))).toMatchObject({ kind: 'fail' });
  });

  it('R06 nothing is tried again once a byte went to the client', () => {
    expect(word(dead, { committed: true })).toBe('fail');
    expect(word(blocked, { committed: true })).toBe('deliver');
  });

  it('R09 with too little time left', () => {
    expect(word(dead, { remainingMs: MIN_REMAINING_MS })).toBe('elsewhere');
    expect(word(dead, { remainingMs: MIN_REMAINING_MS - 1 })).toBe('fail');
    expect(word(blocked, { remainingMs: -5 })).toBe('deliver');
  });
});

describe('decideRetry: what may be repeated', () => {
  it.each(['GET', 'HEAD', 'OPTIONS'])('%s may', (method) => {
    expect(isSafe(method)).toBe(true);
    expect(word(dead, { method })).toBe('elsewhere');
    expect(word(dead, { method, bodyReplayable: false })).toBe('fail');
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'get', 'X'])(
    'R01 %s may not once a byte was sent',
    (method) => {
      expect(word(dead, { method })).toBe('fail');
      expect(word(blocked, { method })).toBe('deliver');
      expect(word(dead, { method, retryUnsafe: true })).toBe('elsewhere');
      expect(word(dead, { method, retryUnsafe: true, bodyReplayable: false })).toBe('fail');
    },
  );

  it.each(['POST', 'GET', 'CONNECT'])('%s may as long as nothing of it was sent', (method) => {
    const refused = verdictOf(fault('refused'));
    expect(word(refused, { method, requestSent: false, bodyReplayable: false })).toBe('elsewhere');
  });
});

describe('decideRetry: sessions', () => {
  const soft = { session: { mode: 'soft' } } as const;
  const hard = { session: { mode: 'hard' } } as const;

  it('N6 one fault never moves a soft session: the same exit once more, then another', () => {
    for (const verdict of [dead, unclear, verdictOf(fault('timeout')), verdictOf(fault('target_timeout'))]) {
      expect(word(verdict, soft)).toBe('same');
      expect(word(verdict, { ...soft, triedSameExit: true })).toBe('elsewhere');
    }
  });

  it('N6 a refused dial or login takes the exit out at once, a block too: the session moves', () => {
    const lost = [verdictOf(fault('refused')), verdictOf(refusal(407)), blocked, suspect, throttled];
    expect(lost.map((verdict) => word(verdict, soft))).toEqual(Array(5).fill('elsewhere'));
  });

  it('N6 a hard session never goes elsewhere', () => {
    expect(word(dead, hard)).toBe('same');
    expect(word(dead, { ...hard, triedSameExit: true })).toBe('fail');
    expect(word(verdictOf(fault('refused')), hard)).toBe('fail');
    expect(word(blocked, hard)).toBe('deliver');
    expect(word(suspect, hard)).toBe('deliver');
  });

  it('R01 the same exit is not asked twice for what must not be repeated', () => {
    expect(word(dead, { ...soft, method: 'POST' })).toBe('fail');
  });
});

describe('B07 the same answer from two exits is the page’s own', () => {
  it('is delivered, and says so', () => {
    const again = { suspectStatus: 403, previousSuspectStatus: 403, attemptsMade: 2 };
    expect(decide(suspect, again)).toEqual({ kind: 'deliver', isPageOwn: true });
    expect(word(suspect, { ...again, previousSuspectStatus: 999 })).toBe('elsewhere');
    expect(word(suspect, { ...again, previousSuspectStatus: null })).toBe('elsewhere');
    expect(word(dead, again)).toBe('elsewhere');
    expect(word(suspect, { suspectStatus: null, previousSuspectStatus: null })).toBe('elsewhere');
  });

  it('tells what becomes of the suspect exits', () => {
    const end = { isPageOwn: false, isOtherExit: true };
    expect(judgeSuspects({ ...end, verdict: suspect, isPageOwn: true })).toBe('nothing');
    expect(judgeSuspects({ ...end, verdict: ok })).toBe('ban_now');
    expect(judgeSuspects({ ...end, verdict: ok, isOtherExit: false })).toBe('count');
    expect(judgeSuspects({ ...end, verdict: suspect })).toBe('count');
    expect(judgeSuspects({ ...end, verdict: dead })).toBe('count');
  });
});

describe('decideRetry: properties', () => {
  const verdicts = [ok, blocked, suspect, throttled, unclear, dead, verdictOf(fault('refused'))];
  const facts = fc.record({
    method: fc.constantFrom('GET', 'POST', 'HEAD', 'DELETE'),
    retryUnsafe: fc.boolean(),
    requestSent: fc.boolean(),
    bodyReplayable: fc.boolean(),
    attemptsMade: fc.integer({ min: 1, max: 5 }),
    retriesAllowed: fc.integer({ min: 0, max: 4 }),
    committed: fc.boolean(),
    remainingMs: fc.integer({ min: -100, max: 1000 }),
    transportBudget: fc.boolean(),
    session: fc.constantFrom(null, { mode: 'soft' } as const, { mode: 'hard' } as const),
    triedSameExit: fc.boolean(),
  });

  it('R01 R06 R09 a retry never breaks a bound', () => {
    fc.assert(
      fc.property(fc.constantFrom(...verdicts), facts, (verdict, changes) => {
        const decision = decide(verdict, changes);
        if (decision.kind !== 'retry') {
          if (decision.kind === 'deliver') expect(verdict.failure).toBeNull();
          return;
        }
        expect(changes.committed).toBe(false);
        expect(changes.attemptsMade).toBeLessThanOrEqual(changes.retriesAllowed);
        expect(changes.remainingMs).toBeGreaterThanOrEqual(MIN_REMAINING_MS);
        if (changes.requestSent) {
          expect(changes.bodyReplayable).toBe(true);
          if (!changes.retryUnsafe) expect(['GET', 'HEAD']).toContain(changes.method);
        }
        if (decision.budget === 'transport') expect(changes.transportBudget).toBe(true);
        if (decision.where === 'elsewhere') expect(changes.session?.mode).not.toBe('hard');
        else expect(changes.triedSameExit).toBe(false);
      }),
      { numRuns: 10_000 },
    );
  });
});
