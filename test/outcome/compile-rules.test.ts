import { describe, expect, it } from 'vitest';
import { loadRules } from '../../src/config/rule-file.js';
import { compileRules } from '../../src/outcome/compile-rules.js';

describe('rules that can not be used', () => {
  it.each([
    ['[{ name: r, when: {} }]', 'rules[0].when', 'has no condition'],
    ['[{ name: r, when: { status: 99 } }]', 'rules[0].when.status', 'expected a status'],
    ['[{ name: r, when: { status: 500-400 } }]', 'rules[0].when.status', 'expected a status'],
    ['[{ name: r, when: { size_below: huge } }]', 'rules[0].when.size_below', 'expected a size'],
    [
      '[{ name: r, when: { body: { matches: "(a+)+" } } }]',
      'rules[0].when.body.matches',
      'rule r: has no fixed text',
    ],
    [
      '[{ name: r, when: { body: { matches: "(a" } } }]',
      'rules[0].when.body.matches',
      'rule r: the pattern can not be read',
    ],
    [
      '[{ name: r, when: { missing: { selector: "[" } } }]',
      'rules[0].when.missing.selector',
      'rule r: the selector can not be read',
    ],
    [
      `[{ name: r, when: { body: { contains: ${'é'.repeat(200)} } } }]`,
      'rules[0].when.body',
      'rule r: a text to look for',
    ],
    [
      `[{ name: r, when: { missing: { text: ${'é'.repeat(200)} } } }]`,
      'rules[0].when.missing.text',
      'rule r: a text to look for',
    ],
    [
      '[{ name: r, when: { connect_fault: reset, status: 200 } }]',
      'rules[0].when.connect_fault',
      'rule r: a fault has no answer',
    ],
    [
      '[{ name: r, when: [{ status: 200 }, { connect_fault: reset, status: 200 }] }]',
      'rules[0].when[1].connect_fault',
      'rule r: a fault has no answer',
    ],
    ['[{ name: r, when: { status: 200 }, then: [] }]', 'rules[0].then', 'rule r: asks for nothing'],
    ['[{ name: r, when: { status: 200 }, then: [deliver, ban] }]', 'rules[0].then', 'rule r: deliver means'],
    [
      '[{ name: r, when: { status: 200 }, then: [retry_only, ban] }]',
      'rules[0].then',
      'rule r: retry_only holds',
    ],
    ['[{ name: r, when: { status: 200 }, then: [burn] }]', 'rules[0].then', 'expected one of'],
    [
      '[{ name: r, when: { status: 200 } }, { name: r, when: { status: 201 } }]',
      'rules[1].name',
      'rule r: another rule has this name',
    ],
    ['[{ name: r, when: { stauts: 200 } }]', 'rules[0].when.stauts', 'did you mean status?'],
  ])('%s', (rules, path, message) => {
    const loaded = loadRules(`rules: ${rules}`);
    if (loaded.kind === 'rules') throw new Error('they were taken');
    expect(loaded.problems.map((problem) => problem.path)).toEqual(
      expect.arrayContaining([expect.stringContaining(path)]),
    );
    expect(loaded.problems.map((problem) => problem.message).join()).toContain(message);
  });

  it('a host pattern that is none is refused where specs come from elsewhere', () => {
    const spec = {
      name: 'r',
      site: ['a b'],
      when: [{ status: [{ from: 200, to: 200 }] }],
      then: ['ban'],
      scope: 'exit',
      shadow: false,
    } as const;
    expect(compileRules([spec])).toMatchObject({ kind: 'problems', problems: [{ path: ['site', 0] }] });
  });

  it('an own rule takes the place of the shipped one of its name', () => {
    const loaded = loadRules('rules: [{ name: cloudflare-block, when: { status: 200 } }]');
    expect(
      loaded.kind === 'rules' && loaded.rules.filter(({ name }) => name === 'cloudflare-block'),
    ).toHaveLength(1);
  });
});
