/** P01 at length: 5,000 resets at random moments; descriptors and heap stay flat. */
import { expect, it } from 'vitest';
import { heapBytes, openSockets } from '../support/probes.js';
import { startRig } from '../support/rig.js';
import { plans, resettingUpstream, runOnce, type Plan } from '../support/rst-fuzz.js';
import { waitFor } from '../support/wait.js';

it('P01 5,000 resets by either side leave descriptors and heap flat', async () => {
  let plan: Plan = { mode: 'get', moment: 'head', side: 'client' };
  const rig = await startRig(
    resettingUpstream(() => plan),
    {
      upstreams: ({ loginUrl }) => Array.from({ length: 40 }, (_, i) => loginUrl(`u${i}`, 'x')),
      config: { bans: { max_ejected: 0 }, retry: { retries: 1 }, limits: { idle_per_exit: 1 } },
    },
  );
  const warmUp = 500;
  let before = { sockets: 0, heap: 0 };
  let nth = 0;
  for (plan of plans(11, 5000)) {
    await runOnce(rig.gateway.port, plan);
    if (++nth === warmUp) before = { sockets: openSockets(), heap: heapBytes() };
  }
  await waitFor('the sockets of the last runs to go', () => openSockets() <= before.sockets + 40);
  // The test itself keeps every event and every peer; what they weigh is known and small.
  expect(heapBytes() - before.heap).toBeLessThan(30_000_000);
});
