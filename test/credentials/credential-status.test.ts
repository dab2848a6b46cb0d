import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isRest,
  longestRestMs,
  longestSaidMs,
  moveOf,
  restMs,
  statusAt,
  statusEvents,
  statusTable,
  type StatusFacts,
} from '../../src/credentials/credential-status.js';
import { credentialStatuses, type CredentialStatus } from '../../src/storage/credential-ports.js';

const MINUTE = 60_000;
const DAY = 86_400_000;
const nowMs = 1_700_000_000_000;
const facts = (status: CredentialStatus, untilMs: number | null = null, updatedMs = nowMs): StatusFacts => ({
  ...{ status, untilMs, updatedMs },
});
const at = (saidMs: number | null = null, ms = nowMs) => ({ nowMs: ms, saidMs });

describe('K2 K6 the status of a credential', () => {
  it('ends a rest by its time, and nothing else', () => {
    for (const status of credentialStatuses) {
      expect(statusAt(facts(status, nowMs), nowMs - 1)).toBe(status);
      expect(statusAt(facts(status, nowMs), nowMs)).toBe(isRest(status) ? 'active' : status);
      expect(statusAt(facts(status, null), nowMs)).toBe(status);
    }
  });

  it.each([
    ['rate_limited', MINUTE],
    ['blocked', 15 * MINUTE],
    ['exhausted', DAY],
  ] as const)('%s without a word of the site lasts %d ms', (event, forMs) => {
    expect(restMs[event]).toBe(forMs);
    expect(moveOf(facts('active'), event, at())).toMatchObject({ kind: 'set', forMs });
  });

  it('lasts as long as the site said, within a second and a year', () => {
    expect(moveOf(facts('active'), 'rate_limited', at(7000))).toMatchObject({ forMs: 7000 });
    expect(moveOf(facts('active'), 'rate_limited', at(1))).toMatchObject({ forMs: 1000 });
    expect(moveOf(facts('active'), 'exhausted', at(1e15))).toMatchObject({ forMs: longestSaidMs });
  });

  it('a rest that is on gets longer only by a later word', () => {
    const resting = facts('cooldown', nowMs + 30_000);
    expect(moveOf(resting, 'rate_limited', at())).toEqual({ kind: 'stay' });
    expect(moveOf(resting, 'blocked', at(20_000))).toEqual({ kind: 'stay' });
    expect(moveOf(resting, 'blocked', at(60_000))).toEqual({
      kind: 'set',
      status: 'cooldown',
      forMs: 60_000,
    });
    expect(moveOf(facts('cooldown', null), 'blocked', at(60_000))).toEqual({ kind: 'stay' });
  });

  it('a cool-down soon after another lasts twice as long, up to a day; a success makes it short again', () => {
    let state = facts('active');
    let time = nowMs;
    const lengths: number[] = [];
    for (let n = 0; n < 13; n++) {
      const move = moveOf(state, 'rate_limited', at(null, time));
      if (move.kind !== 'set' || move.forMs === null) throw new Error('no rest');
      lengths.push(move.forMs / MINUTE);
      state = facts('cooldown', time + move.forMs, time);
      time += move.forMs + 1000;
    }
    expect(lengths).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1440, 1440]);
    const lifted = moveOf(state, 'ok', at(null, time));
    expect(lifted).toEqual({ kind: 'set', status: 'active', forMs: null });
    expect(moveOf(facts('active'), 'rate_limited', at(null, time))).toMatchObject({ forMs: MINUTE });
    // Or time does.
    const later = (state.untilMs ?? 0) + longestRestMs + 1;
    expect(moveOf(state, 'rate_limited', at(null, later))).toMatchObject({ forMs: MINUTE });
  });

  it('an administrator says exactly how long', () => {
    const before = facts('cooldown', nowMs - 1, nowMs - DAY);
    expect(moveOf(before, 'cool_down', at(5000))).toMatchObject({ status: 'cooldown', forMs: 5000 });
    expect(moveOf(facts('cooldown', nowMs + DAY), 'cool_down', at(5000))).toMatchObject({ forMs: 5000 });
    expect(moveOf(facts('banned'), 'cool_down', at(5000))).toEqual({ kind: 'stay' });
  });

  const anyFacts = fc.record({
    status: fc.constantFrom(...credentialStatuses),
    untilMs: fc.option(fc.integer({ min: nowMs - 2 * DAY, max: nowMs + 2 * DAY })),
    updatedMs: fc.integer({ min: nowMs - 3 * DAY, max: nowMs }),
  });

  it('follows the table from what holds now, and no word of a holder weakens what is graver', () => {
    const gravity: Readonly<Record<CredentialStatus, number>> = {
      ...{ active: 0, cooldown: 1, exhausted: 2, invalid: 3, banned: 4, disabled: 5 },
    };
    const said = fc.option(fc.integer({ min: 0, max: 400 * DAY }));
    fc.assert(
      fc.property(anyFacts, fc.constantFrom(...statusEvents), said, (before, event, saidMs) => {
        const now = statusAt(before, nowMs);
        const cell = statusTable[event][now];
        const move = moveOf(before, event, at(saidMs));
        if (move.kind === 'stay') {
          expect(cell === '-' || cell === 'longer' || cell === before.status).toBe(true);
          return;
        }
        expect(move.status).toBe(cell === 'longer' ? now : cell);
        expect(move.forMs === null).toBe(!isRest(move.status));
        if (move.forMs !== null) {
          expect(move.forMs).toBeGreaterThanOrEqual(1000);
          expect(move.forMs).toBeLessThanOrEqual(longestSaidMs);
        }
        const isWord = !['healthy', 'new_secret', 'cool_down'].includes(event);
        if (isWord) expect(gravity[move.status]).toBeGreaterThanOrEqual(gravity[now]);
        // Said twice is said once.
        const after = facts(move.status, move.forMs === null ? null : nowMs + move.forMs);
        if (event !== 'cool_down') expect(moveOf(after, event, at(saidMs))).toEqual({ kind: 'stay' });
      }),
    );
  });

  it('what is disabled stays so whatever anybody but an administrator says', () => {
    for (const event of statusEvents)
      expect(moveOf(facts('disabled'), event, at(5000))).toEqual({ kind: 'stay' });
  });
});
