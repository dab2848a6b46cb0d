/** What the suites of the desks have in common. */
import { expect } from 'vitest';
import type { CredentialInput } from '../../src/access/credential-desk.js';
import type { Acquired, AcquiredToken, Redeemed, TokenEnded } from '../../src/access/token-desk.js';
import { admin, crawler, type DeskChanges, type DeskRig } from '../support/desks.js';

/** Gateways over one store. */
export interface DeskStore {
  open(changes?: DeskChanges): Promise<DeskRig>;
  passMs(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** A store and a first gateway over it, which questions go to unless another is named. */
export class DeskTools {
  constructor(
    readonly store: DeskStore,
    readonly rig: DeskRig,
  ) {}

  static async over(store: DeskStore): Promise<DeskTools> {
    return new DeskTools(store, await store.open());
  }

  keep = async (key: string, more: Partial<CredentialInput> = {}): Promise<void> => {
    const input = { key, type: 'api_key', secret: `s-${key}`, ...more };
    expect((await this.rig.desks.credentials.create(input, admin)).kind).toBe('created');
  };

  policy = async (constraints: object = {}, more: object = {}): Promise<void> => {
    const body = { name: 'p', credential_type: 'api_key', constraints, ...more };
    expect(await this.rig.desks.policies.create(body, admin)).toMatchObject({ kind: 'created' });
  };

  ask = (desk = this.rig, policy = 'p', who = by): Promise<Acquired> =>
    desk.desks.tokens.acquire({ policy, context: { target: 'shop.example', task_id: 't1' } }, who);

  acquire = async (desk = this.rig, policy = 'p', who = by): Promise<AcquiredToken> => {
    const got = await this.ask(desk, policy, who);
    if (got.kind !== 'acquired') throw new Error(`not acquired: ${JSON.stringify(got)}`);
    return got.token;
  };

  redeem = (token: AcquiredToken, desk = this.rig, who = by): Promise<Redeemed> =>
    desk.desks.tokens.redeem(token.id.reveal(), who);

  release = (token: AcquiredToken, desk = this.rig): Promise<TokenEnded> =>
    desk.desks.tokens.release(token.id.reveal(), by);

  /** Takes one and gives it back; false where none was to be had. */
  releasedAtOnce = async (desk: DeskRig): Promise<boolean> => {
    const got = await this.ask(desk);
    if (got.kind === 'acquired') await this.release(got.token, desk);
    return got.kind === 'acquired';
  };
}

/** Who asks unless said otherwise. */
export const by = crawler();
