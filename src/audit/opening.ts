/**
 * What happens before a process writes its first record: each sink says how far the chains before have come, so that the
 * new chain can name them; and where one sink lacks the end of a chain that the file knows, it gets it from the other.
 */
import type { Clock } from '../core/clock.js';
import type { AuditLane } from './lane.js';
import type { AuditSink, ChainHead } from './sink.js';

/** A sink that says nothing for so long is not waited for where another has. */
const patienceMs = 1000;
/** Chains that a new one names; older ones were named by those. */
const mostNamed = 30;
const portion = 1000;

/** Chains that a sink knew, each with place and hash of its last record. */
export type KnownChains = Readonly<Record<string, readonly (readonly [string, number, string])[]>>;

/**
 * Opens the sinks; calls `onOpen` with the chains that they know: first when all have answered, or one has and the others
 * take too long. A sink is held to those only that it knew itself: a table may be a whole fleet's, a file is one gateway's.
 */
export function sinksOpened(
  lanes: readonly AuditLane[],
  clock: Clock,
  onOpen: (before: KnownChains) => void,
): void {
  const known = new Map<AuditSink, readonly ChainHead[]>();
  let isLate = false;
  const told = new Set<AuditSink>();
  const tell = (): void => {
    const fresh = [...known].filter(([sink]) => !told.has(sink));
    if (fresh.length === 0 || (known.size < lanes.length && !isLate)) return;
    for (const [sink] of fresh) told.add(sink);
    onOpen(Object.fromEntries(fresh.map(([{ name }, heads]) => [name, newest(heads)])));
  };
  clock.after(patienceMs, () => {
    isLate = true;
    tell();
  });
  for (const lane of lanes) {
    lane.chores.push(async () => {
      known.set(lane.sink, await lane.sink.heads());
      if (known.size === lanes.length) giveWhatLacks(lanes, known);
      tell();
    });
    lane.run();
  }
}

function newest(heads: readonly ChainHead[]): [string, number, string][] {
  const sorted = heads.toSorted((a, b) => b.atMs - a.atMs);
  return sorted.slice(0, mostNamed).map(({ chain, n, hash }) => [chain, n, hash]);
}

/** Lets each sink catch up with the other, for the chains of this file: a table may hold those of a whole fleet. */
function giveWhatLacks(
  lanes: readonly AuditLane[],
  known: ReadonlyMap<AuditSink, readonly ChainHead[]>,
): void {
  const file = lanes.find(({ sink }) => sink.name === 'file');
  const table = lanes.find(({ sink }) => sink.name === 'database');
  if (file === undefined || table === undefined) return;
  const inFile = new Map(known.get(file.sink)?.map((head) => [head.chain, head.n]));
  const inTable = new Map(known.get(table.sink)?.map((head) => [head.chain, head.n]));
  const catchUp = (from: AuditLane, to: AuditLane, chain: string, have: number): void => {
    to.chores.push(() => copy(from.sink, to.sink, { chain, from: have + 1 }));
  };
  for (const [chain, n] of inFile) {
    const there = inTable.get(chain) ?? 0;
    if (there < n) catchUp(file, table, chain, there);
    else if (there > n) catchUp(table, file, chain, n);
  }
}

async function copy(
  source: AuditSink,
  target: AuditSink,
  rest: { readonly chain: string; readonly from: number },
): Promise<void> {
  for (let { from } = rest; ; from += portion) {
    const rows = await source.read(rest.chain, from, portion);
    if (rows.length > 0) await target.append(rows);
    if (rows.length < portion) return;
  }
}
