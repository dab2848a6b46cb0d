/** Makes the parts of the data plane, and holds the one reference to the rules that a reload swaps. */
import os from 'node:os';
import { FailureLimit } from '../access/failure-limit.js';
import { RateLimits } from '../access/rate-limit.js';
import type { Config } from '../config/config.js';
import { banRulesOf } from '../config/runtime-values.js';
import type { Clock } from '../core/clock.js';
import type { Emit } from '../core/events.js';
import type { Random } from '../core/random.js';
import { TimerWheel } from '../core/timer-wheel.js';
import { Ledger } from '../exits/ledger.js';
import { createListFetch } from '../exits/list-fetch.js';
import { PoolKeeper } from '../exits/pool-keeper.js';
import { MAX_LIST_BYTES } from '../exits/sources.js';
import { RequestIds } from '../gateway/request-ids.js';
import { ReplayBudget } from '../gateway/replay-body.js';
import type { GatewayServices, Rules } from '../gateway/services.js';
import { IdleConnections } from '../open/idle-connections.js';
import { Resolver, type LookUp } from '../open/resolver.js';
import { TransportBudget } from '../outcome/budget.js';
import { isOwnDoor, type Door } from '../protocol/own-door.js';
import { checkResolvedAddress, type OwnAddresses } from '../protocol/target.js';
import { MemoryPins } from '../state/memory.js';
import type { Pool } from '../upstreams/pool.js';
import { buildRules, exitsThatStay, withPools, type BuiltRules, type RulesParts } from './rules.js';

/** What the parts are made of. */
export interface Basics {
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: Emit;
  readonly own: OwnAddresses & { readonly doors: readonly Door[] };
  readonly lookUp: LookUp;
  /** The compiled thread that reads big lists. */
  readonly listWorker: URL;
}

/** The parts, and the rules in force. */
export interface Plant {
  readonly services: GatewayServices;
  /** What new rules are built with. */
  readonly rulesParts: RulesParts;
  /** Sites that metrics tell apart now. */
  sites(): ReadonlySet<string>;
  /** Puts rules in force, all at once, and lets go of what is gone: idle connections, tunnels of clients. */
  swap(built: BuiltRules): void;
  /** Begins to ask for lists again. */
  start(): void;
  /** An exit was banned for a site. */
  exitBanned(id: string): void;
  /** Pools change no more. */
  close(): void;
}

/** A list that takes longer to come is given up. */
const LIST_TIMEOUT_MS = 30_000;

/** The look-up tells no TTL, so addresses of upstreams are asked for anew twice a minute; a name that failed soon. */
const upstreamNameTimes = { keepMs: 30_000, keepFailureMs: 2000 };
/** Long enough for a page and its parts. */
const targetNameTimes = { keepMs: 10_000, keepFailureMs: 2000 };

/** The rules in force, and the keeper of their pools. */
class InForce {
  readonly parts: RulesParts;
  #built: BuiltRules | null = null;
  #isStarted = false;

  constructor(
    private readonly ledger: Ledger,
    private readonly basics: Basics,
    wheel: TimerWheel,
  ) {
    const { own, emit, listWorker } = basics;
    const fetchList = createListFetch({ own, maxBytes: MAX_LIST_BYTES, timeoutMs: LIST_TIMEOUT_MS });
    const intern = ledger.intern.bind(ledger);
    this.parts = {
      failures: new FailureLimit(),
      keeperInForce: () => this.#built?.keeper ?? null,
      newKeeper: () => {
        const onSwap = (pool: Pool): void => this.#swapPool(keeper, pool);
        const keeper = new PoolKeeper({ intern, wheel, emit, fetchList, workerFile: listWorker, onSwap });
        return keeper;
      },
    };
  }

