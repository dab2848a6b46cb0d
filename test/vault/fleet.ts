/** Vaults of several gateways over one store, under a clock of the test's. */
import { randomBytes } from 'node:crypto';
import type { TurnpikeEvent } from '../../src/core/events.js';
import { systemBytes } from '../../src/core/random.js';
import { placeOfSecret } from '../../src/vault/envelope.js';
import { openVault, type VaultParts } from '../../src/vault/key-vault.js';
import type { RotationPace } from '../../src/vault/rotation.js';
import type { Vault } from '../../src/vault/vault.js';
import { FakeClock } from '../support/fake-clock.js';
import { MemoryStore } from './memory-store.js';

/** Makes them. */
export class Fleet {
  readonly clock = new FakeClock();
  readonly store = new MemoryStore(this.clock);
  readonly events: TurnpikeEvent[] = [];
  root = randomBytes(32);

  /** A gateway. @param root its root key; the fleet's without it */
  open(
    instance: string,
    rootKey: VaultParts['rootKey'] = () => Promise.resolve(Buffer.from(this.root)),
    pace: RotationPace = { batch: 200, pauseMs: 1 },
  ): Promise<Vault> {
    const emit = (event: TurnpikeEvent): void => void this.events.push(event);
    const { db } = this.store;
    return openVault({ db, rootKey, instance, clock: this.clock, chance: systemBytes, emit, pace });
  }

  /** Lets time pass in small steps, so that what waits for the store gets on in between. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 50) {
      this.clock.advance(50);
      for (let turn = 0; turn < 40; turn += 1) await new Promise(setImmediate);
    }
  }

  /** Seals a secret and keeps it. */
  keep(vault: Vault, id: string, secret: string, version = 1): void {
    const { kekId, sealed } = vault.seal(placeOfSecret(id, version), Buffer.from(secret));
    this.store.secrets.set(id, { id, version, kekId, sealed });
  }

  /** Opens what was kept. */
  show(vault: Vault, id: string): string {
    const kept = this.store.secrets.get(id);
    if (kept === undefined) throw new Error(`${id} was not kept`);
    return vault.reveal(placeOfSecret(id, kept.version), kept.sealed).toString();
  }

  /** States of the keys but the one of sub-keys, by term. */
  states(): string[] {
    const keys = this.store.rows.filter(({ state }) => state !== 'derive').sort((a, b) => a.term - b.term);
    return keys.map(({ term, state }) => `${term} ${state}`);
  }
}
