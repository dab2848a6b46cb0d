import { describe, expect, it } from 'vitest';
import { AuditUnavailable } from '../../src/audit/entry.js';
import { openAuditLog, type AuditLog, type AuditParts } from '../../src/audit/log.js';
import type { AlertEvent } from '../../src/core/alert-events.js';
import { seededRandom } from '../../src/core/random.js';
import type { AuditRow } from '../../src/storage/ports.js';
import { auditKey, chainOf, checked, entryOf, eventsOf, faultsOf, ScriptedSink } from '../support/audit.js';
import { FakeClock } from '../support/fake-clock.js';

/** Lets everything happen that waits for nothing but its turn. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

interface Bench {
  readonly audit: AuditLog;
  readonly clock: FakeClock;
  readonly events: AlertEvent[];
  /** Moves the clock in small steps, so that things happen in between. */
  pass(ms: number): Promise<void>;
}

let seed = 1;
function bench(sinks: readonly ScriptedSink[], parts: Partial<AuditParts> = {}): Bench {
  const clock = new FakeClock();
  const { events, emit } = eventsOf();
  const random = seededRandom(seed++);
  const audit = openAuditLog({ sinks, key: () => auditKey, clock, random, emit, ...parts });
  const pass = async (ms: number): Promise<void> => {
    for (let at = 0; at < ms; at += 50) {
      clock.advance(50);
      await settled();
    }
  };
  return { audit, clock, events, pass };
}

/** How promises stand. */
function watch(promises: readonly Promise<void>[]): ('open' | 'ok' | 'refused')[] {
  const states = promises.map((): 'open' | 'ok' | 'refused' => 'open');
  for (const [index, each] of promises.entries()) {
    each.then(
      () => (states[index] = 'ok'),
      (error: unknown) => (states[index] = error instanceof AuditUnavailable ? 'refused' : 'open'),
    );
  }
  return states;
}

const tasks = (rows: readonly AuditRow[]): (string | null)[] =>
  rows.filter(({ action }) => action === 'token.redeem').map(({ task }) => task);

describe('an audit with two sinks', () => {
  it('K8 confirms what one of them has, writes what comes together at once, and both have it all', async () => {
    const [table, file] = [new ScriptedSink('database'), new ScriptedSink('file')];
    const { audit } = bench([table, file]);
    await settled();
    await Promise.all(Array.from({ length: 500 }, (_, index) => audit.record(entryOf(index))));
    await settled();
    expect(tasks(table.rows)).toHaveLength(500);
    expect(file.rows).toEqual(table.rows);
    expect(table.appends).toBeLessThan(5);
    expect(faultsOf(checked(table.rows))).toEqual([]);
    expect(table.rows[0]).toMatchObject({
      n: 1,
      action: 'audit.start',
      detail: { before: { database: [], file: [] } },
    });
    expect(audit.figures()).toMatchObject({ recorded: 500, refused: 0, waiting: 0 });
  });

  it('K8 goes on when one fails or hangs, says so once, and gives it later what it lacks', async () => {
    for (const mood of ['fails', 'fails_late', 'hangs'] as const) {
      const [table, file] = [new ScriptedSink('database'), new ScriptedSink('file')];
      const { audit, events, pass } = bench([table, file]);
      await settled();
      table.mood = mood;
      await audit.record(entryOf(1));
      await pass(5000);
      await Promise.all([audit.record(entryOf(2)), audit.record(entryOf(3))]);
      expect(audit.figures().sinks[0]).toMatchObject({ isWorking: false });
      table.release();
      await pass(2000);
      const turns = events.filter(({ type }) => type === 'audit_sink_turned');
      expect(turns).toMatchObject([
        { sink: 'database', state: 'failing' },
        { sink: 'database', state: 'working', reason: '' },
      ]);
      const distinct = [...new Map(table.rows.map((row) => [row.n, row])).values()];
      expect(distinct).toEqual(file.rows);
      expect(audit.figures().sinks[0]).toMatchObject({ isWorking: true, behind: 0 });
    }
  });

  it('K8 tells in the chain of what a sink will never have, and the check believes it', async () => {
    const [table, file] = [new ScriptedSink('database'), new ScriptedSink('file')];
    const { audit, pass } = bench([table, file]);
    await settled();
    await audit.record(entryOf('first'));
    table.mood = 'fails';
    for (let round = 0; round < 12; round++) {
      await Promise.all(Array.from({ length: 1000 }, (_, index) => audit.record(entryOf(index))));
    }
    expect(audit.figures().sinks[0]?.behind).toBeGreaterThan(10_000);
    table.mood = 'takes';
    await pass(3000);
    expect(table.rows.at(-1)?.action).toBe('audit.gap');
    const verdict = checked(table.rows);
    expect(verdict.findings).toMatchObject([{ kind: 'marked_gap', n: 3 }]);
    expect(faultsOf(verdict)).toEqual([]);
    expect(faultsOf(checked(file.rows))).toEqual([]);
    expect(table.rows.length).toBeLessThan(file.rows.length);
  });
});

