import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChainWriter } from '../../src/audit/chain.js';
import type { AuditRow } from '../../src/storage/ports.js';
import { auditKey, chainOf, checked, entryOf, faultsOf } from '../support/audit.js';

const kinds = (rows: readonly AuditRow[], anchors: readonly AuditRow[] = []): string[] =>
  faultsOf(checked(rows, anchors)).map(({ kind, n, to }) =>
    n === to ? `${kind} ${n}` : `${kind} ${n}-${to}`,
  );

const without = (rows: readonly AuditRow[], from: number, to = from): AuditRow[] =>
  rows.filter(({ n }) => n < from || n > to);

describe('a check of records', () => {
  const rows = chainOf(20);
  const at = (n: number): AuditRow => rows[n - 1] as AuditRow;

  it('names what was altered, removed, moved, cut off, and copied over', () => {
    expect(kinds(rows.map((row) => (row.n === 5 ? { ...row, actor: 'nobody' } : row)))).toEqual([
      'altered 5',
    ]);
    const flipped = rows.map((row) => (row.n === 5 ? { ...row, hash: row.hash.replace(/^./, 'x') } : row));
    expect(kinds(flipped)).toEqual(['altered 5', 'altered 6']);
    expect(kinds(without(rows, 3, 6))).toEqual(['missing 3-6']);
    expect(kinds(without(rows, 1))).toEqual(['missing 1']);
    expect(kinds([...without(rows, 4), at(4)])).toEqual(['out_of_order 4', 'missing 4']);
    expect(kinds(rows.slice(0, 15), [at(18)])).toEqual(['truncated 16-18']);
    expect(kinds([], [at(18)])).toEqual(['truncated 1-18']);
    expect(kinds(rows.map((row) => (row.n === 9 ? { ...at(8), n: 9 } : row)))).toEqual([
      ...['altered 9', 'altered 10'],
    ]);
    expect(kinds([...rows, { ...at(7), actor: 'nobody' }])).toEqual(['conflicting 7']);
  });

  it('takes the same record twice for what a failed write leaves', () => {
    const again = [...rows.slice(0, 12), ...rows.slice(8)];
    expect(kinds(again)).toEqual([]);
    expect(checked(again).findings.map(({ kind, n }) => `${kind} ${n}`)).toEqual([
      ...['repeated 9', 'repeated 10', 'repeated 11', 'repeated 12'],
    ]);
  });

  it('sees a chain that was written anew by somebody with the key, where an anchor saw the old one', () => {
    const writer = new ChainWriter(auditKey, 'c1');
    const forged = Array.from({ length: 20 }, (_, index) => writer.next(entryOf(`other ${index}`), 5));
    expect(kinds(forged)).toEqual([]);
    expect(kinds(forged, [at(10)])).toEqual(['rewritten 10']);
  });

  it('finds a chain gone that a later one names', () => {
    const writer = new ChainWriter(auditKey, 'c2');
    const head = at(20);
    const start = writer.next(
      {
        action: 'audit.start',
        actor: 'system',
        outcome: 'ok',
        detail: { before: { database: [['c1', 20, head.hash], 'x', [1]], file: [['c9', 5, 'x']] } },
      },
      5,
    );
    expect(kinds([...rows, start])).toEqual([]);
    expect(kinds([...rows.slice(0, 19), start])).toEqual(['truncated 20']);
    expect(kinds([start])).toEqual(['truncated 1-20']);
  });

  it('believes a gap that the chain itself tells of, in the sink that it names, and no other', () => {
    const chain = chainOf(30);
    const hash = chain[11]?.hash ?? '';
    const gapIn = (sink: string): AuditRow => gapBehind(chain, { sink, from: 5, to: 12, hash });
    const told = [...without(chain, 5, 12), gapIn('database')];
    expect(kinds(told)).toEqual([]);
    expect(checked(told).findings).toMatchObject([{ kind: 'marked_gap', n: 5, to: 12 }]);
    expect(kinds([...without(chain, 5, 12), gapIn('file')])).toEqual(['missing 5-12']);
    expect(kinds([...without(chain, 5, 13), gapIn('database')])).toEqual(['missing 5-13']);
  });

  it('needs no memory of where the fault was: 2,000 random tamperings, each is seen', () => {
    fc.assert(
      fc.property(
        fc.nat(3),
        fc.integer({ min: 1, max: 19 }),
        fc.integer({ min: 1, max: 20 }),
        (way, a, b) => {
          const tampered =
            way === 0
              ? without(rows, a)
              : way === 1
                ? rows.slice(0, a)
                : way === 2
                  ? swapped(rows, a, b === a ? a + 1 : b)
                  : rows.map((row) => (row.n === a ? { ...row, atMs: row.atMs + b } : row));
          expect(kinds(tampered, [at(20)])).not.toEqual([]);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

function swapped(rows: readonly AuditRow[], a: number, b: number): AuditRow[] {
  const made = [...rows];
  [made[a - 1], made[b - 1]] = [made[b - 1] as AuditRow, made[a - 1] as AuditRow];
  return made;
}

/** The record of a gap, behind these. */
function gapBehind(rows: readonly AuditRow[], detail: Record<string, string | number>): AuditRow {
  const writer = new ChainWriter(auditKey, 'c1');
  for (const { n, atMs } of rows) writer.next(entryOf(n - 1), atMs);
  return writer.next({ action: 'audit.gap', actor: 'system', outcome: 'ok', detail }, 9);
}
