import { describe, expect, it } from 'vitest';
import { ClientReports } from '../../src/exits/client-reports.js';

const at = { exit: 'u1', site: 'shop.example' };
const fresh = (): ClientReports => new ClientReports(() => ({ holdMs: 1000, clients: 2 }));

describe('reports of clients', () => {
  it('keep the exit away from who made them, at that site and for their time', () => {
    const reports = fresh();
    expect(reports.report('a', at, 0)).toBe('noted');
    expect([...reports.avoidedBy('a', 'shop.example', 999)]).toEqual(['u1']);
    expect(reports.avoidedBy('b', 'shop.example', 0).size).toBe(0);
    expect(reports.avoidedBy('a', 'other.example', 0).size).toBe(0);
    expect([
      reports.isReported('u1', 'shop.example', 999),
      reports.isReported('u1', 'shop.example', 1000),
    ]).toEqual([true, false]);
    expect(reports.avoidedBy('a', 'shop.example', 1000).size).toBe(0);
  });

  it('of one client are one word, of two they agree', () => {
    const reports = fresh();
    expect([reports.report('a', at, 0), reports.report('a', at, 1)]).toEqual(['noted', 'noted']);
    expect(reports.report('b', at, 2)).toBe('agreed');
  });

  it('do not agree with what is over', () => {
    const reports = fresh();
    reports.report('a', at, 0);
    expect(reports.report('b', at, 1000)).toBe('noted');
  });

  it('are taken back by who made them, or settled for all', () => {
    const reports = fresh();
    reports.report('a', at, 0);
    reports.withdraw('b', at);
    expect(reports.isReported('u1', 'shop.example', 1)).toBe(true);
    reports.withdraw('a', at);
    expect(reports.isReported('u1', 'shop.example', 1)).toBe(false);
    for (const client of ['a', 'b']) reports.report(client, at, 2);
    reports.settle('u1', 'shop.example');
    expect(reports.avoidedBy('a', 'shop.example', 3).size).toBe(0);
  });

  it('are bounded, for each client by itself', () => {
    const reports = fresh();
    for (let n = 0; n < 1000; n++) reports.report('a', { ...at, exit: `v${n}` }, 0);
    expect(reports.report('a', { ...at, exit: 'more' }, 999)).toBe('too_many');
    expect(reports.report('a', { ...at, exit: 'v5' }, 999)).toBe('noted');
    expect(reports.report('b', at, 999)).toBe('noted');
    expect(reports.report('a', { ...at, exit: 'more' }, 1000)).toBe('noted');
    for (let n = 0; n < 998; n++) reports.report(`c${n}`, at, 1000);
    expect(reports.report('one more', at, 1000)).toBe('too_many');
    expect(reports.report('one more', at, 2000)).toBe('noted');
  });
});
