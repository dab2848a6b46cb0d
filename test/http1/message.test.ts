import { expect, it } from 'vitest';
import { malformed, tooLarge } from '../../src/http1/message.js';

it('names the kind of a fault', () => {
  expect(malformed('why')).toEqual({ kind: 'malformed', detail: 'why' });
  expect(tooLarge('why')).toEqual({ kind: 'too_large', detail: 'why' });
});
