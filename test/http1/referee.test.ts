/**
 * Our reader against llhttp on the same bytes: where both take a message they must read the same, and what llhttp
 * refuses in a request, so must we.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BodyReader, requestFraming, responseFraming } from '../../src/http1/body.js';
import { RequestHeadReader, ResponseHeadReader } from '../../src/http1/head.js';
import { SEED, bytesOf, limits } from './drive.js';
import type { Judged } from './llhttp.js';
import { judge, methodsOfNode } from './llhttp.js';
import { goodRequests, goodResponses, spoiled } from './messages.js';

const numRuns = 5_000;

/** A whole message as our codec reads it, with a close after it. */
function ours(bytes: Buffer, side: 'request' | 'response'): Judged & { readonly tolerated?: boolean } {
  const step = side === 'request' ? readRequest(bytes) : readResponse(bytes);
  if (step === 'more') return { kind: 'more' };
  if (step === 'fault') return { kind: 'fault' };
  const { framing, rest, line, pairs, tolerated } = step;
  const reader = new BodyReader(framing, { tolerant: side === 'response', trailerLimits: limits });
  let body = '';
  let end = reader.push(rest, (slice) => (body += slice.toString('latin1')));
  if (end.kind === 'more') end = reader.finish();
  if (end.kind === 'fault') return { kind: end.fault.kind === 'closed' ? 'more' : 'fault' };
  return { kind: 'message', line, pairs, body, tolerated };
}

function readRequest(bytes: Buffer) {
  const step = new RequestHeadReader(limits).push(bytes);
  if (step.kind !== 'head') return step.kind;
  const framed = requestFraming(step.head);
  if (framed.kind === 'fault') return 'fault';
  const { method, target, minor, fields } = step.head;
  const line = `${method} ${target} 1.${minor}`;
  return { framing: framed.framing, rest: step.rest, line, pairs: fields.pairs(), tolerated: false };
}

function readResponse(bytes: Buffer) {
  const step = new ResponseHeadReader(limits).push(bytes);
  if (step.kind !== 'head') return step.kind;
  const framed = responseFraming(step.head, 'GET');
  if (framed.kind === 'fault') return 'fault';
  const { status, reason, minor, fields, tolerated } = step.head;
  const line = `1.${minor} ${status} ${reason}`;
  return {
    framing: framed.framing,
    rest: step.rest,
    line,
    pairs: fields.pairs(),
    tolerated: tolerated.length > 0,
  };
}

/**
 * What llhttp has narrower on purpose: a closed list of methods, targets of ASCII, and the form of a target, which
 * is not for the codec to judge.
 */
function isNarrowness(line: string, code: string | undefined): boolean {
  const [method = '', target = ''] = line.split(' ');
  if (!methodsOfNode.includes(method)) return true;
  return code === 'HPE_INVALID_URL' && (!target.startsWith('/') || /[\x80-\xff]/.test(target));
}

/**
 * Where llhttp is wrong about an answer: it does not see `chunked` before a tab, though a tab is optional white
 * space (RFC 9110, section 5.6.3), and it reads the body that a 1xx announces (RFC 9112, section 6.3).
 */
const isTheirFault = (text: string): boolean => /chunked *\t/i.test(text) || /^HTTP\/1.\d 1/.test(text);

function compare(text: string, side: 'request' | 'response'): void {
  const bytes = bytesOf(text);
  const mine = ours(bytes, side);
  const theirs = judge(bytes, side);
  if (mine.kind !== 'message') return;
  if (theirs.kind === 'message') {
    if (mine.tolerated === true || isTheirFault(text)) return;
    const { line, pairs, body } = mine;
    expect({ line, pairs, body }).toEqual({ line: theirs.line, pairs: theirs.pairs, body: theirs.body });
    return;
  }
  if (side === 'request' && !isNarrowness(mine.line ?? '', theirs.code)) {
    expect.unreachable(`llhttp says ${theirs.kind} ${theirs.code ?? ''} to ${JSON.stringify(text)}`);
  }
}

describe('beside llhttp', () => {
  it('reads good requests alike', () => {
    const property = fc.property(goodRequests, ({ wire }) => {
      const { kind, code } = judge(bytesOf(wire), 'request');
      expect(kind === 'message' || isNarrowness(wire, code)).toBe(true);
      expect(ours(bytesOf(wire), 'request').kind).toBe('message');
      compare(wire, 'request');
    });
    fc.assert(property, { seed: SEED, numRuns: 1_000 });
  });

  it('reads good answers alike', () => {
    const property = fc.property(goodResponses, ({ wire }) => {
      expect(judge(bytesOf(wire), 'response').kind).toBe('message');
      expect(ours(bytesOf(wire), 'response').kind).toBe('message');
      compare(wire, 'response');
    });
    fc.assert(property, { seed: SEED, numRuns: 1_000 });
  });

  it('takes no spoiled request that llhttp refuses, and reads the others alike', () => {
    fc.assert(
      fc.property(spoiled(goodRequests), (text) => compare(text, 'request')),
      { seed: SEED, numRuns },
    );
  });

  it('reads spoiled answers alike where both take them and nothing was tolerated', () => {
    fc.assert(
      fc.property(spoiled(goodResponses), (text) => compare(text, 'response')),
      { seed: SEED, numRuns },
    );
  });
});
