/**
 * Verifies records of the audit against the key, and against what others saw of the chains (anchors). Records of several
 * chains may come mixed, those of one chain in the order that their place keeps them in. Pure; says what is wrong and where.
 */
import { chainStart, recordHash } from './chain.js';
import type { AuditRow } from '../storage/ports.js';

/** How far somebody saw a chain. */
export interface Anchor {
  readonly chain: string;
  readonly n: number;
  readonly hash: string;
}

/** Something about the records. */
export interface Finding {
  readonly kind:
    | 'altered'
    | 'missing'
    | 'out_of_order'
    | 'conflicting'
    | 'truncated'
    | 'rewritten'
    | 'unreadable'
    // What is no fault:
    | 'marked_gap'
    | 'repeated'
    | 'torn';
  readonly chain: string;
  /** Place of the record, or of the first one. */
  readonly n: number;
  /** The last one, where it is about several. */
  readonly to: number;
}

const harmless: ReadonlySet<Finding['kind']> = new Set(['marked_gap', 'repeated', 'torn']);

/** Whether somebody tampered, or records were lost. */
export const isFault = ({ kind }: Finding): boolean => !harmless.has(kind);

/** What a verification came to. */
export interface Verdict {
  readonly records: number;
  readonly heads: readonly Anchor[];
  readonly findings: readonly Finding[];
  /** Further ones that were not kept. */
  readonly more: number;
}

/** What is verified. */
export interface CheckSettings {
  readonly key: Buffer;
  /** Which sink the records are of; a gap that the chain itself tells of is one of this sink. */
  readonly sink: 'database' | 'file';
  /** Whether chains may begin in the middle, since what stood before isn't given. */
  readonly continues: boolean;
}

const mostFindings = 1000;
/** So many hashes of a chain are remembered, to tell a record that was written again from one that was moved. */
const remembered = 4096;

interface Hole {
  readonly from: number;
  readonly to: number;
  /** The record behind it. */
  readonly next: AuditRow;
}

interface ChainState {
  n: number;
  hash: string;
  readonly seen: Map<number, string>;
  readonly holes: Hole[];
  readonly marks: { readonly from: number; readonly to: number; readonly hash: string }[];
}

/** Takes records one by one. */
export class ChainCheck {
  private readonly chains = new Map<string, ChainState>();
  private readonly anchors = new Map<string, Map<number, string>>();
  private readonly findings: Finding[] = [];
  private more = 0;
  private records = 0;

  constructor(private readonly settings: CheckSettings) {}

  /** Somebody saw this record at the end of its chain. Best told before the records. */
  anchor({ chain, n, hash }: Anchor): void {
    const known = this.anchors.get(chain) ?? new Map<number, string>();
    this.anchors.set(chain, known);
    const before = known.get(n);
    if (before !== undefined && before !== hash) this.found('rewritten', chain, n);
    known.set(n, hash);
    const seen = this.chains.get(chain)?.seen.get(n);
    if (seen !== undefined && seen !== hash) this.found('rewritten', chain, n);
  }

  /** Something between the records that is none. */
  unreadable(line: number, kind: 'unreadable' | 'torn' = 'unreadable'): void {
    this.found(kind, '', line);
  }

  /** A record in the wrong form, so that its hash says nothing of it as it stands. */
  misshapen(row: AuditRow): void {
    this.found('altered', row.chain, row.n);
    this.add(row);
  }

  add(row: AuditRow): void {
    this.records += 1;
    const state = this.stateOf(row);
    if (row.n <= state.n) {
      this.again(state, row);
      return;
    }
    if (row.n > state.n + 1) state.holes.push({ from: state.n + 1, to: row.n - 1, next: row });
    else if (recordHash(this.settings.key, state.hash, row) !== row.hash)
      this.found('altered', row.chain, row.n);
    else this.learn(state, row);
    state.n = row.n;
    state.hash = row.hash;
    this.remember(state, row);
    const anchored = this.anchors.get(row.chain)?.get(row.n);
    if (anchored !== undefined && anchored !== row.hash) this.found('rewritten', row.chain, row.n);
  }

