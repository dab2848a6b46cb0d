/** What does a small plain GET cost on kept connections? */
import { cpuColumns, cpuFigures, derived, type Scenario } from '../support/scenario.js';

export const forward1k: Scenario = {
  name: 'forward-1k',
  group: 'forward',
  question: 'plain GET, 1 KiB answer, keep-alive on both sides: CPU of the gateway per request',
  columns: cpuColumns('µs/request'),
  leaveOut: ['direct'],
  goals: [
    { text: '≤ bare + 45 µs', key: 'cpuMicros', limit: (of) => derived(of('bare'), (bare) => bare + 45) },
    {
      text: '< 0.75 × squid',
      key: 'cpuMicros',
      limit: (of) => derived(of('squid'), (squid) => squid * 0.75),
    },
  ],
  job: (gateway, { timing }) => {
    return { kind: 'get', gateway, path: '/1024', size: 1024, connections: 32, ...timing };
  },
  figures: cpuFigures,
};
