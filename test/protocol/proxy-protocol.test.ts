import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProxyHeaderReader, type ProxyHeaderStep } from '../../src/protocol/proxy-protocol.js';

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');

function v2(
  head: { command?: number; family?: number; version?: number; length?: number },
  body: readonly number[] = [],
): Buffer {
  const { command = 1, family = 0x11, version = 2, length = body.length } = head;
  return Buffer.concat([
    SIGNATURE,
    Buffer.of((version << 4) | command, family, length >> 8, length & 255),
    Buffer.from(body),
  ]);
}

const ipv4Body = [203, 0, 113, 7, 10, 0, 0, 1, 0xc7, 0x38, 0x1f, 0x90];
const ipv6Body = [
  ...[0x20, 0x01, 0x0d, 0xb8, ...Array<number>(11).fill(0), 7],
  ...Array<number>(15).fill(0),
  ...[1, 1, 2, 3, 4],
];
const mappedBody = [...Array<number>(10).fill(0), 255, 255, 10, 1, 2, 3, ...Array<number>(20).fill(0)];

const whole = (bytes: Buffer | string): ProxyHeaderStep =>
  new ProxyHeaderReader().push(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);

/** The last step of a header that comes in these pieces. */
function inPieces(pieces: readonly Buffer[]): ProxyHeaderStep {
  const reader = new ProxyHeaderReader();
  let step: ProxyHeaderStep = { kind: 'more' };
  let left = [...pieces];
  while (step.kind === 'more' && left.length > 0) {
    const [piece = Buffer.alloc(0), ...others] = left;
    step = reader.push(piece);
    left = others;
  }
  if (step.kind !== 'header') return step;
  return { ...step, rest: Buffer.concat([step.rest, ...left]) };
}

const good: [string, Buffer, string | null][] = [
  ['v1 IPv4', Buffer.from('PROXY TCP4 203.0.113.7 10.0.0.1 51000 8080\r\n'), '203.0.113.7'],
  ['v1 IPv6', Buffer.from('PROXY TCP6 2001:DB8::7 ::1 0 65535\r\n'), '2001:db8::7'],
  ['v1 unknown', Buffer.from('PROXY UNKNOWN\r\n'), null],
  ['v1 unknown with words', Buffer.from('PROXY UNKNOWN ffff::1 x y z\r\n'), null],
  ['v2 IPv4', v2({}, ipv4Body), '203.0.113.7'],
  ['v2 IPv4 with extensions', v2({}, [...ipv4Body, 3, 0, 4, 1, 2, 3, 4]), '203.0.113.7'],
  ['v2 IPv6', v2({ family: 0x21 }, ipv6Body), '2001:db8::7'],
  ['v2 IPv4 in IPv6', v2({ family: 0x21 }, mappedBody), '10.1.2.3'],
  ['v2 local', v2({ command: 0, family: 0 }), null],
  ['v2 local with addresses', v2({ command: 0 }, ipv4Body), null],
  ['v2 unspecified', v2({ family: 0 }), null],
  ['v2 unix', v2({ family: 0x31 }, Array<number>(216).fill(65)), null],
];

describe('a PROXY protocol header', () => {
  it.each(good)('%s names the client', (_, header, source) => {
    const rest = Buffer.from('GET ');
    expect(whole(Buffer.concat([header, rest]))).toEqual({ kind: 'header', source, rest });
  });

  it.each([
    ['HTTP', 'GET / HTTP/1.1\r\n\r\n'],
    ['another case', 'proxy TCP4 1.1.1.1 2.2.2.2 1 2\r\n'],
    ['another family', 'PROXY UDP4 1.1.1.1 2.2.2.2 1 2\r\n'],
    ['the wrong family', 'PROXY TCP4 ::1 ::1 1 2\r\n'],
    ['a name', 'PROXY TCP4 localhost 2.2.2.2 1 2\r\n'],
    ['an odd spelling', 'PROXY TCP4 127.1 2.2.2.2 1 2\r\n'],
    ['a port too large', 'PROXY TCP4 1.1.1.1 2.2.2.2 1 65536\r\n'],
    ['a port with a zero in front', 'PROXY TCP4 1.1.1.1 2.2.2.2 01 2\r\n'],
    ['two blanks', 'PROXY TCP4  1.1.1.1 2.2.2.2 1 2\r\n'],
    ['something behind', 'PROXY TCP4 1.1.1.1 2.2.2.2 1 2 3\r\n'],
    ['only a line feed', `PROXY TCP4 1.1.1.1 2.2.2.2 1 2\n${'x'.repeat(100)}`],
    ['no end', `PROXY UNKNOWN ${'x'.repeat(107)}`],
    ['an unknown word', 'PROXY UNKNOWNX\r\n'],
    ['version 1 in binary', v2({ version: 1 }, ipv4Body)],
    ['an unknown command', v2({ command: 2 }, ipv4Body)],
    ['datagrams', v2({ family: 0x12 }, ipv4Body)],
    ['an unknown family', v2({ family: 0x41 }, ipv4Body)],
    ['too few bytes for IPv4', v2({}, ipv4Body.slice(1))],
    ['too few bytes for IPv6', v2({ family: 0x21 }, ipv4Body)],
    ['a huge length', v2({ length: 65_535 })],
    ['a broken signature', Buffer.concat([SIGNATURE.subarray(0, 11), Buffer.from('X')])],
  ])('%s is refused', (_, header) => {
    expect(whole(header).kind).toBe('bad');
  });

  it('may come in any pieces, and gives the bytes behind it back whole', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...good),
        fc.uint8Array({ maxLength: 40 }),
        fc.array(fc.nat(60), { maxLength: 80 }),
        ([, header, source], behind, cuts) => {
          const rest = Buffer.from(behind);
          const bytes = Buffer.concat([header, rest]);
          const pieces: Buffer[] = [];
          let at = 0;
          for (const cut of [...cuts, bytes.length]) {
            pieces.push(bytes.subarray(at, at + cut));
            at = Math.min(at + cut, bytes.length);
          }
          expect(inPieces(pieces)).toEqual({ kind: 'header', source, rest });
        },
      ),
    );
  });

  it('by the byte is the same, and is asked for more until it is whole', () => {
    for (const [, header, source] of good) {
      const reader = new ProxyHeaderReader();
      const steps = [...header].map((octet) => reader.push(Buffer.of(octet)));
      expect(steps.slice(0, -1).every(({ kind }) => kind === 'more')).toBe(true);
      expect(steps.at(-1)).toEqual({ kind: 'header', source, rest: Buffer.alloc(0) });
    }
  });

  it('of random bytes never throws, and does not wait for ever', () => {
    const starts = [Buffer.alloc(0), Buffer.from('PROXY TCP4 '), Buffer.concat([SIGNATURE, Buffer.of(0x21)])];
    fc.assert(
      fc.property(fc.constantFrom(...starts), fc.uint8Array({ maxLength: 200 }), (start, bytes) => {
        const reader = new ProxyHeaderReader();
        let step = reader.push(start);
        if (step.kind === 'more') step = reader.push(Buffer.from(bytes));
        if (step.kind === 'more') step = reader.push(Buffer.alloc(5000));
        expect(['header', 'bad']).toContain(step.kind);
      }),
    );
  });
});
