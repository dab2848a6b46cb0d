import { describe, expect, it } from 'vitest';
import { one } from './rule-books.js';

describe('conditions of the body', () => {
  it.each([
    ['{ body: { contains: [x1, CAPTCHA] } }', { body: 'a captcha' }, 'r body: CAPTCHA'],
    ['{ body: { contains_all: [are you, a robot] } }', { body: 'Are you? A robot!' }, 'r body: a robot'],
    ['{ body: { contains_all: [are you, a robot] } }', { body: 'Are you?' }, undefined],
    ["{ body: { matches: 'incident [0-9]+' } }", { body: 'INCIDENT 42' }, 'r body: INCIDENT 42'],
    ["{ body: { matches: 'incident [0-9]+' } }", { body: 'incident x' }, undefined],
    ['{ body: { contains: abc, within: 4 } }', { body: '..abc' }, undefined],
    ['{ body: { contains: abc, within: 5 } }', { body: '..abc' }, 'r body: abc'],
    ['{ body: { contains: abc } }', { body: 'abc', isReadable: false }, undefined],
    ['{ size_below: 10 }', { body: 'short' }, 'r size_below: 5 bytes, limit 10'],
    ['{ size_below: 10 }', { body: 'short', length: null }, 'r size_below: 5 bytes, limit 10'],
    ['{ size_below: 10 }', { body: 'short', length: null, isWhole: false }, undefined],
    ['{ size_below: 10 }', { body: 'short', isReadable: false }, undefined],
    ['{ size_below: 10 }', { body: 'short', status: 404 }, undefined],
    ['{ size_below: 10, status: 404 }', { body: 'short', status: 404 }, 'r size_below: 5 bytes, limit 10'],
    [
      "{ size_below: '30%' }",
      { body: 'short', usual: { size: 100, firstByteMs: null } },
      'r size_below: 5 bytes, limit 30',
    ],
    ["{ size_below: '30%' }", { body: 'short' }, undefined],
    ['{ size_below: 10, body: { contains: or } }', { body: 'short' }, 'r body: or'],
    ['{ size_below: 3, body: { contains: or } }', { body: 'short' }, undefined],
    ['{ missing: { text: [basket, price] } }', { body: 'hm' }, 'r missing: basket, price'],
    ['{ missing: { text: [basket, price] } }', { body: 'a PRICE' }, undefined],
    ['{ missing: { text: basket } }', { body: 'hm', isWhole: false }, undefined],
    ["{ missing: { selector: 'b.price' } }", { body: '<b>1</b>' }, 'r missing: the selector'],
    ["{ missing: { selector: 'b.price' } }", { body: '<b class=price>1</b>' }, undefined],
    ["{ missing: { selector: 'b.price' } }", { body: '<b>', status: 404 }, undefined],
  ] as const)('%s', (when, page, expected) => {
    expect(one(when, page)).toBe(expected);
  });
});
