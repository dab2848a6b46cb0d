import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RECEIPT_MINUTES, Receipts, type Receipt } from '../../src/request/receipt.js';

const wallMs = 1_700_000_000_000;
const receipts = new Receipts('a key of this test');
const about: Receipt = { request: '4f2a9c1e-2k', exit: 'u-7c1f', site: 'shop.example' };
const text = receipts.write(about, 'crawler', wallMs);

const word = (letters: string) =>
  fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 60 });
const someReceipt = fc.record({
  request: word('0123456789abcdef-'),
  exit: word('abcXYZ0189_.-'),
  site: word('abc.-_:189'),
});

describe('a receipt', () => {
  it('can be sent back as a header, and says what it is about', () => {
    expect(text).toMatch(/^4f2a9c1e-2k~u-7c1f~shop\.example~[0-9a-z]+~[\w-]{16}$/);
    expect(receipts.read(text, 'crawler', wallMs)).toEqual({ kind: 'receipt', receipt: about });
    expect(new Receipts('a key of this test').read(text, 'crawler', wallMs).kind).toBe('receipt');
  });

  it('is good for an hour', () => {
    const lastMs = wallMs + RECEIPT_MINUTES * 60_000;
    expect(receipts.read(text, 'crawler', lastMs).kind).toBe('receipt');
    expect(receipts.read(text, 'crawler', lastMs + 60_000)).toEqual({
      kind: 'bad',
      reason: 'is older than 60 minutes',
    });
  });

  it('of another client or under another key is refused', () => {
    const foreign = { kind: 'bad', reason: 'was not given to this client by this gateway' };
    expect(receipts.read(text, 'other', wallMs)).toEqual(foreign);
    expect(new Receipts('another key').read(text, 'crawler', wallMs)).toEqual(foreign);
  });

  it.each([
    '',
    'x',
    '4f2a9c1e-2k',
    '~~~~',
    'a~b~c~d~e',
    `${text}~`,
    `a${'~'.repeat(600)}`,
    `${text.slice(0, -1)}ä`,
  ])('is not %j', (other) => {
    expect(receipts.read(other, 'crawler', wallMs).kind).toBe('bad');
  });
});

describe('any receipt', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(someReceipt, fc.string(), fc.nat(59), (receipt, client, minutes) => {
        const written = receipts.write(receipt, client, wallMs);
        const read = receipts.read(written, client, wallMs + minutes * 60_000);
        expect(read).toEqual({ kind: 'receipt', receipt });
      }),
    );
  });

  it('with one character changed, added or left out is refused', () => {
    fc.assert(
      fc.property(someReceipt, fc.nat(), fc.constantFrom(...'~aZ0-_.:é'), (receipt, place, letter) => {
        const written = receipts.write(receipt, 'crawler', wallMs);
        const at = place % written.length;
        const [head, tail] = [written.slice(0, at), written.slice(at + 1)];
        for (const other of [head + letter + tail, head + letter + written.slice(at), head + tail]) {
          if (other !== written) expect(receipts.read(other, 'crawler', wallMs).kind).toBe('bad');
        }
      }),
    );
  });

  it('read from any text never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 700 }), (any) => {
        expect(receipts.read(any, 'crawler', wallMs).kind).toBe('bad');
      }),
    );
  });
});
