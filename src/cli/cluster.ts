/** `turnpike cluster`: the gateways that share a state, and what of the shared pools is the asked one's. */
import { adminFlags } from './admin-client.js';
import type { CommandRow } from './commands.js';
import { exitCodes } from './exit-codes.js';
import { withGateway } from './remote.js';
import { table } from './table.js';

interface Cluster {
  readonly state: string;
  readonly sharing: string;
  readonly members: readonly { id: string; version: string; load: number; self: boolean }[];
  readonly pools: readonly { pool: string; sharing: string; exits: number; own: number | null }[];
  readonly leases: Readonly<Record<string, number>>;
  readonly owners: readonly { pool: string; owner: string | null }[];
}

function shown({ state, sharing, members, pools, leases, owners }: Cluster): string {
  const gateways = members.map(({ id, version, load, self }) => [
    id,
    version,
    String(load),
    self ? 'this' : '',
  ]);
  const shares = pools.map((each) => [each.pool, each.sharing, String(each.exits), String(each.own ?? '-')]);
  const counts = Object.entries(leases).map(([name, count]) => `${name} ${count}`);
  return [
    `state ${state}, sharing ${sharing}; leases: ${counts.join(', ')}\n`,
    table(['GATEWAY', 'VERSION', 'LOAD', ''], gateways),
    '',
    table(['POOL', 'SHARING', 'EXITS', 'OWN'], shares),
    ...owners.map(({ pool, owner }) => `\n${pool}: ${owner ?? 'nobody knows whose it is'}`),
  ].join('\n');
}

/** The command. */
export const clusterCommand: CommandRow = {
  name: 'cluster',
  summary: 'List the gateways that share a state, and what of the shared pools is the asked one’s.',
  flags: [{ spelling: '--exit <exit>', help: 'say whose this exit is (sharing: ring)' }, ...adminFlags],
  run: (values, output) =>
    withGateway(values, output, async (client) => {
      const exit = values['exit'];
      const query = typeof exit === 'string' ? `?exit=${encodeURIComponent(exit)}` : '';
      const answer = (await client.call('GET', `/api/v1/cluster${query}`)) as Cluster;
      output.print(values['json'] === true ? JSON.stringify(answer, null, 2) : shown(answer));
      return exitCodes.ok;
    }),
};
