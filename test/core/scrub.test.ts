import { expect, it } from 'vitest';
import { scrub } from '../../src/core/scrub.js';

it.each([
  ['nothing to see', 'nothing to see'],
  ['mail me@example.com', 'mail me@example.com'],
  ['http://u:p@h:1/x failed', 'http://[secret]@h:1/x failed'],
  ['at socks5://u:p/@s@h, twice http://a:b@c', 'at socks5://[secret]@h, twice http://[secret]@c'],
  ['"http://u:p@h"', '"http://[secret]@h"'],
])('%s', (text, clean) => expect(scrub(text)).toBe(clean));
