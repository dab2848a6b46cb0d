/**
 * The state that gateways share, put together: what one decides about exits and sessions the others know. Without Redis
 * it is the state of a fleet of one. It translates between events and ledger on one side and words of the fleet on the
 * other, and decides nothing itself.
 */
import type { Config } from '../config/config.js';
import type { TurnpikeEvent } from '../core/events.js';
import type { Clock } from '../core/clock.js';
import type { Emit } from '../core/events.js';
import type { Random } from '../core/random.js';
import type { FleetPlace } from '../exits/away-part.js';
import { Shares } from '../exits/shares.js';
import { strangersIn } from '../facts/member.js';
import { BanNews } from '../state/fallback/ban-news.js';
import { Fleet } from '../state/fallback/fleet.js';
import { HeldLeases } from '../state/fallback/held-leases.js';
import { NearLimits } from '../state/fallback/limits.js';
import { NearPins } from '../state/fallback/pins.js';
import { NearTurns } from '../state/fallback/turns.js';
import type { Pins, SharedBan } from '../state/ports.js';
import type { Link } from '../state/redis/link.js';
import { memoryStores, redisStores, type Stores } from '../state/stores.js';
import type { StateReadings } from '../telemetry/metrics.js';
import { tellFleet } from './tell-fleet.js';

/** What the shared state needs of the gateway. */
export interface FleetNeeds {
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: Emit;
  readonly gatewayId: string;
  readonly version: string;
  /** Requests under way. */
  load(): number;
  /** Whether an exit may be used at all, by its number in the ledger. */
  isSound(slot: number): boolean;
  /** Takes over what another gateway decided about an exit. */
  applyBan(ban: SharedBan): void;
  /** Keys (`banKey`) of all bans that are on here. */
  heldBans(): ReadonlySet<string>;
}

/** The shared state. */
export interface FleetState {
  readonly pins: Pins;
  readonly limits: NearLimits;
  /** Null where there is one gateway. */
  readonly turns: NearTurns | null;
  readonly leases: HeldLeases;
  readonly fleet: Fleet;
  readonly shares: Shares;
  /** `memory`: nothing is shared. */
  kind(): 'memory' | 'shared' | 'degraded';
  /** How many gateways on the same Redis have another secret. */
  strangers(): number;
  /** Hears what happens here, to tell it. */
  subscribe(event: TurnpikeEvent): void;
  readings(): StateReadings | null;
  start(): void;
  stop(): Promise<void>;
}

const LEASE_TTL_MS = 30_000;
const LEASE_IDLE_MS = 10_000;

/** Makes it; nothing is connected yet. */
export function makeFleetState(config: Config, needs: FleetNeeds): FleetState {
  const { clock, random } = needs;
  // Until a ban can't come again by an old word: as long as the longest ban lasts.
  const banKeepMs = Math.max(config.bans.site_cap, config.bans.transport_cap);
  const parts = { clock, random, banKeepMs };
  if (config.state.kind === 'memory') return alone(memoryStores(parts), needs, placeOf(config));
  const stores = redisStores(config.state, parts);
  const near = new NearPins({ far: stores.pins, clock, isUp: () => stores.link.isUp });
  const news = new BanNews({
    ...{ bans: stores.bans, clock, random, by: needs.gatewayId, keepMs: banKeepMs },
    apply: (ban) => {
      near.doubt(ban.exit);
      needs.applyBan(ban);
    },
  });
  return together({ needs, stores, near, news, place: placeOf(config) });
}

