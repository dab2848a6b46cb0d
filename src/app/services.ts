/** Makes the parts of the data plane, and holds the one reference to the rules that a reload swaps. */
import os from 'node:os';
import { RateLimits } from '../access/rate-limit.js';
import type { Config } from '../config/config.js';
import { banRulesOf } from '../config/runtime-values.js';
import { afterTurn, type Clock } from '../core/clock.js';
import type { Emit } from '../core/events.js';
import type { Random } from '../core/random.js';
import { TimerWheel } from '../core/timer-wheel.js';
import { ClientReports } from '../exits/client-reports.js';
import { Ledger } from '../exits/ledger.js';
import { Paces } from '../exits/paces.js';
import { Trickle } from '../exits/trickle.js';
import type { Shares } from '../exits/shares.js';
import type { Roster } from '../exits/roster.js';
import type { UpstreamLogins } from '../exits/upstream-logins.js';
import type { MissingLogin } from '../exits/source-logins.js';
import { Admission } from '../gateway/admission.js';
import { DoorLimits } from '../gateway/door-limits.js';
import type { Relay } from '../gateway/relay.js';
import { Captures } from '../gateway/captures.js';
import { BodyJudge } from '../gateway/judge-body.js';
import { JudgeWorker } from '../gateway/judge-worker-client.js';
import type { Exit } from '../gateway/pick-exit.js';
import { RequestIds } from '../gateway/request-ids.js';
import { ReplayBudget } from '../gateway/replay-body.js';
import { Tiers } from '../gateway/tiers.js';
import { WaitingLines } from '../gateway/waiting-lines.js';
import type { GatewayServices, Rules } from '../gateway/services.js';
import { IdleConnections } from '../open/idle-connections.js';
import { Resolver, type LookUp } from '../open/resolver.js';
import { Baseline } from '../outcome/baseline.js';
import { TransportBudget } from '../outcome/budget.js';
import { TunnelSigns } from '../outcome/tunnel-signs.js';
import { OwnPages } from '../outcome/own-pages.js';
import { SiteGuard } from '../outcome/site-guard.js';
import { Receipts } from '../request/receipt.js';
import { Spending } from '../outcome/spending.js';
import { isOwnDoor, type Door } from '../protocol/own-door.js';
import { checkResolvedAddress, type OwnAddresses } from '../protocol/target.js';
import type { Limits, Pins, Turns } from '../state/ports.js';
import type { Pool } from '../upstreams/pool.js';
import { applyBan, heldBans } from './apply-ban.js';
import { makeFleetState, type FleetState } from './fleet-state.js';
import { InForce } from './in-force.js';
import { withoutStorage, type RulesLogins } from './kept-logins.js';
import { buildRules, hasChanged, hasOtherLogin, type BuiltRules, type RulesParts } from './rules.js';

/** What the parts are made of. */
export interface Basics {
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: Emit;
  readonly own: OwnAddresses & { readonly doors: readonly Door[] };
  readonly lookUp: LookUp;
  /** The compiled thread that reads big lists. */
  readonly listWorker: URL;
  readonly version: string;
  /** What the storage gives; nothing without one. */
  readonly kept?: RulesLogins | null;
  /** Requests under way, once there are listeners. */
  exchangesOpen(): number;
}

/** The parts, and the rules in force. */
export interface Plant {
  readonly services: GatewayServices;
  /** What gateways share. */
  readonly state: FleetState;
  /** What new rules are built with. */
  readonly rulesParts: RulesParts;
  /** Sites that metrics tell apart now. */
  sites(): ReadonlySet<string>;
  /** Puts rules in force, all at once, and lets go of what is gone: idle connections, tunnels of clients. */
  swap(built: BuiltRules): void;
  /** What was added to pools and removed from them by hand. */
  readonly roster: Roster;
  readonly logins: UpstreamLogins;
  /** Puts new snapshots of pools in force; all other rules stay. */
  setPools(pools: ReadonlyMap<string, Pool>): void;
  /** Begins to ask for lists again, and to share what gateways share. */
  start(): void;
  /** An exit was banned for a site. */
  exitBanned(id: string): void;
  /** Sources of pools that have no exits because their login is not to be had. */
  missingLogins(): readonly MissingLogin[];
  /** Pools change no more. */
  close(): void;
}

