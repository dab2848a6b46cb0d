import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  readBan,
  readBanMessage,
  readMember,
  readPin,
  readReply,
  readWhole,
  reasonText,
  writeMember,
  writePin,
} from '../../../src/state/redis/records.js';

describe('values in Redis', () => {
  it('are read as they were written', () => {
    const pin = { pin: { exit: 'u-1a', generation: 12 }, sealed: 'a-Z_9' };
    expect(readPin(writePin(pin))).toEqual(pin);
    const member = { id: 'g1', version: '1.0.0-rc.1+b', load: 12, keys: ['a', 'b.2'] };
    expect(readMember('g1', writeMember(member))).toEqual(member);
    expect(readMember('g1', writeMember({ ...member, keys: [], load: 1.6 }))).toMatchObject({
      load: 2,
      keys: [],
    });
    expect(readBan('u-1a *', '1|3|61000|2|g1|status 403 | odd', 1000)).toEqual({
      ...{ exit: 'u-1a', site: null, version: 3, leftMs: 60_000, strikes: 2, by: 'g1' },
      reason: 'status 403 | odd',
    });
    expect(readBan('u-1a a.example', '1|3|500|2|g1|', 1000)).toMatchObject({ site: 'a.example', leftMs: 0 });
    expect(readBanMessage('u-1a *\n1|3|500|2|g1|x')).toMatchObject({ exit: 'u-1a', leftMs: 500 });
  });

  it.each([
    ['another form', '2|1|u-a|x'],
    ['no generation', '1||u-a|x'],
    ['generation 0', '1|0|u-a|x'],
    ['a generation beyond all', '1|9999999999|u-a|x'],
    ['an exit with a space', '1|1|u a|x'],
    ['more text than any pin', `1|1|${'u'.repeat(2200)}|x`],
    ['a line more', '1|1|u-a|x\n'],
    ['a number', 7],
    ['nothing', null],
  ])('a pin with %s is none', (_, value) => {
    expect(readPin(value)).toBeNull();
  });

  it.each([
    ['a field with three words', 'u-a b.example c', '1|1|1|1|g1|x'],
    ['an exit that is none', '|| *', '1|1|1|1|g1|x'],
    ['a site that is none', 'u-a <b>', '1|1|1|1|g1|x'],
    ['more strikes than there are', 'u-a *', '1|1|1|41|g1|x'],
    ['a version beyond all', 'u-a *', '1|1099511627777|1|1|g1|x'],
    ['a reason in two lines', 'u-a *', '1|1|1|1|g1|x\ny'],
    ['a reason that is too long', 'u-a *', `1|1|1|1|g1|${'x'.repeat(201)}`],
    ['no value', 'u-a *', undefined],
    ['no field', 7, '1|1|1|1|g1|x'],
  ])('a ban with %s is none', (_, field, value) => {
    expect(readBan(field, value, 0)).toBeNull();
  });

  it('no ban lasts longer than a year, whatever is read', () => {
    expect(readBan('u-a *', '1|1|9999999999999999|1|g1|x', 0)?.leftMs).toBe(366 * 86_400_000);
  });

  it('reasons become one line of bounded length', () => {
    expect(reasonText('a\nb\u0000c\u007f')).toBe('a b c ');
    expect(reasonText('x'.repeat(999))).toHaveLength(200);
  });

  it('replies and numbers of any shape are read or refused', () => {
    expect(readReply(['a', 1])).toEqual({ tag: 'a', rest: [1] });
    expect([readReply('a'), readReply([1]), readReply(null), readReply([])]).toEqual([
      null,
      null,
      null,
      null,
    ]);
    expect([readWhole('12'), readWhole(12), readWhole(0)]).toEqual([12, 12, 0]);
    expect([
      readWhole('-1'),
      readWhole(1.5),
      readWhole('1e9'),
      readWhole({}),
      readWhole('9'.repeat(17)),
    ]).toEqual(new Array(5).fill(null));
  });

  it('10,000 random texts: nothing throws, and what is read is within bounds', () => {
    const piece = fc.oneof(fc.constantFrom('1', '|', '0', 'u-a', 'g1', '*', ' ', '\n', 'x'), fc.string());
    const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(text, text, (field, value) => {
        const ban = readBan(field, value, 0) ?? readBanMessage(value);
        if (ban !== null) expect(ban.strikes).toBeLessThanOrEqual(40);
        expect(readPin(value)?.pin.generation ?? 1).toBeGreaterThan(0);
        expect(readMember(field, value)?.id ?? '').toMatch(/^[\w-]*$/);
      }),
      { numRuns: 10_000 },
    );
  });
});
