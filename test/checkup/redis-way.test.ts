import { describe, expect, it } from 'vitest';
import {
  adviceFor,
  judgeAway,
  judgeTrial,
  judgeWay,
  type TrialFacts,
  type WayFacts,
} from '../../src/checkup/redis-way.js';

const way: WayFacts = {
  ...{ isLoopback: false, isTls: true, isOpen: false, isWide: false, servers: 1, strangers: 0 },
  pins: { seen: 3, foreign: 0 },
};
const trial: TrialFacts = {
  ...{ refused: null, isHeard: true, race: { tries: 64, both: 0, neither: 0 } },
  latency: { medianMs: 1, slowMs: 3 },
};

describe('the way to Redis', () => {
  it('that is sane gets good lines only', () => {
    expect(judgeWay(way).map(({ check, level }) => `${check} ${level}`)).toEqual(
      ['address', 'login', 'tls', 'secret'].map((check) => `${check} ok`),
    );
  });

  it.each([
    ['address', { servers: 2 }, 'fail'],
    ['login', { isOpen: true }, 'fail'],
    ['login', { isOpen: true, isLoopback: true }, 'warn'],
    ['login', { isWide: true }, 'warn'],
    ['tls', { isTls: false }, 'warn'],
    ['tls', { isTls: false, isLoopback: true }, 'ok'],
    ['secret', { pins: { seen: 3, foreign: 1 } }, 'fail'],
    ['secret', { strangers: 2 }, 'fail'],
    ['secret', { pins: { seen: 0, foreign: 0 } }, 'ok'],
  ] as const)('%s of %j: %s', (check, change, level) => {
    const line = judgeWay({ ...way, ...change }).find((each) => each.check === check);
    expect(line?.level).toBe(level);
    expect(line?.todo === '').toBe(level === 'ok');
  });

  it('that is no way says the code and what it asks for', () => {
    expect(judgeAway('WRONGPASS')).toMatchObject({ check: 'redis', level: 'fail' });
    expect(judgeAway('WRONGPASS').todo).toContain('password');
    expect(adviceFor('connection')).toBe(adviceFor('whatever'));
    expect(adviceFor('READONLY')).toContain('primary');
  });
});

describe('two gateways that try it', () => {
  it('and find it sane get good lines only', () => {
    expect(judgeTrial(trial).map(({ check, level }) => `${check} ${level}`)).toEqual(
      ['work', 'atomicity', 'messages', 'latency'].map((check) => `${check} ok`),
    );
  });

  it('and are refused hear by what, and nothing else', () => {
    const lines = judgeTrial({ ...trial, refused: { work: 'bans', code: 'NOPERM' } });
    expect(lines).toMatchObject([{ check: 'work', level: 'fail', says: 'bans: refused (NOPERM)' }]);
  });

  it.each([
    ['atomicity', { race: { tries: 64, both: 2, neither: 0 } }, 'fail'],
    ['atomicity', { race: { tries: 64, both: 0, neither: 1 } }, 'warn'],
    ['messages', { isHeard: false }, 'warn'],
    ['latency', { latency: { medianMs: 21, slowMs: 30 } }, 'warn'],
    ['latency', { latency: { medianMs: 5, slowMs: 130 } }, 'warn'],
    ['latency', { latency: { medianMs: 120, slowMs: 130 } }, 'fail'],
  ] as const)('%s of %j: %s', (check, change, level) => {
    const line = judgeTrial({ ...trial, ...change }).find((each) => each.check === check);
    expect(line?.level).toBe(level);
    expect(line?.todo).not.toBe('');
  });
});
