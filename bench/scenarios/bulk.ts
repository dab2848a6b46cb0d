/** What does a gigabyte through tunnels cost? */
import { asTimed, type Scenario } from '../support/scenario.js';

export const bulk: Scenario = {
  name: 'bulk',
  group: 'bulk',
  question: 'downloads through 64 tunnels at once: CPU of the gateway per GB (10^9 bytes)',
  columns: [
    { key: 'cpuPerGb', title: 's/GB', digits: 3 },
    { key: 'gbPerSecond', title: 'GB/s', digits: 2 },
    { key: 'busy', title: 'core busy %', digits: 0 },
  ],
  leaveOut: ['direct'],
  goals: [{ text: '≤ 1.0 × squid', key: 'cpuPerGb', limit: (of) => of('squid') }],
  job: (gateway, { warmupMs, measureMs }) => ({
    kind: 'bulk',
    gateway,
    connections: 64,
    warmupMs,
    measureMs,
  }),
  figures: (result) => {
    const { cpuSeconds, units, seconds } = asTimed(result);
    return {
      cpuPerGb: cpuSeconds / (units / 1e9),
      gbPerSecond: units / 1e9 / seconds,
      busy: (cpuSeconds / seconds) * 100,
    };
  },
};
