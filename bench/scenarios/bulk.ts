/** What does a gigabyte through tunnels cost? */
import { CORE_COLUMNS, asTimed, coreFigures, type Scenario } from '../support/scenario.js';

export const bulk: Scenario = {
  name: 'bulk',
  group: 'bulk',
  question: 'downloads through 64 tunnels at once: CPU of the gateway per GB (10^9 bytes)',
  columns: [
    { key: 'cpuPerGb', title: 's/GB', digits: 3 },
    { key: 'gbPerSecond', title: 'GB/s', digits: 2 },
    ...CORE_COLUMNS,
  ],
  leaveOut: ['direct'],
  goals: [{ text: '≤ 1.0 × squid', key: 'cpuPerGb', limit: (of) => of('squid') }],
  job: (gateway, { timing }) => ({
    kind: 'bulk',
    gateway,
    connections: 64,
    ...timing,
  }),
  figures: (result) => {
    const timed = asTimed(result);
    const gigabytes = timed.units / 1e9;
    return {
      cpuPerGb: timed.cpuSeconds / gigabytes,
      gbPerSecond: gigabytes / timed.seconds,
      ...coreFigures(timed),
    };
  },
};