/** What is the same for one and for many. */
function commonOf(
  stores: Stores & { readonly secretName?: string },
  needs: FleetNeeds,
  of: { readonly place: FleetPlace | null; readonly isShared: boolean; readonly isUp: () => boolean },
) {
  const { place, isShared, isUp } = of;
  const { clock, random } = needs;
  const { secretName = null } = stores;
  const keys = secretName === null ? [] : [secretName];
  const self = () => ({ id: needs.gatewayId, version: needs.version, load: needs.load(), keys });
  let strangers = 0;
  const fleet = new Fleet({
    ...{ members: stores.members, clock, random, self },
    heard: (ids) => shares.heard(ids),
    changed: (ids) => {
      const detail = { gateways: ids.length };
      needs.emit({ type: 'note', level: 'info', what: 'fleet_changed', detail });
      const before = strangers;
      strangers = secretName === null ? 0 : strangersIn(fleet.members, secretName);
      if (strangers !== before) needs.emit(secretNote(strangers));
    },
  });
  const limits = new NearLimits({ far: stores.limits, clock, isUp, gateways: () => fleet.ids.length });
  const leases = new HeldLeases({
    ...{ leases: stores.leases, clock, ttlMs: LEASE_TTL_MS, idleMs: LEASE_IDLE_MS },
    isUp,
  });
  const shares: Shares = new Shares(
    {
      ...{ clock, random, leases, place, gatewayId: needs.gatewayId, isSound: (slot) => needs.isSound(slot) },
      changed: (phase) =>
        needs.emit({ type: 'note', level: 'info', what: 'sharing_changed', detail: { phase } }),
    },
    isShared,
  );
  return { fleet, limits, leases, shares, strangers: () => strangers };
}

function secretNote(strangers: number): TurnpikeEvent {
  const isBad = strangers > 0;
  const detail = {
    gateways: strangers,
    advice:
      'TURNPIKE_CLUSTER_SECRET must be the same on all gateways of a fleet, or sessions are not shared.',
  };
  const what = isBad ? 'cluster_secret_differs' : 'cluster_secret_agrees';
  return { type: 'note', level: isBad ? 'error' : 'info', what, detail: isBad ? detail : {} };
}

function placeOf({ cluster: { index, count } }: Config): FleetPlace | null {
  return count === undefined ? null : { index: index ?? null, count };
}

function alone(stores: Stores, needs: FleetNeeds, place: FleetPlace | null): FleetState {
  return {
    ...commonOf(stores, needs, { place, isShared: false, isUp: () => true }),
    pins: stores.pins,
    turns: null,
    kind: () => 'memory',
    subscribe: () => undefined,
    readings: () => null,
    start: () => undefined,
    stop: async () => undefined,
  };
}

interface Together {
  readonly needs: FleetNeeds;
  readonly place: FleetPlace | null;
  readonly stores: ReturnType<typeof redisStores>;
  readonly near: NearPins;
  readonly news: BanNews;
}

function together({ needs, stores, near, news, place }: Together): FleetState {
  const { link } = stores;
  const common = commonOf(stores, needs, { place, isShared: true, isUp: () => link.isUp });
  const { fleet, leases, shares } = common;
  const turns = new NearTurns({ far: stores.turns, isUp: () => link.isUp });
  stores.leases.listen((pool, exit) => leases.want(pool, exit));
  link.listen({
    changed: (isUp, cause) => {
      const what = isUp ? 'state_shared' : 'state_degraded';
      needs.emit({ type: 'note', level: isUp ? 'info' : 'warn', what, detail: isUp ? {} : { cause } });
      shares.linked(isUp);
      if (!isUp) return;
      void news.readAll();
      fleet.back();
    },
    subscribed: () => {
      near.doubtAll();
      void news.poll();
    },
  });
  return {
    ...common,
    pins: near,
    turns,
    kind: () => (link.isUp ? 'shared' : 'degraded'),
    subscribe: (event) => tellFleet(news, event, () => needs.heldBans()),
    readings: () => readingsOf({ link, news, turns, ...common }),
    start: () => {
      link.start();
      news.start();
      fleet.start();
      leases.start();
      shares.start();
    },
    stop: async () => {
      news.stop();
      shares.stop();
      await Promise.all([news.flush(), leases.stop(), fleet.stop()]);
      link.close();
    },
  };
}

function readingsOf(
  of: { link: Link; news: BanNews; turns: NearTurns } & Pick<
    FleetState,
    'fleet' | 'leases' | 'shares' | 'strangers'
  >,
): StateReadings {
  const { link, news, fleet, leases, shares } = of;
  return {
    isShared: link.isUp,
    gateways: fleet.ids.length,
    strangers: of.strangers(),
    bansWaiting: news.waiting,
    counts: { ...link.counts },
    bans: { ...news.counts },
    leases: { ...leases.counts },
    leasesHeld: leases.size,
    turns: { ...of.turns.counts },
    isAlone: shares.isAlone,
  };
}