/** The look-up tells no TTL, so addresses of upstreams are asked for anew twice a minute; a name that failed soon. */
const upstreamNameTimes = { keepMs: 30_000, keepFailureMs: 2000 };
/** Long enough for a page and its parts. */
const targetNameTimes = { keepMs: 10_000, keepFailureMs: 2000 };

/** Builds everything behind the listeners. @throws when a list of upstreams can't be read. */
export async function buildPlant(config: Config, basics: Basics): Promise<Plant> {
  const { clock, random, emit, own, listWorker } = basics;
  const wheel = new TimerWheel(clock);
  const ledger = new Ledger(banRulesOf(config), random);
  const inForce = new InForce({
    ...{ ledger, wheel, emit, own, listWorker },
    ...(basics.kept ?? withoutStorage()),
    onChange: (before, now) => follow(services, before, now),
  });
  inForce.use(await buildRules(config, inForce.rulesParts));
  ledger.applyPools(inForce.rules.runtime.pools.values(), clock.nowMs());
  const receipts = new Receipts(config.feedback.key?.reveal() ?? random.hex(32));
  const gatewayId = random.hex(4);
  const state = makeFleetState(config, {
    ...{ clock, random, emit, gatewayId, version: basics.version, load: () => basics.exchangesOpen() },
    applyBan: (ban) => applyBan(services, ban),
    heldBans: () => heldBans(ledger),
    isSound: (slot) => ledger.isOpenToNew(slot) && ledger.isUsable(slot, '', clock.nowMs()),
  });
  const { pins, shares } = state;
  const sharedLimits = state.kind() === 'memory' ? null : state.limits;
  const services = servicesOf(basics, {
    ...{ wheel, ledger, inForce, receipts, gatewayId, pins, shares, sharedLimits, turns: state.turns },
  });
  return {
    ...{ services, state, rulesParts: inForce.rulesParts, roster: inForce.roster, logins: inForce.logins },
    sites: () => inForce.built.sites,
    swap: (built) => inForce.use(built),
    setPools: (pools) => inForce.setPools(pools),
    start: () => {
      inForce.start();
      state.start();
    },
    exitBanned: (id) => inForce.built.keeper.exitBanned(id),
    missingLogins: () => inForce.built.keeper.missingLogins(),
    close: () => inForce.built.keeper.close(),
  };
}

/** What services are made of beside the basics. */
interface Made {
  readonly wheel: TimerWheel;
  readonly ledger: Ledger;
  readonly inForce: InForce;
  readonly receipts: Receipts;
  readonly gatewayId: string;
  readonly pins: Pins;
  readonly shares: Shares;
  readonly sharedLimits: Limits | null;
  readonly turns: Turns | null;
}

