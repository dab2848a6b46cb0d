import { describe, expect, it } from 'vitest';
import { auditedContext, contextFault } from '../../src/credentials/acquire-context.js';

describe('K8 K11 what an asker says of its work', () => {
  it('is bounded', () => {
    expect(contextFault({ target: 'shop.example', task_id: 1 })).toBeNull();
    expect(contextFault({ note: 'x'.repeat(4096) })).toMatchObject({ path: 'context' });
  });

  it('names target and task for the audit', () => {
    expect(auditedContext({ target: 'shop.example', task_id: 17 })).toEqual({
      target: 'shop.example',
      task: '17',
    });
    expect(auditedContext({ target: ['x'], task_id: null })).toEqual({ target: null, task: null });
    expect(auditedContext({ target: 'x'.repeat(300) }).target).toHaveLength(253);
  });
});
