import { expect, it } from 'vitest';
import { checkUp } from '../../src/checkup/checkup.js';
import { readRedisInfo } from '../../src/checkup/redis-info.js';
import { saneDeployment } from './deployments.js';

const names = (lines: readonly { check: string }[]): string[] => lines.map(({ check }) => check);

it('without Redis only the deployment is judged; one that is away is one line more', () => {
  const deployment = names(checkUp(saneDeployment, null));
  expect(names(checkUp(saneDeployment, { kind: 'away', code: 'timeout' }))).toEqual([...deployment, 'redis']);
});

it('with Redis its servers, the way there and the trial are judged, in this order', () => {
  const node = { at: 'a', info: readRedisInfo(''), aheadMs: 0, busy: 0, keys: 0, endless: 0, sample: null };
  const lines = checkUp(saneDeployment, {
    ...{ kind: 'there', isCluster: false, nodes: [node] },
    way: {
      ...{ isLoopback: true, isTls: false, isOpen: false, isWide: false, servers: 1, strangers: 0 },
      pins: { seen: 0, foreign: 0 },
    },
    trial: {
      ...{ refused: null, isHeard: true, race: { tries: 1, both: 0, neither: 0 } },
      latency: { medianMs: 1, slowMs: 1 },
    },
  });
  expect(names(lines).slice(7)).toEqual([
    ...['server', 'eviction', 'memory', 'persistence', 'ends', 'clients', 'load', 'clocks'],
    ...['address', 'login', 'tls', 'secret', 'work', 'atomicity', 'messages', 'latency'],
  ]);
});
