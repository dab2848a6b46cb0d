/**
 * S12: a gateway of this version and one of an earlier commit share a Redis for a minute, under load. The commit is the last
 * one before `src/state` was changed; `EARLIER_COMMIT=v1.2.3 npx vitest run --project long test/long/two-versions.test.ts`
 * takes another.
 */
import { expect, it, vi } from 'vitest';
import { buildEarlier, earlierCommit } from '../support/earlier-version.js';
import { at, metricOf } from '../support/fleet.js';
import { overlaps } from '../support/logging-exits.js';
import { allOwned, Banning, exitIds, FleetLoad, startSharingFleet } from '../support/fleet-load.js';
import { tell } from '../support/process-figures.js';
import { createStage } from '../support/stage.js';

vi.setConfig({ testTimeout: 300_000 });
const stage = createStage();
const SECONDS = 60;

it('S12 two versions on one Redis: no error, no lost ban, no exit used by both', async ({ skip }) => {
  const commit = earlierCommit();
  if (commit === null) {
    skip('there is no git history to build an earlier version from');
    return;
  }
  const { program } = stage.keep(buildEarlier(commit));
  const fleet = await startSharingFleet(stage, 1);
  await fleet.join({}, { program });
  await fleet.settled();
  await allOwned(fleet);

  const load = new FleetLoad(fleet.gateways);
  const banning = new Banning(fleet.gateways, await exitIds(at(fleet, 0)));
  banning.start();
  await load.goOn(SECONDS);
  const asked = await load.end();
  // Who was there heard of bans by messages; who comes now has to find them in Redis, whichever version wrote them.
  await fleet.join();
  await fleet.join({}, { program });
  const lostBans = await banning.end();

  expect([...load.failed]).toEqual([]);
  expect(lostBans).toEqual([]);
  const usedBy = (site: string) => fleet.exits.uses.filter((use) => use.site === site);
  expect(overlaps(usedBy('ring.example'))).toEqual([]);
  expect(overlaps(usedBy('lease.example'))).toEqual([]);
  for (const gateway of fleet.gateways) {
    const events = ['outages', 'refusals', 'ignored'].map((event) =>
      metricOf(gateway, `turnpike_state_events_total{event="${event}"}`),
    );
    expect(await Promise.all(events)).toEqual([0, 0, 0]);
    expect(gateway.log().match(/.*"level":"?(error|fatal|50|60).*/g) ?? []).toEqual([]);
  }
  tell(`this version and ${commit.slice(0, 7)} on one Redis`, { asked, bans: banning.set.length });
});
