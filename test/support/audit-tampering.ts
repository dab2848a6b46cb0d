/** Tampers with rows of an audit, again and again, and looks whether each time is seen. */
import { expect } from 'vitest';
import { ChainCheck, isFault, type Anchor, type Finding } from '../../src/audit/check.js';
import { seededRandom } from '../../src/core/random.js';
import type { AuditRow, Database } from '../../src/storage/ports.js';
import { openStore, tamperingHand, type AuditedStore } from './audited-store.js';

/** So many tamperings, each taken back after it was seen; the last record is anchored. */
export async function tamperWithRows(store: AuditedStore, rounds: number): Promise<void> {
  const database = await openStore(store.database);
  const hand = tamperingHand(store.database);
  const [head] = await database.audit.heads();
  const rows = await database.audit.read(head?.chain ?? '', 1, 1000);
  const random = seededRandom(14);
  const anchors = head === undefined ? [] : [head];
  expect(await faults(database, store.key, anchors)).toEqual([]);
  for (let round = 0; round < rounds; round++) {
    const undo = tamperings[round % tamperings.length]?.(hand, rows, random.below);
    expect(await faults(database, store.key, anchors), `round ${round}`).not.toEqual([]);
    undo?.();
  }
  expect(await faults(database, store.key, anchors)).toEqual([]);
  hand.close();
  await database.close();
}

async function faults({ audit }: Database, key: Buffer, anchors: readonly Anchor[]): Promise<Finding[]> {
  const check = new ChainCheck({ key, sink: 'database', continues: false });
  for (const each of anchors) check.anchor(each);
  for (const row of await audit.read(anchors[0]?.chain ?? '', 1, 1000)) check.add(row);
  return check.finish().findings.filter(isFault);
}

type Hand = ReturnType<typeof tamperingHand>;
type Tampering = (hand: Hand, rows: readonly AuditRow[], below: (limit: number) => number) => () => void;

const texts = [
  'action',
  'actor',
  'address',
  'credential',
  'token',
  'policy',
  'task',
  'outcome',
  'detail',
  'hash',
];

const tamperings: readonly Tampering[] = [
  // A column of a row says something else.
  (hand, rows, below) => {
    const n = 2 + below(rows.length - 2);
    const column = texts[below(texts.length)] ?? 'actor';
    hand.run(`create table before as select * from audit where n = ${n}`);
    const said = column === 'detail' ? '{"uses":2}' : 'x';
    hand.run(`update audit set ${column} = ? where n = ${n}`, said);
    return () => {
      hand.run(`update audit set ${column} = (select ${column} from before) where n = ${n}`);
      hand.run('drop table before');
    };
  },
  (hand, rows, below) => {
    const n = 1 + below(rows.length);
    hand.run(`update audit set at_ms = at_ms + 1 where n = ${n}`);
    return () => hand.run(`update audit set at_ms = at_ms - 1 where n = ${n}`);
  },
  // Rows are gone: some in the middle, or all from one on.
  (hand, rows, below) => removed(hand, 1 + below(rows.length), 1 + below(3)),
  (hand, rows, below) => removed(hand, 1 + below(rows.length), rows.length),
  // Two have changed places.
  (hand, rows, below) => {
    const a = 1 + below(rows.length - 1);
    const b = a + 1 + below(rows.length - a);
    const swap = (): void => {
      hand.run('update audit set n = 100000 where n = ?', a);
      hand.run('update audit set n = ? where n = ?', a, b);
      hand.run('update audit set n = ? where n = 100000', b);
    };
    swap();
    return swap;
  },
];

function removed(hand: Hand, from: number, count: number): () => void {
  const range = `n >= ${from} and n < ${from + count}`;
  hand.run(`create table before as select * from audit where ${range}`);
  hand.run(`delete from audit where ${range}`);
  return () => {
    hand.run('insert into audit select * from before');
    hand.run('drop table before');
  };
}
