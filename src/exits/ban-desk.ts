/** What an operator does with bans while the gateway runs: look, ban, lift. */
import type { Clock } from '../core/clock.js';
import type { BanEvidence, Emit } from '../core/events.js';
import { phaseOf, type BanPhase } from '../facts/ban.js';
import { readHost } from '../protocol/host.js';
import type { Upstream } from '../upstreams/upstream.js';
import type { HeldBan } from './effect.js';
import type { Ledger } from './ledger.js';

/** A ban for people. */
export interface BanRow {
  /** `EXIT:SITE`, or `EXIT:*` for one that holds everywhere. */
  readonly id: string;
  readonly upstream: Upstream;
  /** Null: for all sites. */
  readonly site: string | null;
  readonly reason: string;
  readonly strikes: number;
  readonly phase: BanPhase;
  /** Time left until its trial; 0 when that is due. */
  readonly leftMs: number;
  /** What it goes by; null where a person said so. */
  readonly evidence: BanEvidence | null;
}

/** What to ban, and who says so. */
export interface BanOrder {
  readonly exit: string;
  /** A host or its registrable domain; null: for all sites. */
  readonly site: string | null;
  /** Null: as long as the rules say. */
  readonly forMs: number | null;
  readonly reason: string;
  readonly by: string;
}

/** What came of it. */
export type Banned =
  | { readonly kind: 'banned'; readonly row: BanRow }
  | { readonly kind: 'unknown_exit' }
  | { readonly kind: 'bad_site' };

/** What the desk works with. */
export interface BanDeskParts {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly emit: Emit;
  /** The ledger's number of an exit that is in a pool. */
  slotOf(id: string): number | null;
}

/** The id of a ban. */
export function banId(exit: string, site: string | null): string {
  return `${exit}:${site ?? '*'}`;
}

/** The desk. */
export class BanDesk {
  readonly #parts: BanDeskParts;

  constructor(parts: BanDeskParts) {
    this.#parts = parts;
  }

  /** Every ban that is on, by id. */
  list(): BanRow[] {
    const rows = this.#parts.ledger.bans().map((held) => this.#rowOf(held));
    return rows.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Bans an exit, however much of its pool is out already. */
  ban(order: BanOrder): Banned {
    const { ledger, clock, emit } = this.#parts;
    const slot = this.#parts.slotOf(order.exit);
    if (slot === null) return { kind: 'unknown_exit' };
    const host = order.site === null ? null : readHost(Buffer.from(order.site, 'utf8').toString('latin1'));
    if (host?.kind === 'malformed') return { kind: 'bad_site' };
    const site = host === null ? null : host.facts.site;
    const { reason } = order;
    const forMs = order.forMs === null ? {} : { forMs: order.forMs, isExact: true };
    const effect = ledger.ban(slot, site, { reason, isOrder: true, ...forMs }, clock.nowMs());
    const held = ledger.bans().find((each) => each.upstream.id === order.exit && each.site === site);
    if (held === undefined) return { kind: 'unknown_exit' };
    if (effect.kind === 'banned') {
      const { id: upstream, label: upstreamLabel } = held.upstream;
      const { strikes, forMs: lastsMs } = effect;
      emit({ type: 'exit_banned', upstream, upstreamLabel, site, reason, strikes, forMs: lastsMs });
    }
    const row = this.#rowOf(held);
    this.#tell('exit_banned_by_order', row, order.by);
    return { kind: 'banned', row };
  }

  /** Ends a ban; false where there is none of this id. */
  lift(id: string, by: string): boolean {
    const { ledger, clock } = this.#parts;
    const held = ledger.bans().find(({ upstream, site }) => banId(upstream.id, site) === id);
    if (held === undefined) return false;
    const row = this.#rowOf(held);
    ledger.lift(held.slot, held.site, clock.nowMs());
    this.#tell('exit_lifted', row, by);
    return true;
  }

  #rowOf({ upstream, site, ban }: HeldBan): BanRow {
    const nowMs = this.#parts.clock.nowMs();
    return {
      id: banId(upstream.id, site),
      upstream,
      site,
      reason: ban.reason,
      strikes: ban.strikes,
      phase: phaseOf(ban, nowMs),
      leftMs: Math.max(0, ban.untilMs - nowMs),
      evidence: ban.evidence,
    };
  }

  #tell(what: string, { upstream, site }: BanRow, by: string): void {
    const detail = { exit: upstream.id, label: upstream.label, site, by };
    this.#parts.emit({ type: 'note', level: 'info', what, detail });
  }
}
