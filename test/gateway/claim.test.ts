import { describe, expect, it } from 'vitest';
import { allLost, claim, claimOne } from '../../src/gateway/claim.js';
import type { Exit } from '../../src/gateway/pick-exit.js';
import type { GatewayServices } from '../../src/gateway/services.js';

/** Services whose exits are lost so many times before one is held. */
function losing(times: number): { services: GatewayServices; lease: object } {
  const lease = { uses: 1 };
  const shares = { begin: () => (times-- > 0 ? 'lost' : lease) };
  return { services: { shares } as unknown as GatewayServices, lease };
}

const exit = (): Exit => ({ kind: 'exit', pool: {}, upstream: { id: 'u' }, lease: null }) as unknown as Exit;

describe('S2 an exit is taken up before it is used', () => {
  it('is the exit with what holds it, or nothing where it was lost', () => {
    const { services, lease } = losing(0);
    expect(claim(services, exit())).toMatchObject({ kind: 'exit', lease });
    expect(claim(losing(1).services, exit())).toBeNull();
    expect(claim(services, null)).toBeNull();
  });

  it('another is chosen where it was lost, a few times', async () => {
    let picks = 0;
    const pick = (): Promise<Exit> => {
      picks++;
      return Promise.resolve(exit());
    };
    const { services, lease } = losing(3);
    expect(await claimOne(services, pick, null)).toMatchObject({ lease });
    expect(picks).toBe(4);
    expect(await claimOne(losing(4).services, pick, allLost)).toBe(allLost);
    expect(await claimOne(losing(9).services, () => Promise.resolve(null), null)).toBeNull();
  });
});
