import { describe, expect, it } from 'vitest';
import { Memo, ownCopy } from '../../src/protocol/memo.js';

describe('memo', () => {
  it('remembers up to its capacity and then begins anew', () => {
    const memo = new Memo<number>(2);
    memo.set('a', 1);
    memo.set('b', 2);
    expect([memo.get('a'), memo.get('b'), memo.size]).toEqual([1, 2, 2]);
    memo.set('c', 3);
    expect([memo.get('a'), memo.get('c'), memo.size]).toEqual([undefined, 3, 1]);
  });

  it('copies latin1 text byte for byte', () => {
    const text = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).join('');
    expect(ownCopy(text)).toBe(text);
  });
});
