/** What every implementation of `Members` must do. Call it once for each. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Member } from '../../src/facts/member.js';
import type { Members } from '../../src/state/ports.js';
import type { MakeStore, UnderTest } from './under-test.js';

/** Registers the suite for one implementation. */
export function membersContract(name: string, make: MakeStore<Members>): void {
  describe(`Members: ${name}`, () => {
    let members: Members;
    let passMs: UnderTest<Members>['passMs'];
    beforeEach(async () => {
      ({ store: members, passMs } = await make());
    });
    const gateway = (id: string, changes: Partial<Member> = {}): Member => ({
      ...{ id, version: '1.2.3-rc.1+4', load: 7, keys: ['k1', 'k2'] },
      ...changes,
    });
    const ids = (found: readonly Member[]): string[] => found.map(({ id }) => id);

    it('S3 lists who is alive, with what they say of themselves', async () => {
      expect(await members.list()).toEqual([]);
      await members.announce(gateway('g2', { keys: [] }), 5000);
      expect(await members.announce(gateway('g1'), 5000)).toEqual([
        gateway('g1'),
        gateway('g2', { keys: [] }),
      ]);
    });

    it('S3 a heartbeat takes the place of the one before', async () => {
      await members.announce(gateway('g1'), 5000);
      await passMs(4000);
      await members.announce(gateway('g1', { load: 9 }), 5000);
      await passMs(4000);
      expect(await members.list()).toEqual([gateway('g1', { load: 9 })]);
    });

    it('S3 who is silent is gone after its time', async () => {
      await members.announce(gateway('g1'), 5000);
      await members.announce(gateway('g2'), 60_000);
      await passMs(5001);
      expect(ids(await members.list())).toEqual(['g2']);
    });

    it('S3 who leaves is gone at once', async () => {
      await members.announce(gateway('g1'), 5000);
      await members.announce(gateway('g2'), 5000);
      await members.leave('g1');
      await members.leave('never there');
      expect(ids(await members.list())).toEqual(['g2']);
    });
  });
}
