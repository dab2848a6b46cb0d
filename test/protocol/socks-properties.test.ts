import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ask, bounds, login, LOGIN_OK, METHOD_LOGIN, METHOD_NONE, run } from './socks-talk.js';

describe('SOCKS: properties', () => {
  const host = fc.constantFrom('a.test', '10.0.0.1', '2001:db8::7', 'x'.repeat(253));
  const asked = fc.record({
    version: fc.constantFrom<4 | 5>(4, 5),
    host,
    port: fc.integer({ min: 1, max: 65_535 }),
    login: fc.constantFrom(null, login('u', 'p'), login('ü'.repeat(100), '')),
  });

  it('S06 every split of every good conversation comes to the same end', () => {
    const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 12 });
    const bound = fc.constantFrom(...bounds.map(([, reply]) => reply));
    const glued = fc.uint8Array({ maxLength: 20 });
    fc.assert(
      fc.property(bound, cuts, glued, fc.boolean(), (reply, lengths, tail, withLogin) => {
        const rest = Buffer.from(tail);
        const pieces = withLogin
          ? [METHOD_LOGIN, LOGIN_OK, Buffer.concat([reply, rest])]
          : [METHOD_NONE, Buffer.concat([reply, rest])];
        const split = pieces.flatMap((piece) => splitBy(piece, lengths));
        const got: Buffer[] = [];
        const { step, sent } = run(ask({ login: withLogin ? login('u', 'p') : null }), split);
        if (step.kind !== 'open') throw new Error(`it ended as ${step.kind}`);
        got.push(step.rest);
        expect(sent).toHaveLength(pieces.length);
        // What was not pushed any more is what the split left behind the piece that ended it.
        expect(rest.subarray(0, step.rest.length)).toEqual(Buffer.concat(got));
      }),
      { numRuns: 500 },
    );
  });

  it('random bytes never throw, and are never taken for a tunnel before it was asked for', () => {
    fc.assert(
      fc.property(asked, fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 6 }), (what, pieces) => {
        const { step } = run(what, pieces.map(Buffer.from));
        if (step.kind === 'open') expect(pieces[0]?.[0] === 5 || what.version === 4).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  it('random bytes behind a good beginning never throw', () => {
    const start = fc.constantFrom([METHOD_NONE], [METHOD_LOGIN], [METHOD_LOGIN, LOGIN_OK]);
    fc.assert(
      fc.property(start, fc.array(fc.uint8Array({ maxLength: 30 }), { maxLength: 30 }), (good, pieces) => {
        const { step } = run(ask({ login: login('u', 'p') }), [...good, ...pieces.map(Buffer.from)]);
        expect(['more', 'open', 'fault']).toContain(step.kind);
      }),
      { numRuns: 2000 },
    );
  });

  it('no fault tells a password', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 30 }), { maxLength: 5 }), (pieces) => {
        const { step } = run(ask({ login: login('u', 'S3CRET') }), [
          METHOD_LOGIN,
          ...pieces.map(Buffer.from),
        ]);
        if (step.kind === 'fault') expect(step.detail).not.toContain('S3CRET');
      }),
    );
  });

  it('what is asked can be read back by a peer', () => {
    fc.assert(
      fc.property(asked, (what) => {
        const { sent } = run({ ...what, version: 5 }, [
          what.login === null ? METHOD_NONE : METHOD_LOGIN,
          LOGIN_OK,
        ]);
        const bytes = Buffer.from(sent.at(-1) ?? '', 'hex');
        expect(bytes.subarray(0, 3)).toEqual(Buffer.of(5, 1, 0));
        expect(bytes.readUInt16BE(bytes.length - 2)).toBe(what.port);
        const isName = bytes[3] === 3;
        if (isName) expect(bytes.subarray(5, -2).toString('latin1')).toBe(what.host);
        expect(bytes.length).toBe({ 1: 10, 4: 22, 3: 7 + what.host.length }[bytes[3] ?? 0]);
      }),
    );
  });
});

function splitBy(data: Buffer, lengths: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const length of lengths) {
    if (at >= data.length) break;
    pieces.push(data.subarray(at, at + length));
    at += length;
  }
  if (at < data.length) pieces.push(data.subarray(at));
  return pieces;
}