  get built(): BuiltRules {
    if (this.#built === null) throw new Error('there are no rules yet');
    return this.#built;
  }

  get rules(): Rules {
    return this.built.rules;
  }

  /** The rules are whole at once; the keeper before has nothing to say any more. */
  use(built: BuiltRules): void {
    this.#built?.keeper.close();
    this.#built = { ...built, rules: withPools(built.rules, built.keeper.pools()) };
    if (this.#isStarted) built.keeper.start();
  }

  start(): void {
    this.#isStarted = true;
    this.built.keeper.start();
  }

  /** A new snapshot of one pool; of a keeper that is not in force it waits for its rules. */
  #swapPool(keeper: PoolKeeper, pool: Pool): void {
    if (this.#built?.keeper !== keeper) return;
    const pools = new Map(this.rules.runtime.pools).set(pool.name, pool);
    this.#built = { ...this.built, rules: withPools(this.rules, pools) };
    this.ledger.applyPools(pools.values(), this.basics.clock.nowMs());
  }
}

/** Builds everything behind the listeners. @throws when a list of upstreams can't be read. */
export async function buildPlant(config: Config, basics: Basics): Promise<Plant> {
  const { clock, random } = basics;
  const wheel = new TimerWheel(clock);
  const ledger = new Ledger(banRulesOf(config), random);
  const inForce = new InForce(ledger, basics, wheel);
  inForce.use(await buildRules(config, inForce.parts));
  ledger.applyPools(inForce.rules.runtime.pools.values(), clock.nowMs());
  const services = servicesOf(basics, { wheel, ledger, inForce });
  return {
    services,
    rulesParts: inForce.parts,
    sites: () => inForce.built.sites,
    swap: (built) => {
      const before = inForce.rules;
      inForce.use(built);
      follow(services, before, inForce.rules);
    },
    start: () => inForce.start(),
    exitBanned: (id) => inForce.built.keeper.exitBanned(id),
    close: () => inForce.built.keeper.close(),
  };
}

function servicesOf(
  basics: Basics,
  parts: { readonly wheel: TimerWheel; readonly ledger: Ledger; readonly inForce: InForce },
): GatewayServices {
  const { clock, random, emit, own, lookUp } = basics;
  const { wheel, ledger, inForce } = parts;
  const runtime = (): Rules['runtime'] => inForce.rules.runtime;
  const idle = new IdleConnections(() => ({
    idleMs: runtime().timeouts.upstreamIdleMs,
    perKey: runtime().limits.idlePerExit,
    total: runtime().limits.idleTotal,
  }));
  const { transportRatio, transportFloorPerS } = runtime().retry;
  const gatewayId = random.hex(4);
  return {
    ...{ clock, wheel, random, emit, own, ledger, gatewayId },
    ids: new RequestIds(gatewayId),
    rules: () => inForce.rules,
    pins: new MemoryPins(clock),
    rateLimits: new RateLimits(),
    opener: {
      ...{ clock, wheel, idle, emit },
      headLimits: () => runtime().limits,
      isOwn: ({ host, port }) => isOwnDoor(host, port, own.doors, own),
      upstreamNames: new Resolver({ clock, lookUp, ...upstreamNameTimes }),
      targetNames: new Resolver({ clock, lookUp, ...targetNameTimes }),
      forbids: (target, address) => checkResolvedAddress(target, address, inForce.rules.targets, own),
    },
    transportBudget: new TransportBudget(transportRatio, transportFloorPerS),
    replayBudget: new ReplayBudget(() => runtime().limits.replayTotalBytes),
    relays: new Set(),
  };
}

/** What lives longer than the rules takes the new ones over. */
function follow(services: GatewayServices, before: Rules, now: Rules): void {
  const { runtime, clients } = now;
  services.ledger.applyPools(runtime.pools.values(), services.clock.nowMs(), runtime.bans);
  services.transportBudget.configure(runtime.retry.transportRatio, runtime.retry.transportFloorPerS);
  const staying = exitsThatStay(before, now);
  services.opener.idle.keepOnly((key) => staying.has(key.slice(0, key.indexOf(' '))));
  for (const relay of [...services.relays]) {
    const { owner } = relay;
    if (before.clients.byName(owner) !== undefined && clients.byName(owner) === undefined)
      relay.cut('cut_by_policy');
  }
}

/** The addresses and names of this machine, with room for the doors that will be open. */
export function ownPlace(): OwnAddresses & { readonly ports: Set<number>; readonly doors: Door[] } {
  const addresses = new Set<string>();
  for (const list of Object.values(os.networkInterfaces())) {
    for (const { address } of list ?? []) addresses.add(address);
  }
  return { ports: new Set(), doors: [], addresses, names: new Set([os.hostname().toLowerCase()]) };
}
