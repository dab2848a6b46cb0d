/** What holds for all bytes: no throw, no difference by the way they are cut, and what was written is read. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Framing } from '../../src/http1/body.js';
import { Fields } from '../../src/http1/fields.js';
import { serializeRequestHead, serializeResponseHead } from '../../src/http1/head.js';
import {
  SEED,
  byteByByte,
  bytesOf,
  cutAt,
  goodRequest,
  goodResponse,
  readBody,
  readRequest,
  readResponse,
} from './drive.js';
import { goodRequests, goodResponses, spoiled } from './messages.js';

const runs = { seed: SEED, numRuns: 1_000 };
const cuts = fc.array(fc.nat({ max: 300 }), { maxLength: 5 });
const tight = { headBytes: 120, fieldCount: 4 };
const text = fc.oneof(
  spoiled(goodRequests),
  spoiled(goodResponses),
  fc.uint8Array({ maxLength: 200 }).map((octets) => Buffer.from(octets).toString('latin1')),
);

describe('heads', () => {
  it('read the same however they are cut, and never throw', () => {
    const property = fc.property(text, cuts, (wire, places) => {
      for (const read of [readRequest, readResponse]) {
        for (const within of [undefined, tight]) {
          const whole = read([bytesOf(wire)], within);
          expect(read(cutAt(bytesOf(wire), places), within)).toEqual(whole);
          expect(read(byteByByte(bytesOf(wire)), within)).toEqual(whole);
        }
      }
    });
    fc.assert(property, runs);
  });

  it('that were written are read back, order and case kept', () => {
    const property = fc.property(goodRequests, goodResponses, (request, response) => {
      const first = goodRequest(request.wire);
      expect(first.fields.pairs()).toEqual(request.pairs);
      expect(serializeRequestHead(first)).toBe(request.wire.slice(0, serializeRequestHead(first).length));
      const second = goodResponse(response.wire);
      expect(second.fields.pairs()).toEqual(response.pairs);
      expect(serializeResponseHead(second)).toBe(
        response.wire.slice(0, serializeResponseHead(second).length),
      );
      expect(second.tolerated).toEqual([]);
    });
    fc.assert(property, runs);
  });

  it('hold one line per field, whatever a value or reason is made of', () => {
    const property = fc.property(
      fc.array(fc.string({ unit: 'binary' })),
      fc.string({ unit: 'binary' }),
      (values, reason) => {
        const fields = Fields.of(...values.map((value) => ['X', value] as const));
        const wire = serializeResponseHead({ status: 200, reason, fields });
        const bytes = Buffer.from(wire, 'latin1');
        expect(bytes.filter((octet) => octet === 10)).toHaveLength(values.length + 2);
        expect(bytes.filter((octet) => octet === 13)).toHaveLength(values.length + 2);
        expect(goodResponse(bytes.toString('latin1')).fields.length).toBe(values.length);
      },
    );
    fc.assert(property, runs);
  });

  it('are read in tolerant mode to what a strict reader would take', () => {
    const property = fc.property(spoiled(goodResponses), (wire) => {
      const got = readResponse([bytesOf(wire)]);
      if (got.kind !== 'head') return;
      const fields = Fields.of(...(got.pairs ?? []));
      const again = readRequest([bytesOf(`GET / HTTP/1.0\r\n${fields.toWire()}\r\n`)]);
      if (again.kind === 'head') expect(again.pairs).toEqual(got.pairs);
      else expect(fields.has('host') || fields.has('connection')).toBe(true);
    });
    fc.assert(property, runs);
  });
});

describe('bodies', () => {
  const framings = fc.oneof(
    fc.constantFrom<Framing>({ kind: 'none' }, { kind: 'chunked' }, { kind: 'close' }),
    fc.nat({ max: 80 }).map((length): Framing => ({ kind: 'length', length })),
  );
  const chunkText = fc
    .array(
      fc.constantFrom(
        '0',
        '1',
        '5',
        'a',
        '\r\n',
        '\r\n',
        '\n',
        ' ',
        ';',
        'hello',
        'x',
        '\r\n\r\n',
        'X: y',
        ':',
        '\0',
      ),
      { maxLength: 20 },
    )
    .map((parts) => parts.join(''));

  it('read the same however they are cut, and never throw', () => {
    const property = fc.property(framings, fc.oneof(chunkText, text), cuts, (framing, wire, places) => {
      for (const tolerant of [false, true]) {
        const whole = readBody(framing, [bytesOf(wire)], { tolerant, closes: true });
        expect(readBody(framing, cutAt(bytesOf(wire), places), { tolerant, closes: true })).toEqual(whole);
        expect(readBody(framing, byteByByte(bytesOf(wire)), { tolerant, closes: true })).toEqual(whole);
      }
    });
    fc.assert(property, { ...runs, numRuns: 3_000 });
  });

  it('what the strict reader takes, the tolerant one reads alike', () => {
    const property = fc.property(chunkText, (wire) => {
      const strict = readBody({ kind: 'chunked' }, [bytesOf(wire)]);
      if (strict.kind !== 'end') return;
      expect(readBody({ kind: 'chunked' }, [bytesOf(wire)], { tolerant: true })).toEqual(strict);
    });
    fc.assert(property, { ...runs, numRuns: 3_000 });
  });
});
