import { describe, expect, it } from 'vitest';
import { isWithin, needOf, routeNeeds, scopes } from '../../src/admin/scopes.js';

describe('scopes', () => {
  it('hold those behind them and no other', () => {
    expect(
      isWithin(['admin'], 'admin') && isWithin(['admin'], 'operator') && isWithin(['admin'], 'read'),
    ).toBe(true);
    expect([isWithin(['operator'], 'admin'), isWithin(['operator'], 'read')]).toEqual([false, true]);
    expect([isWithin(['read'], 'operator'), isWithin(['read'], 'read')]).toEqual([false, true]);
    expect(isWithin([], 'read')).toBe(false);
    expect(isWithin(['read', 'operator'], 'operator')).toBe(true);
    const takesTokens = scopes.filter((scope) => isWithin([scope], 'tokens'));
    expect(takesTokens).toEqual(['admin', 'tokens']);
    expect(scopes.filter((scope) => isWithin(['tokens'], scope))).toEqual(['tokens']);
  });

  it('are wanted as the table says; what is not in it is nobody’s', () => {
    expect(needOf('GET', '/api/v1/pools')).toBe('read');
    expect(needOf('HEAD', '/api/v1/pools')).toBe('read');
    for (const [method, path] of [
      ['GET', '/api/v1/other'],
      ['POST', '/api/v1/pools'],
      ['GET', ''],
      ['GET', '__proto__'],
      ['', 'constructor'],
    ] as const)
      expect(needOf(method, path)).toBeNull();
  });

  it('nothing that changes anything is open or for readers', () => {
    const weak = Object.entries(routeNeeds).filter(
      ([route, need]) => !route.startsWith('GET ') && !['admin', 'operator', 'tokens'].includes(need),
    );
    expect(weak).toEqual([]);
  });

  it('a crawler’s token may take credentials out and nothing else', () => {
    const open = Object.entries(routeNeeds).filter(([, need]) => need === 'tokens');
    expect(open.map(([route]) => route.replace(/^POST \/api\/v1\/tokens\//, ''))).toEqual([
      ...['acquire', 'redeem', 'release', 'consume', 'report'],
    ]);
  });
});