  finish(): Verdict {
    for (const [chain, state] of this.chains) {
      for (const hole of state.holes) this.closeHole(chain, state, hole);
    }
    for (const [chain, known] of this.anchors) {
      let last = 0;
      for (const each of known.keys()) last = Math.max(last, each);
      const { n } = this.chains.get(chain) ?? { n: 0 };
      if (n < last) this.found('truncated', chain, n + 1, last);
    }
    const heads = [...this.chains].map(([chain, { n, hash }]) => ({ chain, n, hash }));
    return { records: this.records, heads, findings: this.findings, more: this.more };
  }

  private stateOf(row: AuditRow): ChainState {
    const known = this.chains.get(row.chain);
    if (known !== undefined) return known;
    const made: ChainState = { n: 0, hash: '', seen: new Map(), holes: [], marks: [] };
    this.chains.set(row.chain, made);
    const before = this.settings.continues ? this.anchors.get(row.chain)?.get(row.n - 1) : undefined;
    if (before !== undefined) {
      made.n = row.n - 1;
      made.hash = before;
    } else made.hash = chainStart(this.settings.key, row.chain);
    return made;
  }

  /** A record whose place was passed: the same written again, or one that stands where it doesn't belong. */
  private again(state: ChainState, row: AuditRow): void {
    const hash = state.seen.get(row.n);
    if (hash === undefined) {
      this.found('out_of_order', row.chain, row.n);
      return;
    }
    const before = row.n === 1 ? chainStart(this.settings.key, row.chain) : state.seen.get(row.n - 1);
    const isSame =
      hash === row.hash && (before === undefined || recordHash(this.settings.key, before, row) === row.hash);
    this.found(isSame ? 'repeated' : 'conflicting', row.chain, row.n);
  }

  /** A record that is proved may tell of other chains and of gaps. */
  private learn(state: ChainState, row: AuditRow): void {
    if (row.action === 'audit.start' || row.action === 'audit.heads')
      for (const each of anchorsOf(row, this.settings.sink)) this.anchor(each);
    if (row.action !== 'audit.gap' || row.detail['sink'] !== this.settings.sink) return;
    const { from, to, hash } = row.detail;
    if (typeof from === 'number' && typeof to === 'number' && typeof hash === 'string')
      state.marks.push({ from, to, hash });
  }

  private remember(state: ChainState, row: AuditRow): void {
    state.seen.set(row.n, row.hash);
    state.seen.delete(row.n - remembered);
  }

  private closeHole(chain: string, state: ChainState, { from, to, next }: Hole): void {
    const mark = state.marks.find((each) => each.from === from && each.to === to);
    if (mark !== undefined && recordHash(this.settings.key, mark.hash, next) === next.hash) {
      this.found('marked_gap', chain, from, to);
      return;
    }
    if (from === 1 && this.settings.continues) return;
    this.found('missing', chain, from, to);
  }

  private found(kind: Finding['kind'], chain: string, n: number, to = n): void {
    if (this.findings.length < mostFindings) this.findings.push({ kind, chain, n, to });
    else this.more += 1;
  }
}

/** The chains before that this sink knew, as a record of another chain names them. */
function anchorsOf(row: AuditRow, sink: CheckSettings['sink']): Anchor[] {
  const before = row.detail['before'] as Readonly<Record<string, unknown>> | null | undefined;
  const named = before?.[sink];
  if (!Array.isArray(named)) return [];
  return named.flatMap((each: unknown): Anchor[] => {
    if (!Array.isArray(each)) return [];
    const [chain, n, hash] = each as unknown[];
    const isAnchor = typeof chain === 'string' && typeof n === 'number' && typeof hash === 'string';
    return isAnchor ? [{ chain, n, hash }] : [];
  });
}
