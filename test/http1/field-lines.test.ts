import { describe, expect, it } from 'vitest';
import { FAULT, FieldLines, MORE } from '../../src/http1/field-lines.js';

describe('field lines', () => {
  it('come in any number of texts, up to the blank line', () => {
    const lines = new FieldLines(10, false);
    expect(lines.read('ignoredA: 1\r\n', 7)).toBe(MORE);
    expect(lines.read('', 0)).toBe(MORE);
    expect(lines.read('B: 2\r\n\r\nrest\r\n', 0)).toBe(8);
    expect(lines.fields.pairs()).toEqual([
      ['A', '1'],
      ['B', '2'],
    ]);
    expect(lines.tolerated).toEqual([]);
  });

  it('fold onto a line of an earlier text', () => {
    const lines = new FieldLines(10, true);
    lines.read('A: 1\n', 0);
    lines.read(' 2\n', 0);
    expect(lines.fields.pairs()).toEqual([['A', '1 2']]);
    expect(lines.tolerated).toEqual(['lf_line_end', 'folded_line']);
  });

  it('stop at the first that is refused', () => {
    const lines = new FieldLines(10, false);
    expect(lines.read('A: 1\r\nB : s3cret\r\nC: 3\r\n\r\n', 0)).toBe(FAULT);
    expect(lines.fault).toEqual({ kind: 'malformed', detail: 'a blank in a field name or before its colon' });
    expect(lines.fields.length).toBe(1);
  });

  it.each([
    ['A', 'a field line without colon'],
    [' A: b', 'a folded field line'],
    ['A b: c', 'a blank in a field name or before its colon'],
    [': b', 'an empty or bad field name'],
    ['A(: b', 'a bad character in a field name'],
    ['A: \x01', 'a control byte in a field value'],
  ])('say why: %j', (line, detail) => {
    const lines = new FieldLines(10, false);
    lines.read(`${line}\r\n`, 0);
    expect(lines.fault?.detail).toBe(detail);
  });

  it('are counted', () => {
    const lines = new FieldLines(1, false);
    expect(lines.read('A: 1\r\n\r\n', 0)).toBe(8);
    expect(new FieldLines(1, false).read('A: 1\r\nB: 2\r\n', 0)).toBe(FAULT);
  });
});
