/** What does a new CONNECT tunnel with a small exchange cost? */
import { cpuColumns, cpuFigures, derived, type Scenario } from '../support/scenario.js';

export const tunnel: Scenario = {
  name: 'tunnel',
  group: 'tunnel',
  question: 'new CONNECT tunnel, 100 bytes there and back, close: CPU of the gateway per tunnel',
  columns: cpuColumns('µs/tunnel'),
  leaveOut: ['direct'],
  goals: [
    { text: '≤ bare + 60 µs', key: 'cpuMicros', limit: (of) => derived(of('bare'), (bare) => bare + 60) },
  ],
  job: (gateway, { timing }) => ({
    kind: 'tunnel',
    gateway,
    connections: 32,
    ...timing,
  }),
  figures: cpuFigures,
};
