/** Entries, sinks and checks for tests of the audit. */
import type { AuditEntry } from '../../src/audit/entry.js';
import { ChainCheck, isFault, type Finding, type Verdict } from '../../src/audit/check.js';
import { ChainWriter } from '../../src/audit/chain.js';
import type { AuditSink, ChainHead } from '../../src/audit/sink.js';
import type { AlertEvent } from '../../src/core/alert-events.js';
import type { AuditRow } from '../../src/storage/ports.js';

export const auditKey = Buffer.alloc(32, 7);

export const entryOf = (task: number | string): AuditEntry => ({
  action: 'token.redeem',
  actor: 'crawler-1',
  address: '192.0.2.7',
  credential: 'shop/anna',
  token: 'a1b2c3d4',
  policy: 'shop',
  task: String(task),
  outcome: 'ok',
  detail: { uses: 1, grün: ['a', null, true] },
});

/** A chain of so many records. */
export function chainOf(count: number, name = 'c1'): AuditRow[] {
  const writer = new ChainWriter(auditKey, name);
  return Array.from({ length: count }, (_, index) => writer.next(entryOf(index), 1_700_000_000_000 + index));
}

/** What a check says of records, with how far others saw their chains. */
export function checked(
  rows: readonly AuditRow[],
  anchors: readonly Pick<AuditRow, 'chain' | 'n' | 'hash'>[] = [],
): Verdict {
  const check = new ChainCheck({ key: auditKey, sink: 'database', continues: false });
  for (const each of anchors) check.anchor(each);
  for (const row of rows) check.add(row);
  return check.finish();
}

export const faultsOf = ({ findings }: Verdict): Finding[] => findings.filter(isFault);

/** A sink that does what the test says. */
export class ScriptedSink implements AuditSink {
  rows: AuditRow[] = [];
  anchors: ChainHead[] = [];
  appends = 0;
  isClosed = false;
  /** What becomes of the next batches: taken, refused, refused though it is there, or no answer until `release`. */
  mood: 'takes' | 'fails' | 'fails_late' | 'hangs' = 'takes';
  private readonly held: (() => void)[] = [];

  constructor(
    readonly name: 'database' | 'file',
    private readonly before: AuditRow[] = [],
  ) {
    this.rows = [...before];
  }

  async append(rows: readonly AuditRow[]): Promise<void> {
    this.appends += 1;
    if (this.mood === 'fails') throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    if (this.mood === 'hangs') await new Promise<void>((resolve) => this.held.push(resolve));
    this.rows.push(...rows);
    if (this.mood === 'fails_late') throw Object.assign(new Error('lost'), { code: 'ECONNRESET' });
  }

  release(): void {
    this.mood = 'takes';
    for (const each of this.held.splice(0)) each();
  }

  anchor(head: ChainHead): Promise<void> {
    this.anchors.push(head);
    return Promise.resolve();
  }

  heads(): Promise<readonly ChainHead[]> {
    if (this.mood === 'fails') return Promise.reject(new Error('away'));
    const heads = new Map(this.before.map((row): [string, ChainHead] => [row.chain, row]));
    return Promise.resolve([...heads.values()]);
  }

  read(chain: string, from: number, limit: number): Promise<readonly AuditRow[]> {
    const rows = this.rows.filter((row) => row.chain === chain && row.n >= from);
    return Promise.resolve(rows.slice(0, limit));
  }

  reopen(): void {
    // Nothing is open.
  }

  close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }
}

/** Keeps events. */
export function eventsOf(): { readonly events: AlertEvent[]; readonly emit: (event: AlertEvent) => void } {
  const events: AlertEvent[] = [];
  return { events, emit: (event) => void events.push(event) };
}
