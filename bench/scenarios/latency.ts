/** How long does a request take when the gateway is not busy? */
import { CORE_COLUMNS, cpuFigures, type Scenario } from '../support/scenario.js';

export const latency: Scenario = {
  name: 'latency',
  group: 'latency',
  question:
    'plain GET, 1 KiB, 250 a second whatever happens (open loop): time from the intended start to the last byte',
  columns: [
    { key: 'p50Ms', title: 'p50 ms', digits: 3 },
    { key: 'p99Ms', title: 'p99 ms', digits: 2 },
    { key: 'cpuMicros', title: 'µs/request', digits: 0 },
    ...CORE_COLUMNS,
  ],
  leaveOut: [],
  goals: [
    { text: '≤ 0.55 ms', key: 'p50Ms', limit: () => 0.55 },
    { text: '< squid', key: 'p50Ms', limit: (of) => of('squid') },
  ],
  job: (gateway, { timing }) => ({
    kind: 'paced',
    gateway,
    path: '/1024',
    size: 1024,
    connections: 32,
    perSecond: 250,
    ...timing,
    // At this pace, a warm-up by number would take too long.
    warmupUnits: 500,
  }),
  figures: cpuFigures,
};