describe('an audit whose sinks take nothing', () => {
  it('K8 refuses within 2 s, whether they fail or hang, and tells later what did not happen', async () => {
    for (const mood of ['fails', 'hangs'] as const) {
      const sink = new ScriptedSink('database');
      const { audit, events, pass } = bench([sink]);
      await settled();
      await audit.record(entryOf('before'));
      sink.mood = mood;
      const states = watch([audit.record(entryOf(1)), audit.record(entryOf(2))]);
      await pass(1700);
      expect(states).toEqual(['open', 'open']);
      const later = watch([audit.record(entryOf(3))]);
      await pass(250);
      expect(states).toEqual(['refused', 'refused']);
      expect(later).toEqual(['open']);
      await pass(2000);
      expect(later).toEqual(['refused']);
      expect(events.filter(({ type }) => type === 'audit_refused')).toHaveLength(3);
      sink.release();
      await pass(2000);
      await audit.record(entryOf('after'));
      await settled();
      const unused = sink.rows.find(({ action }) => action === 'audit.unused');
      const named = sink.rows.filter(
        ({ n }) => n >= Number(unused?.detail['from']) && n <= Number(unused?.detail['to']),
      );
      expect(tasks(named)).toEqual(expect.arrayContaining(['1', '2']));
      expect(faultsOf(checked(sink.rows))).toEqual([]);
    }
  });

  it('is bounded: what comes on top of 10,000 that wait is refused at once', async () => {
    const sink = new ScriptedSink('database');
    sink.mood = 'hangs';
    const { audit, pass } = bench([sink]);
    await settled();
    const states = watch(Array.from({ length: 11_500 }, (_, index) => audit.record(entryOf(index))));
    await settled();
    expect(states.filter((each) => each === 'refused').length).toBeGreaterThan(400);
    await pass(2000);
    expect(new Set(states)).toEqual(new Set(['refused']));
    expect(audit.figures().waiting).toBe(0);
  });

  it('K8 refuses while the vault is sealed, and chains from the moment it opens', async () => {
    const sink = new ScriptedSink('file');
    let isSealed = true;
    const key = (): Buffer => {
      if (isSealed) throw new Error('sealed');
      return auditKey;
    };
    const { audit, events } = bench([sink], { key });
    await settled();
    await expect(audit.record(entryOf(1))).rejects.toThrow(AuditUnavailable);
    expect(events).toEqual([{ type: 'audit_refused', action: 'token.redeem', reason: 'sealed' }]);
    isSealed = false;
    await audit.record(entryOf(2));
    expect(tasks(sink.rows)).toEqual(['2']);
  });
});

describe('K8 10,000 records while sinks fail and hang at random', () => {
  it(
    'nothing is confirmed that no sink has, nothing waits longer than 2 s',
    { timeout: 60_000 },
    async () => {
      const sinks = [new ScriptedSink('database'), new ScriptedSink('file')];
      const { audit, clock, pass } = bench(sinks);
      await settled();
      const random = seededRandom(10);
      const kept = new Set<string>();
      const scan = sinks.map(() => 0);
      const isKept = (task: string): boolean => {
        for (const [index, { rows }] of sinks.entries()) {
          for (; (scan[index] ?? 0) < rows.length; scan[index] = (scan[index] ?? 0) + 1)
            kept.add(rows[scan[index] ?? 0]?.task ?? '');
        }
        return kept.has(task);
      };
      let [confirmed, refused, worstMs] = [0, 0, 0];
      const moods = ['takes', 'takes', 'fails', 'fails_late', 'hangs'] as const;
      for (let round = 0; round < 500; round++) {
        for (const sink of sinks) {
          if (random.below(4) !== 0) continue;
          sink.release();
          sink.mood = moods[random.below(moods.length)] ?? 'takes';
        }
        for (let n = 0; n < 20; n++) {
          const task = `${round}-${n}`;
          const askedMs = clock.nowMs();
          audit.record(entryOf(task)).then(
            () => {
              expect(isKept(task), task).toBe(true);
              confirmed += 1;
              worstMs = Math.max(worstMs, clock.nowMs() - askedMs);
            },
            () => {
              refused += 1;
              worstMs = Math.max(worstMs, clock.nowMs() - askedMs);
            },
          );
        }
        await settled();
        await pass(50 * random.below(8));
      }
      for (const sink of sinks) sink.release();
      await pass(6000);
      expect(confirmed + refused).toBe(10_000);
      expect(refused).toBeGreaterThan(100);
      expect(confirmed).toBeGreaterThan(1000);
      expect(worstMs).toBeLessThanOrEqual(2000);
      for (const { rows } of sinks) expect(faultsOf(checked(rows))).toEqual([]);
    },
  );
});

