import { describe, expect, it } from 'vitest';
import { ruleActions, ruleScopes } from '../../src/outcome/finding.js';

describe('the words of rules', () => {
  it('are these', () => {
    expect(ruleActions).toEqual(['ban', 'retry', 'throttle', 'retry_only', 'deliver', 'freeze', 'exhaust']);
    expect(ruleScopes).toEqual(['exit_site', 'exit', 'credential']);
  });
});
