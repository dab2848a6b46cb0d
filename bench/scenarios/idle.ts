/** What does a tunnel cost that only waits, and does closing give everything back? */
import type { Scenario } from '../support/scenario.js';

const MEBIBYTE = 1_048_576;

export const idle: Scenario = {
  name: 'idle',
  group: 'idle',
  question:
    'many open tunnels (9,500 unless told otherwise): memory of the gateway per tunnel, fresh and after 1 MiB through each',
  columns: [
    { key: 'fresh', title: 'KiB fresh', digits: 1 },
    { key: 'used', title: 'KiB after 1 MiB', digits: 1 },
    { key: 'descriptorsLeft', title: 'fds left after closing', digits: 0 },
  ],
  leaveOut: ['direct'],
  needsFreshPeers: true,
  maxRounds: 3,
  goals: [
    { text: 'fresh ≤ 20 KiB', key: 'fresh', limit: () => 20 },
    { text: 'after 1 MiB ≤ 100 KiB', key: 'used', limit: () => 100 },
    { text: 'all fds given back', key: 'descriptorsLeft', limit: () => 0 },
  ],
  job: (gateway, { tunnels }) => ({
    kind: 'idle',
    gateway,
    tunnels,
    bytesEach: MEBIBYTE,
  }),
  figures: (result) => {
    if (result.kind !== 'idle') throw new Error('the load generator answered another question');
    return {
      fresh: result.freshKiBPerTunnel,
      used: result.usedKiBPerTunnel,
      descriptorsLeft: result.descriptorsLeft,
    };
  },
};
