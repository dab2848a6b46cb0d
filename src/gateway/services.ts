/** What the data plane works with; made by `app.ts`, changed by nobody here. */
import type { Clients } from '../access/clients.js';
import type { RateLimits } from '../access/rate-limit.js';
import type { Clock } from '../core/clock.js';
import type { Emit } from '../core/events.js';
import type { Random } from '../core/random.js';
import type { TimerWheel } from '../core/timer-wheel.js';
import type { Ledger } from '../exits/ledger.js';
import type { Shares } from '../exits/shares.js';
import type { Paces } from '../exits/paces.js';
import type { Opener } from '../open/open.js';
import type { Baseline } from '../outcome/baseline.js';
import type { Spending } from '../outcome/spending.js';
import type { TransportBudget } from '../outcome/budget.js';
import type { Trickle } from '../exits/trickle.js';
import type { ClientReports } from '../exits/client-reports.js';
import type { Receipts } from '../request/receipt.js';
import type { OwnPages } from '../outcome/own-pages.js';
import type { SiteGuard } from '../outcome/site-guard.js';
import type { TunnelSigns } from '../outcome/tunnel-signs.js';
import type { OwnAddresses, TargetPolicy } from '../protocol/target.js';
import type { Runtime } from '../routing/runtime.js';
import type { Limits as SharedLimits, Pins, Turns } from '../state/ports.js';
import type { Admission } from './admission.js';
import type { DoorLimits } from './door-limits.js';
import type { Captures } from './captures.js';
import type { BodyJudge } from './judge-body.js';
import type { Exit } from './pick-exit.js';
import type { Relay } from './relay.js';
import type { RequestIds } from './request-ids.js';
import type { ReplayBudget } from './replay-body.js';
import type { Tiers } from './tiers.js';
import type { WaitingLines } from './waiting-lines.js';

/** Rules that a reload swaps together. */
export interface Rules {
  readonly runtime: Runtime;
  readonly clients: Clients;
  readonly targets: TargetPolicy;
}

/** The parts of the gateway. */
export interface GatewayServices {
  readonly clock: Clock;
  readonly wheel: TimerWheel;
  readonly random: Random;
  readonly emit: Emit;
  /** Names this process in request ids and loop markers. */
  readonly gatewayId: string;
  readonly ids: RequestIds;
  /** The rules in force; read once per request. */
  rules(): Rules;
  readonly ledger: Ledger;
  /** Which exits of shared pools this gateway may use. */
  readonly shares: Shares;
  /** Who rests from which site, and what was learnt of it. */
  readonly paces: Paces;
  /** Requests that wait for an exit. */
  readonly waiting: WaitingLines<Exit>;
  /** Which pool of a route serves which site, where routes escalate. */
  readonly tiers: Tiers;
  /** What was spent on pools today. */
  readonly spending: Spending;
  readonly pins: Pins;
  readonly rateLimits: RateLimits;
  /** Rates that all gateways keep together; null where there is one. */
  readonly sharedLimits: SharedLimits | null;
  /** What one gateway at a time may do; null where there is one. */
  readonly turns: Turns | null;
  readonly opener: Opener;
  readonly own: OwnAddresses;
  readonly transportBudget: TransportBudget;
  readonly siteGuard: SiteGuard;
  readonly ownPages: OwnPages;
  /** What exhausted pools are still used for (`on_exhausted: least_bad`). */
  readonly trickle: Trickle;
  /** Makes request ids that clients can give feedback on. */
  readonly receipts: Receipts;
  readonly reports: ClientReports;
  readonly tunnelSigns: TunnelSigns;
  readonly replayBudget: ReplayBudget;
  /** Sockets of clients, over all listeners. */
  readonly doors: DoorLimits;
  readonly admission: Admission;
  /** Tunnels and upgraded connections that stand; drained last. */
  readonly relays: Set<Relay>;
  /** What sites normally send, and who judges bodies. */
  readonly baseline: Baseline;
  readonly judge: BodyJudge;
  readonly captures: Captures;
}