function servicesOf(basics: Basics, made: Made): GatewayServices {
  const { clock, random, emit, own, lookUp } = basics;
  const { wheel, ledger, inForce, receipts, gatewayId, pins, shares } = made;
  const runtime = (): Rules['runtime'] => inForce.rules.runtime;
  const limits = (): Rules['runtime']['limits'] => runtime().limits;
  const doors = new DoorLimits(limits);
  const relays = new Set<Relay>();
  // Each client's socket may need one to an upstream: what is kept idle must leave room for that.
  const idle = new IdleConnections(() => ({
    idleMs: runtime().timeouts.upstreamIdleMs,
    perKey: limits().idlePerExit,
    total: Math.min(limits().idleTotal, Math.max(0, limits().sockets - doors.open)),
  }));
  const { transportRatio, transportFloorPerS } = runtime().retry;
  return {
    ...{ clock, wheel, random, emit, own, ledger, gatewayId, receipts, pins, shares },
    ids: new RequestIds(gatewayId),
    rules: () => inForce.rules,
    rateLimits: new RateLimits(),
    sharedLimits: made.sharedLimits,
    turns: made.turns,
    opener: {
      ...{ clock, wheel, idle, emit },
      headLimits: () => runtime().limits,
      isOwn: ({ host, port }) => isOwnDoor(host, port, own.doors, own),
      upstreamNames: new Resolver({ clock, lookUp, ...upstreamNameTimes }),
      targetNames: new Resolver({ clock, lookUp, ...targetNameTimes }),
      forbids: (target, address) => checkResolvedAddress(target, address, inForce.rules.targets, own),
    },
    paces: new Paces(),
    waiting: new WaitingLines<Exit>(clock),
    tiers: new Tiers(),
    spending: new Spending(),
    transportBudget: new TransportBudget(transportRatio, transportFloorPerS),
    siteGuard: new SiteGuard(runtime().guard),
    ownPages: new OwnPages(),
    trickle: new Trickle(1000),
    reports: new ClientReports(() => runtime().feedback),
    tunnelSigns: new TunnelSigns(() => runtime().bans.suspectWindowMs),
    replayBudget: new ReplayBudget(() => runtime().limits.replayTotalBytes),
    doors,
    admission: new Admission({ limits, relays: () => relays.size, afterTurn }),
    relays,
    baseline: new Baseline(),
    captures: new Captures(emit),
    judge: new BodyJudge(new JudgeWorker(clock)),
  };
}

/** What lives longer than the rules takes the new ones over. */
function follow(services: GatewayServices, before: Rules, now: Rules): void {
  const { runtime, clients } = now;
  services.ledger.applyPools(runtime.pools.values(), services.clock.nowMs(), runtime.bans);
  services.shares.follow(new Set(runtime.pools.values()));
  const members = membersOf(runtime);
  services.paces.forget((slot) => members[slot] !== 1);
  services.transportBudget.configure(runtime.retry.transportRatio, runtime.retry.transportFloorPerS);
  services.siteGuard.configure(runtime.guard);
  // Only of exits in use can there be a connection of before: a few thousand, where a pool may have a million.
  const busy = [...services.ledger.busy(), ...services.opener.idle.keys().map(exitOfKey)];
  const changed = new Set(busy.filter((id) => hasChanged(id, before, now)));
  // A login that was refused and is another now may be right.
  for (const { slot, site, upstream } of services.ledger.bans())
    if (site === null && hasOtherLogin(upstream.id, before, now))
      services.ledger.lift(slot, null, services.clock.nowMs());
  // The pools of the moment, and not of this swap: exits are added and removed in between, too.
  services.opener.idle.keepOnly((key) => {
    const exit = exitOfKey(key);
    return !changed.has(exit) && hasExit(services.rules(), exit);
  });
  for (const relay of [...services.relays]) {
    const { owner } = relay;
    if (before.clients.byName(owner) !== undefined && clients.byName(owner) === undefined)
      relay.cut('cut_by_policy');
  }
}

/** 1 for each slot that is in a pool. */
function membersOf({ pools }: Rules['runtime']): Uint8Array {
  const slots = [...pools.values()].flatMap((pool) => pool.slots);
  const most = slots.reduce((max, list) => list.reduce((each, slot) => Math.max(each, slot), max), 0);
  const members = new Uint8Array(most + 1);
  for (const list of slots) for (const slot of list) members[slot] = 1;
  return members;
}

/** The exit of an idle connection's key. */
function exitOfKey(key: string): string {
  return key.slice(0, key.indexOf(' '));
}

function hasExit({ runtime }: Rules, exit: string): boolean {
  for (const { indexById } of runtime.pools.values()) if (indexById.has(exit)) return true;
  return false;
}

/** The addresses and names of this machine, with room for the doors that will be open. */
export function ownPlace(): OwnAddresses & { readonly ports: Set<number>; readonly doors: Door[] } {
  const addresses = new Set<string>();
  for (const list of Object.values(os.networkInterfaces())) {
    for (const { address } of list ?? []) addresses.add(address);
  }
  return { ports: new Set(), doors: [], addresses, names: new Set([os.hostname().toLowerCase()]) };
}
