import { describe, expect, it } from 'vitest';
import { controlTable } from '../../../src/request/control-table.js';
import { usernameKeys } from '../../../src/request/dialects/dialect.js';

describe('keys of usernames', () => {
  it('are the controls, but for those that only a header can carry', () => {
    const headerOnly = ['feedback', 'token'];
    expect([...usernameKeys, ...headerOnly].sort()).toEqual([...controlTable.keys()].sort());
  });
});
