import { describe, expect, it } from 'vitest';
import { Fields, connectionTokens, isHopByHop, listTokens } from '../../src/http1/fields.js';

const sample = (): Fields => Fields.of(['A', '1'], ['b', '2'], ['a', '3'], ['C', '4']);

describe('Fields', () => {
  it('finds by lower-case name, keeps order and case', () => {
    const fields = sample();
    expect(fields.length).toBe(4);
    expect([fields.get('a'), fields.get('x')]).toEqual(['1', undefined]);
    expect(fields.all('a')).toEqual(['1', '3']);
    expect([fields.count('a'), fields.count('x')]).toEqual([2, 0]);
    expect([fields.has('c'), fields.has('C')]).toEqual([true, false]);
    expect([fields.nameAt(2), fields.lowerNameAt(0), fields.valueAt(3)]).toEqual(['a', 'a', '4']);
    expect([fields.nameAt(9), fields.lowerNameAt(9), fields.valueAt(9)]).toEqual(['', '', '']);
  });

  it('sets one line in the place of the first (H15)', () => {
    const fields = sample();
    fields.set('a', 'x');
    fields.set('D', 'y');
    expect(fields.pairs()).toEqual([
      ['A', 'x'],
      ['b', '2'],
      ['C', '4'],
      ['D', 'y'],
    ]);
  });

  it('removes all lines of a name', () => {
    const fields = sample();
    fields.remove('a');
    fields.remove('nothing');
    expect(fields.pairs()).toEqual([
      ['b', '2'],
      ['C', '4'],
    ]);
  });

  it('copies apart from the original', () => {
    const fields = sample();
    const copy = fields.copy();
    const fewer = fields.without((name) => name === 'a');
    copy.append('E', '5');
    fewer.append('F', '6');
    expect(fields.length).toBe(4);
    expect(fewer.pairs().map(([name]) => name)).toEqual(['b', 'C', 'F']);
  });

  it('amends its last line', () => {
    const fields = sample();
    fields.amendLast('new');
    expect(fields.valueAt(3)).toBe('new');
    fields.amendLast(null);
    expect(fields.length).toBe(3);
    const none = Fields.empty();
    none.amendLast('x');
    expect(none.length).toBe(0);
  });

  it('holds nothing that breaks its line', () => {
    const fields = Fields.of(['A', 'x\r\nB: y\0\x7f'], ['C', 'Ċ€\t\xff']);
    fields.set('D', '\n');
    expect(fields.pairs()).toEqual([
      ['A', 'x  B: y  '],
      ['C', '  \t\xff'],
      ['D', ' '],
    ]);
    for (const name of ['', 'A B', 'A:', 'A\r\n', 'Ä', 'Ā']) {
      expect(() => fields.append(name, 'x')).toThrow(TypeError);
      expect(() => fields.set(name, 'x')).toThrow(TypeError);
    }
  });

  it('takes over another list, repeated names too', () => {
    const fields = Fields.of(['A', '0']);
    fields.appendAll(sample());
    expect(fields.pairs()).toEqual([['A', '0'], ...sample().pairs()]);
    expect(fields.all('a')).toEqual(['0', '1', '3']);
  });

  it('is written line by line', () => {
    expect(sample().toWire()).toBe('A: 1\r\nb: 2\r\na: 3\r\nC: 4\r\n');
  });
});

describe('lists', () => {
  it('joins all lines, ignores case and empty members (RFC 9110, 5.6.1)', () => {
    const fields = Fields.of(['Connection', ' Close ,, X-A'], ['connection', 'TE'], ['X', 'a,b']);
    expect(connectionTokens(fields)).toEqual(['close', 'x-a', 'te']);
    expect(listTokens(fields, 'x')).toEqual(['a', 'b']);
    expect(connectionTokens(Fields.empty())).toEqual([]);
  });

  it('strips blanks and nothing that only looks like one', () => {
    expect(connectionTokens(Fields.of(['Connection', '\t close\xa0']))).toEqual(['close\xa0']);
  });

  it('knows what is hop by hop', () => {
    expect(['connection', 'te', 'http2-settings'].every(isHopByHop)).toBe(true);
    expect(['content-length', 'host', 'x'].some(isHopByHop)).toBe(false);
  });
});
