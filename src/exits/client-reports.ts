/**
 * What clients say of exits that gave them a bad page where the gateway could not look: a report keeps the exit away from
 * that client at that site. When enough clients say the same it is no longer one client's word.
 */

/** `feedback` in the configuration. */
export interface ReportRules {
  /** How long a report holds, in milliseconds. */
  readonly holdMs: number;
  /** So many clients make it everybody's. */
  readonly clients: number;
}

/** What came of a report. */
export type Reported =
  /** The exit is kept away from this client. */
  | 'noted'
  /** Enough clients agree. */
  | 'agreed'
  /** This client has said too much already. */
  | 'too_many';

const MOST_PER_CLIENT = 1000;
const MOST_CLIENTS = 1000;
const NOTHING: ReadonlySet<string> = new Set();

/** Reports of one client: site → exit → until when. */
interface Reports {
  readonly sites: Map<string, Map<string, number>>;
  count: number;
}

/** All reports; in memory, bounded, for this process. */
export class ClientReports {
  readonly #byClient = new Map<string, Reports>();

  constructor(private readonly rules: () => ReportRules) {}

  /** A client says that an exit was blocked at a site. */
  report(client: string, at: { readonly exit: string; readonly site: string }, nowMs: number): Reported {
    const reports = this.#reportsOf(client, nowMs);
    const known = reports?.sites.get(at.site);
    const isNew = known?.has(at.exit) !== true;
    if (reports === null || (isNew && reports.count >= MOST_PER_CLIENT && !sweep(reports, nowMs)))
      return 'too_many';
    const exits = reports.sites.get(at.site) ?? new Map<string, number>();
    reports.sites.set(at.site, exits);
    if (!exits.has(at.exit)) reports.count++;
    exits.set(at.exit, nowMs + this.rules().holdMs);
    return this.#countOf(at.exit, at.site, nowMs) >= this.rules().clients ? 'agreed' : 'noted';
  }

  /** A client says that the exit is good after all; or it is banned for everybody now, so that no report is needed. */
  withdraw(client: string, at: { readonly exit: string; readonly site: string }): void {
    const reports = this.#byClient.get(client);
    const exits = reports?.sites.get(at.site);
    if (reports === undefined || exits?.delete(at.exit) !== true) return;
    reports.count--;
    if (exits.size === 0) reports.sites.delete(at.site);
    if (reports.count === 0) this.#byClient.delete(client);
  }

  /** Forgets what anybody said of an exit at a site. */
  settle(exit: string, site: string): void {
    for (const client of [...this.#byClient.keys()]) this.withdraw(client, { exit, site });
  }

  /** Exits that this client doesn't want for this site. */
  avoidedBy(client: string, site: string, nowMs: number): ReadonlySet<string> {
    // Asked for every request; nearly always nobody has said anything.
    if (this.#byClient.size === 0) return NOTHING;
    const exits = this.#byClient.get(client)?.sites.get(site);
    if (exits === undefined) return NOTHING;
    for (const [exit, untilMs] of exits) if (untilMs <= nowMs) this.withdraw(client, { exit, site });
    return exits.size === 0 ? NOTHING : new Set(exits.keys());
  }

  /** Whether some client holds this against the exit. */
  isReported(exit: string, site: string, nowMs: number): boolean {
    return this.#byClient.size > 0 && this.#countOf(exit, site, nowMs) > 0;
  }

  #countOf(exit: string, site: string, nowMs: number): number {
    let count = 0;
    for (const { sites } of this.#byClient.values()) {
      if ((sites.get(site)?.get(exit) ?? -Infinity) > nowMs) count++;
    }
    return count;
  }

  /** Lets go of clients whose reports are all over; whether there were any. */
  #forgetOver(nowMs: number): boolean {
    for (const [client, reports] of this.#byClient) {
      sweep(reports, nowMs);
      if (reports.count === 0) this.#byClient.delete(client);
    }
    return this.#byClient.size < MOST_CLIENTS;
  }

  #reportsOf(client: string, nowMs: number): Reports | null {
    const known = this.#byClient.get(client);
    if (known !== undefined) return known;
    if (this.#byClient.size >= MOST_CLIENTS && !this.#forgetOver(nowMs)) return null;
    const made: Reports = { sites: new Map(), count: 0 };
    this.#byClient.set(client, made);
    return made;
  }
}

/** Drops what is over; whether that made room. */
function sweep(reports: Reports, nowMs: number): boolean {
  for (const [site, exits] of reports.sites) {
    for (const [exit, untilMs] of exits) {
      if (untilMs > nowMs) continue;
      exits.delete(exit);
      reports.count--;
    }
    if (exits.size === 0) reports.sites.delete(site);
  }
  return reports.count < MOST_PER_CLIENT;
}
