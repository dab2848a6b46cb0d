/** What does a larger answer cost that nobody looks into? */
import { cpuColumns, cpuFigures, derived, type Scenario } from '../support/scenario.js';

export const forward64k: Scenario = {
  name: 'forward-64k',
  group: 'forward',
  question: 'plain GET, 64 KiB answer that is not inspected, keep-alive: CPU of the gateway per request',
  columns: cpuColumns('µs/request'),
  leaveOut: ['direct'],
  goals: [
    {
      text: '≤ 0.45 × squid',
      key: 'cpuMicros',
      limit: (of) => derived(of('squid'), (squid) => squid * 0.45),
    },
  ],
  job: (gateway, { timing }) => {
    return { kind: 'get', gateway, path: '/65536', size: 65_536, connections: 32, ...timing };
  },
  figures: cpuFigures,
};
