import { expect, it } from 'vitest';
import { Fields } from '../../src/http1/fields.js';
import { endToEnd } from '../../src/http1/forwardable.js';

it('drops what speaks to the next hop only, what Connection names, and what it is told (H27, A09)', () => {
  const fields = Fields.of(
    ['Host', 'a.test'],
    ['Connection', 'close, X-Secret'],
    ['x-secret', '1'],
    ['Keep-Alive', 'timeout=5'],
    ['Proxy-Connection', 'keep-alive'],
    ['TE', 'trailers'],
    ['Trailer', 'X'],
    ['Transfer-Encoding', 'chunked'],
    ['Upgrade', 'h2c'],
    ['HTTP2-Settings', 'AAMAAABkAAQAAP__'],
    ['Proxy-Authorization', 'Basic x'],
    ['Proxy-Authenticate', 'Basic'],
    ['Proxy-Authentication-Info', 'x'],
    ['connection', 'X-Other'],
    ['X-Other', '2'],
    ['X-Session-Id', 's'],
    ['aCCept', '*/*'],
    ['Content-Length', '5'],
  );
  const kept = endToEnd(fields, (name) => name === 'x-session-id');
  expect(kept.pairs()).toEqual([
    ['Host', 'a.test'],
    ['aCCept', '*/*'],
    ['Content-Length', '5'],
  ]);
  expect(fields.length).toBe(18);
});
