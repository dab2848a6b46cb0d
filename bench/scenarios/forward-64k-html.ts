/** What does an HTML page cost, into which a gateway that judges answers has to look? */
import { cpuColumns, cpuFigures, type Scenario } from '../support/scenario.js';

export const forward64kHtml: Scenario = {
  name: 'forward-64k-html',
  group: 'forward',
  question:
    'plain GET, 64 KiB of HTML (turnpike inspects it, the others do not): CPU of the gateway per request',
  columns: cpuColumns('µs/request'),
  leaveOut: ['direct', 'haproxy', 'undici', 'node-http', 'proxy-chain'],
  goals: [{ text: '≤ 1 ms', key: 'cpuMicros', limit: () => 1000 }],
  job: (gateway, { timing }) => {
    return { kind: 'get', gateway, path: '/65536.html', size: 65_536, connections: 32, ...timing };
  },
  figures: cpuFigures,
};
