/**
 * The rules in force and the keeper of their pools: the one reference that a reload swaps, and the place where a new
 * snapshot of a pool is taken or, coming from a keeper that is not in force, left.
 */
import type { Emit } from '../core/events.js';
import type { TimerWheel } from '../core/timer-wheel.js';
import type { Ledger } from '../exits/ledger.js';
import { createListFetch } from '../exits/list-fetch.js';
import { PoolKeeper } from '../exits/pool-keeper.js';
import { Roster } from '../exits/roster.js';
import { MAX_LIST_BYTES } from '../exits/sources.js';
import type { UpstreamLogins } from '../exits/upstream-logins.js';
import type { Rules } from '../gateway/services.js';
import type { OwnAddresses } from '../protocol/target.js';
import { conflictText, passwordConflicts } from '../upstreams/password-conflicts.js';
import { buildPool, type Pool } from '../upstreams/pool.js';
import type { RulesLogins } from './kept-logins.js';
import { withPools, type BuiltRules, type RulesParts } from './rules.js';

/** A list that takes longer to come is given up. */
const LIST_TIMEOUT_MS = 30_000;
/** More exits with two passwords are not told of, one by one. */
const MOST_CONFLICTS = 20;

/** What it works with. */
export interface InForceParts extends RulesLogins {
  readonly ledger: Ledger;
  readonly wheel: TimerWheel;
  readonly emit: Emit;
  readonly own: OwnAddresses;
  /** The compiled thread that reads big lists. */
  readonly listWorker: URL;
  /** Told of every change but the first: what lives longer than rules follows. */
  readonly onChange: (before: Rules, now: Rules) => void;
}

/** The rules in force. */
export class InForce {
  readonly rulesParts: RulesParts;
  /** What was added to pools and removed from them by hand. */
  readonly roster = new Roster();
  #built: BuiltRules | null = null;
  #isStarted = false;

  constructor(private readonly parts: InForceParts) {
    const { own, emit, wheel, ledger, logins, failures, stored, listWorker: workerFile } = parts;
    const fetchList = createListFetch({ own, maxBytes: MAX_LIST_BYTES, timeoutMs: LIST_TIMEOUT_MS });
    const numbers = { intern: ledger.intern.bind(ledger), hold: ledger.hold.bind(ledger) };
    this.rulesParts = {
      ...{ failures, stored },
      keeperInForce: () => this.#built?.keeper ?? null,
      newKeeper: () => {
        const onSwap = (pool: Pool): void => this.#swapPool(keeper, pool);
        const keeper = new PoolKeeper({ ...numbers, wheel, emit, fetchList, logins, workerFile, onSwap });
        return keeper;
      },
    };
  }

  get logins(): UpstreamLogins {
    return this.parts.logins;
  }

  get built(): BuiltRules {
    if (this.#built === null) throw new Error('there are no rules yet');
    return this.#built;
  }

  get rules(): Rules {
    return this.built.rules;
  }

  /** Puts rules in force, whole and at once; the keeper before has nothing to say any more. */
  use(built: BuiltRules): void {
    const before = this.#built;
    before?.keeper.close();
    const pools = [...built.keeper.pools()].map(([name, pool]): [string, Pool] => [
      name,
      this.#composed(pool),
    ]);
    this.#built = { ...built, rules: withPools(built.rules, new Map(pools)) };
    if (before !== null) this.parts.onChange(before.rules, this.rules);
    this.#tellConflicts();
    built.keeper.settle();
    if (this.#isStarted) built.keeper.start();
  }

  #tellConflicts(): void {
    for (const conflict of passwordConflicts([...this.rules.runtime.pools.values()], MOST_CONFLICTS)) {
      const { exit, pools } = conflict;
      const detail = { exit, pools: pools.join(', '), reason: conflictText(conflict) };
      this.parts.emit({ type: 'note', level: 'warn', what: 'password_differs', detail });
    }
  }

  /** New snapshots of pools; all other rules stay. */
  setPools(pools: ReadonlyMap<string, Pool>): void {
    this.#built = { ...this.built, rules: withPools(this.rules, pools) };
  }

  /** Begins to ask for lists again. */
  start(): void {
    this.#isStarted = true;
    this.built.keeper.start();
  }

  /** A new reading of one pool; of a keeper that is not in force it waits for its rules, or is late. */
  #swapPool(keeper: PoolKeeper, pool: Pool): void {
    if (this.#built?.keeper !== keeper) return;
    const before = this.rules;
    this.setPools(new Map(before.runtime.pools).set(pool.name, this.#composed(pool)));
    this.parts.onChange(before, this.rules);
  }

  /**
   * What the sources gave, with what was added and removed by hand. Done in the step that puts it in force and not
   * before: changes may come while a pool is built, and rules that are dropped must leave no trace.
   */
  #composed(pool: Pool): Pool {
    const upstreams = this.roster.compose(pool);
    if (upstreams === pool.upstreams) return pool;
    return buildPool({ ...pool, upstreams }, (upstream) => this.parts.ledger.intern(upstream));
  }
}