describe('the beginning and the end of a chain', () => {
  it('K8 names the chains before, and gives each sink what only the other had', async () => {
    const old = chainOf(10, 'old');
    const [table, file] = [new ScriptedSink('database', old.slice(0, 7)), new ScriptedSink('file', old)];
    const { audit } = bench([table, file]);
    await audit.record(entryOf(1));
    await settled();
    const oldInTable = table.rows.filter(({ chain }) => chain === 'old');
    expect(oldInTable).toEqual(old);
    const start = table.rows.find(({ action }) => action === 'audit.start');
    expect(start?.detail['before']).toEqual({
      ...{ database: [['old', 7, old[6]?.hash]], file: [['old', 10, old[9]?.hash]] },
    });
    expect(faultsOf(checked(table.rows))).toEqual([]);
    const lost = table.rows.filter((row) => row.chain !== 'old' || row.n < 6);
    expect(faultsOf(checked(lost))).toMatchObject([{ kind: 'truncated', chain: 'old', n: 6, to: 7 }]);
  });

  it('does not wait for a sink that is away, and names its chains when it comes', async () => {
    const old = chainOf(4, 'old');
    const [table, file] = [new ScriptedSink('database', old), new ScriptedSink('file')];
    table.mood = 'fails';
    const { audit, pass } = bench([table, file]);
    const states = watch([audit.record(entryOf(1))]);
    await pass(1100);
    expect(states).toEqual(['ok']);
    table.mood = 'takes';
    await pass(2000);
    expect(file.rows.map(({ action }) => action)).toEqual(['audit.start', 'token.redeem', 'audit.heads']);
    expect(file.rows[2]?.detail['before']).toEqual({ database: [['old', 4, old[3]?.hash]] });
    expect(table.rows.slice(4)).toEqual(file.rows);
  });

  it('K8 anchors the head every 1,000 records, after a minute, and at the end', async () => {
    const file = new ScriptedSink('file');
    const { audit, events, pass } = bench([file]);
    await settled();
    await Promise.all(Array.from({ length: 1500 }, (_, index) => audit.record(entryOf(index))));
    await settled();
    const anchors = (): number[] =>
      events.flatMap((each) => (each.type === 'audit_anchored' ? [each.n] : []));
    expect(file.anchors.map(({ n }) => n)).toEqual(anchors());
    expect(anchors()[0]).toBeGreaterThanOrEqual(1000);
    await pass(61_000);
    expect(anchors().at(-1)).toBe(1501);
    await audit.record(entryOf('last'));
    await audit.close();
    expect(file.rows.at(-1)).toMatchObject({ action: 'audit.stop', n: 1503 });
    expect(anchors().at(-1)).toBe(1503);
    expect(file.isClosed).toBe(true);
    await expect(audit.record(entryOf('too late'))).rejects.toThrow(AuditUnavailable);
    await audit.close();
  });

  it('ends within two seconds though a sink hangs', async () => {
    const [table, file] = [new ScriptedSink('database'), new ScriptedSink('file')];
    const { audit, pass } = bench([table, file]);
    await settled();
    table.mood = 'hangs';
    await audit.record(entryOf(1));
    const states = watch([audit.close()]);
    await pass(2100);
    expect(states).toEqual(['ok']);
    expect([table.isClosed, file.isClosed]).toEqual([false, true]);
  });
});
