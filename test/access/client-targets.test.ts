import { describe, expect, it } from 'vitest';
import { checkClientTarget } from '../../src/access/client-targets.js';
import { anonymousClient } from '../../src/access/clients.js';
import type { Client } from '../../src/access/clients.js';
import { parseAuthority } from '../../src/protocol/target.js';

function codeOf(client: Client, hostPort: string): string | undefined {
  const result = parseAuthority(hostPort);
  if (result.kind === 'refused') throw new Error(result.failure.detail);
  return checkClientTarget(client, result.target)?.code;
}

const clientFor = (...targets: string[]): Client => ({ ...anonymousClient, name: 'crawler', targets });

describe('targets of a client', () => {
  it('are all where none is listed', () => {
    expect(codeOf(clientFor(), 'a.test:443')).toBeUndefined();
  });

  it('are those that are listed', () => {
    const client = clientFor('shop.example', '*.shop.example');
    for (const open of ['shop.example:443', 'a.b.SHOP.example.:80'])
      expect(codeOf(client, open)).toBeUndefined();
    for (const shut of ['evil-shop.example:443', 'shop.example.evil.test:443', '93.184.216.34:443']) {
      expect(codeOf(client, shut)).toBe('target_refused');
    }
  });

  it('are none where what is listed is no pattern', () => {
    expect(codeOf(clientFor('not a pattern'), 'a.test:443')).toBe('target_refused');
  });
});
