/** What an operator does with bans while the gateway runs: look, ban, lift. */
import type { Clock } from '../core/clock.js';
import type { BanEvidence, Emit } from '../core/events.js';
import { phaseOf, type BanPhase, type BanState } from '../facts/ban.js';
import { readHost } from '../protocol/host.js';
import type { Upstream } from '../upstreams/upstream.js';
import { CREDENTIAL_PREFIX } from '../upstreams/credential-of.js';
import type { BanAsk, Effect } from './effect.js';
import type { Ledger } from './ledger.js';

/** A ban for people. */
export interface BanRow {
  /** `EXIT:SITE`, or `EXIT:*` for one that holds everywhere; `CREDENTIAL:SITE` where it is about a login. */
  readonly id: string;
  /** Null where it is about a login. */
  readonly upstream: Upstream | null;
  /** The id of the login that all exits share which are set aside; null where it is about one exit. */
  readonly credential: string | null;
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
  /** The id of an exit, or of a credential, which is banned for a site only. */
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
  /** A credential can't be banned for all sites: that is what removing its exits is for. */
  | { readonly kind: 'needs_site' }
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
    return this.#held()
      .map(([row]) => row)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Bans an exit or a credential, however much of its pool is out already. */
  ban(order: BanOrder): Banned {
    const host = order.site === null ? null : readHost(Buffer.from(order.site, 'utf8').toString('latin1'));
    if (host?.kind === 'malformed') return { kind: 'bad_site' };
    const site = host === null ? null : host.facts.site;
    const isCredential = order.exit.startsWith(CREDENTIAL_PREFIX);
    if (isCredential && site === null) return { kind: 'needs_site' };
    const { reason } = order;
    const forMs = order.forMs === null ? {} : { forMs: order.forMs, isExact: true };
    const effect = this.#setAside(order.exit, site, { reason, isOrder: true, ...forMs });
    const row = effect === null ? undefined : this.#rowOf(banId(order.exit, site));
    if (effect === null || row === undefined) return { kind: 'unknown_exit' };
    if (effect.kind === 'banned') this.#tellOfBan(row, effect);
    this.#tell('exit_banned_by_order', row, order.by);
    return { kind: 'banned', row };
  }

  /** Ends a ban; false where there is none of this id. */
  lift(id: string, by: string): boolean {
    const { clock } = this.#parts;
    const found = this.#held().find(([row]) => row.id === id);
    if (found === undefined) return false;
    const [row, lift] = found;
    lift(clock.nowMs());
    this.#tell('exit_lifted', row, by);
    return true;
  }

  #setAside(id: string, site: string | null, ask: BanAsk): Effect | null {
    const { ledger, clock } = this.#parts;
    if (id.startsWith(CREDENTIAL_PREFIX))
      return site === null ? null : ledger.credentials.banById(id, site, ask, clock.nowMs());
    const slot = this.#parts.slotOf(id);
    return slot === null ? null : ledger.ban(slot, site, ask, clock.nowMs());
  }

  #rowOf(id: string): BanRow | undefined {
    return this.#held().find(([row]) => row.id === id)?.[0];
  }

  /** Every ban that is on, and how it is lifted. */
  #held(): [BanRow, (nowMs: number) => void][] {
    const { ledger, clock } = this.#parts;
    const nowMs = clock.nowMs();
    const exits = ledger
      .bans()
      .map(({ slot, upstream, site, ban }): [BanRow, (nowMs: number) => void] => [
        { ...timesOf(ban, nowMs), id: banId(upstream.id, site), upstream, credential: null, site },
        (atMs) => ledger.lift(slot, site, atMs),
      ]);
    const logins = ledger.credentials.held();
    return [
      ...exits,
      ...logins.map(({ credential, site, ban }): [BanRow, (nowMs: number) => void] => [
        { ...timesOf(ban, nowMs), id: banId(credential, site), upstream: null, credential, site },
        (atMs) => ledger.credentials.lift(credential, site, atMs),
      ]),
    ];
  }

  #tellOfBan({ upstream, credential, site }: BanRow, effect: Extract<Effect, { kind: 'banned' }>): void {
    const { reason, strikes, forMs } = effect;
    const told = { reason, strikes, forMs };
    if (upstream !== null) {
      const exit = { upstream: upstream.id, upstreamLabel: upstream.label };
      this.#parts.emit({ type: 'exit_banned', ...exit, site, ...told });
    } else if (credential !== null && site !== null) {
      const nobody = { upstream: null, upstreamLabel: null, evidence: null };
      this.#parts.emit({ type: 'credential_banned', credential, site, ...told, ...nobody });
    }
  }

  #tell(what: string, { upstream, credential, site }: BanRow, by: string): void {
    const detail = { exit: upstream?.id ?? credential, label: upstream?.label ?? 'login', site, by };
    this.#parts.emit({ type: 'note', level: 'info', what, detail });
  }
}

function timesOf(
  ban: BanState,
  nowMs: number,
): Pick<BanRow, 'reason' | 'strikes' | 'phase' | 'leftMs' | 'evidence'> {
  const { reason, strikes, evidence } = ban;
  return { reason, strikes, phase: phaseOf(ban, nowMs), leftMs: Math.max(0, ban.untilMs - nowMs), evidence };
}
