import { expect, it } from 'vitest';
import { loadRules } from '../../src/config/rule-file.js';
import { ruleActions, ruleScopes } from '../../src/outcome/finding.js';

it.each(ruleActions)('%s can be asked for by a rule', (action) => {
  const loaded = loadRules(`rules: [{ name: r, when: { status: 403 }, then: ${action} }]`);
  expect(loaded.kind === 'rules' && loaded.rules[0]?.then).toEqual([action]);
});

it.each(ruleScopes)('%s can be blamed by a rule', (scope) => {
  const loaded = loadRules(`rules: [{ name: r, when: { status: 403 }, scope: ${scope} }]`);
  expect(loaded.kind === 'rules' && loaded.rules[0]?.scope).toBe(scope);
});
