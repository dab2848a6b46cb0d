/**
 * What the gateway stands on, in the order in which it must be made: who watches, then what outlives the process, then the
 * data plane that may ask it for logins, then the desks that need both. What fails on the way closes what was opened.
 */
import type { Config } from '../config/config.js';
import type { Subscriber } from '../telemetry/hub.js';
import { keptIn, type KeptLogins, type KeptParts } from './kept-logins.js';
import { buildPlant, type Basics, type Plant } from './services.js';
import { openStores } from './stores.js';
import { makeVaultParts, watchFor, type VaultParts } from './vault-parts.js';

/** Storage, vault and audit that a test made. */
export type GivenStorage = Omit<KeptParts, 'clock' | 'emit'>;

/** What it is made of. */
export interface FoundationParts extends Omit<Basics, 'kept'> {
  /** Who hears of events; the watch is added. */
  readonly subscribers: Subscriber[];
  /** In place of what the configuration names. */
  readonly storage: GivenStorage | null;
}

/** All of it. */
export interface Foundation {
  readonly plant: Plant;
  /** Null: there is no storage. */
  readonly kept: KeptLogins | null;
  readonly vaultParts: VaultParts;
}

/** Makes it. @throws when a source of upstreams or the database can't be used */
export async function layFoundation(
  config: Config,
  { subscribers, storage, ...basics }: FoundationParts,
): Promise<Foundation> {
  const { clock, random, emit, own } = basics;
  const watch = watchFor(config, { clock, random, emit, own });
  subscribers.push(watch.subscriber);
  const stores = await openStores(config, { clock, random, emit });
  const kept = keptIn(storage ?? stores, basics);
  try {
    const plant = await buildPlant(config, { ...basics, kept });
    const { limits } = plant.state;
    return { plant, kept, vaultParts: makeVaultParts({ stores, kept, watch, limits, clock, random, emit }) };
  } catch (error) {
    kept?.close();
    await stores?.close();
    throw error;
  }
}
