import { expect, it } from 'vitest';
import { HeldBytes } from '../../src/http1/held-bytes.js';
import { bytesOf } from './drive.js';

it('keeps copies, gives them out once, and holds on to its room until it is cleared', () => {
  const held = new HeldBytes();
  expect(held.release()).toBe('');
  const lent = bytesOf('ab\xff');
  held.append(lent);
  lent.fill(0);
  held.append(bytesOf('c'.repeat(1_000)));
  held.append(Buffer.alloc(0));
  expect(held.length).toBe(1_003);
  expect(held.release()).toBe(`ab\xff${'c'.repeat(1_000)}`);
  expect(held.length).toBe(0);
  held.append(bytesOf('d'));
  held.clear();
  expect(held.release()).toBe('');
  held.append(bytesOf('e'));
  expect(held.release()).toBe('e');
});
