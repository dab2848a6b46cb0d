/** What does a small plain GET cost when every one needs a new connection to the upstream (many exits)? */
import { cpuColumns, cpuFigures, type Scenario } from '../support/scenario.js';

export const forwardFresh: Scenario = {
  name: 'forward-fresh',
  group: 'forward',
  question: 'plain GET, 1 KiB answer, the upstream closes after each: CPU of the gateway per request',
  columns: cpuColumns('µs/request'),
  leaveOut: ['direct', 'haproxy'],
  goals: [{ text: '< squid', key: 'cpuMicros', limit: (of) => of('squid') }],
  job: (gateway, { timing }) => {
    return { kind: 'get', gateway, path: '/1024?close', size: 1024, connections: 32, ...timing };
  },
  figures: cpuFigures,
};
