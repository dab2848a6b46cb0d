/**
 * What is held against exits (or credentials), altogether and for single sites, kept in step with the quota of their pools
 * and with the marks that choosing asks first. It does not know what makes a ban; that is the ledger's business.
 */
import type { BanEvidence } from '../core/events.js';
import { forgiven, isAside, lifted, noBan, returned } from '../facts/ban.js';
import type { BanState } from '../facts/ban.js';
import { EjectionQuota } from './ejection-quota.js';
import type { CountedPool } from './ejection-quota.js';
import { SiteBans, noRecord } from './site-bans.js';
import type { SiteRecord } from './site-bans.js';
import { sound } from './transport-health.js';
import type { Health } from './transport-health.js';

const MAX_SITE_RECORDS = 200_000;

/** The book of one ledger. */
export class BanBook {
  readonly health = new Map<number, Health>();
  readonly sites: SiteBans;
  readonly quota = new EjectionQuota();

  /** @param forgetMs how long after its end a ban for a site is remembered */
  constructor(
    private readonly slots: { readonly marks: Uint8Array },
    forgetMs: () => number,
  ) {
    this.sites = new SiteBans(MAX_SITE_RECORDS, forgetMs, (slot, site, by) =>
      this.quota.change(slot, site, by),
    );
  }

  /** Whether anything is held against the exit, or remembered of it. */
  isMarked(slot: number): boolean {
    return this.slots.marks[slot] !== 0;
  }

  /** Counts what is held against the exits of these pools anew. */
  recount(pools: readonly CountedPool[], maxEjected: number, nowMs: number): void {
    this.sites.sweep(nowMs);
    this.quota.apply(pools, maxEjected);
    for (const [slot, health] of this.health) if (isAside(health.ban)) this.quota.change(slot, null, 1);
    for (const [slot, site, record] of this.sites.all()) {
      if (isAside(record.ban)) this.quota.change(slot, site, 1);
    }
  }

  /** Marks the exits anew, after slots were given away. */
  markAll(): void {
    this.slots.marks.fill(0);
    for (const slot of this.health.keys()) this.#mark(slot);
    for (const [slot] of this.sites.all()) this.#mark(slot);
  }

  /** Whether anything is remembered of the exit. */
  has(slot: number): boolean {
    return this.health.has(slot) || this.sites.has(slot);
  }

  /** The ban of an exit at a site or (null) altogether. */
  banOf(slot: number, site: string | null): BanState {
    return (site === null ? this.health.get(slot)?.ban : this.sites.get(slot, site)?.ban) ?? noBan;
  }

  /** Puts a ban in place; faults and suspect answers that led to it are settled. */
  setBan(slot: number, site: string | null, ban: BanState, nowMs: number): void {
    if (site === null) this.setHealth(slot, { ...sound, ban });
    else this.setRecord(slot, site, { ...noRecord, ban }, nowMs);
  }

  /** Turns both bans that a request to this site meets. */
  turn(
    slot: number,
    by: { site: string; nowMs: number; turn: (ban: BanState, nowMs: number) => BanState },
  ): void {
    const health = this.health.get(slot);
    if (health !== undefined) this.setHealth(slot, { ...health, ban: by.turn(health.ban, by.nowMs) });
    const record = this.sites.get(slot, by.site);
    if (record === undefined) return;
    this.setRecord(slot, by.site, { ...record, ban: by.turn(record.ban, by.nowMs) }, by.nowMs);
  }

  /** Notes what a ban that is on goes by. */
  note(slot: number, site: string | null, evidence: BanEvidence, nowMs: number): void {
    const state = this.banOf(slot, site);
    if (isAside(state)) this.setBan(slot, site, { ...state, evidence }, nowMs);
  }

  /** Ends a ban; strikes stay. @param isTried a trial went well, so it comes back slowly */
  lift(slot: number, site: string | null, nowMs: number, isTried = false): void {
    const state = this.banOf(slot, site);
    if (isAside(state)) this.setBan(slot, site, isTried ? returned(state, nowMs) : lifted(state), nowMs);
  }

  /**
   * Takes back what was set aside since `sinceMs` because of one site, which turned out to be down; the strikes go too.
   * Orders stay, those of the site itself (Retry-After) among them. Returns how many bans were lifted.
   */
  rollBack(site: string, sinceMs: number, nowMs: number): number {
    let count = 0;
    for (const [slot, { ban }] of [...this.health]) {
      if (ban.oneSite !== site || !isUndone(ban, sinceMs)) continue;
      this.setBan(slot, null, forgiven(ban, nowMs), nowMs);
      count++;
    }
    for (const [slot, { ban }] of this.sites.at(site)) {
      if (!isUndone(ban, sinceMs)) continue;
      this.setBan(slot, site, forgiven(ban, nowMs), nowMs);
      count++;
    }
    return count;
  }

  setHealth(slot: number, health: Health): void {
    const was = isAside(this.banOf(slot, null));
    const is = isAside(health.ban);
    if (was !== is) this.quota.change(slot, null, is ? 1 : -1);
    if (!is && health.ban.strikes === 0 && health.faults === 0) this.health.delete(slot);
    else this.health.set(slot, health);
    this.#mark(slot);
  }

  setRecord(slot: number, site: string, record: SiteRecord, nowMs: number): void {
    this.sites.set(slot, site, record, nowMs);
    this.#mark(slot);
  }

  #mark(slot: number): void {
    this.slots.marks[slot] = this.has(slot) ? 1 : 0;
  }
}

function isUndone(ban: BanState, sinceMs: number): boolean {
  return isAside(ban) && !ban.isOrder && ban.changedMs >= sinceMs;
}
