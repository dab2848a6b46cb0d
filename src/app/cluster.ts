/** What the admin API tells of the fleet and of this gateway's place in it. */
import type { ClusterRow } from '../admin/services.js';
import { ownersOf, shareCounts } from '../exits/share-counts.js';
import type { Plant } from './services.js';

/** @param exit whose owners are wanted; null: none's */
export function clusterOf({ services, state }: Plant, version: string, exit: string | null): ClusterRow {
  const { gatewayId: id, shares } = services;
  const pools = [...services.rules().runtime.pools.values()];
  const known = state.fleet.members;
  const self = { id, version, load: services.admission.underWay };
  const members = known.some((each) => each.id === id) ? known : [self, ...known];
  return {
    gatewayId: id,
    state: state.kind(),
    sharing: shares.phase,
    members: members.map((each) => ({
      ...{ id: each.id, version: each.version, load: each.load },
      self: each.id === id,
    })),
    pools: shareCounts(shares, pools, services.clock.nowMs()),
    leases: { ...state.leases.counts, held: state.leases.size },
    owners: exit === null ? [] : ownersOf(shares, pools, exit),
  };
}
