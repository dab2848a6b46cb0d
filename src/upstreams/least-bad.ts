/** When every exit is set aside: which of them would be back first. */
import { matches, type Ask } from './choose.js';

/** How many exits are looked at, spread over a big pool. */
const LOOK_AT = 256;

/**
 * The exit that would be back first for this request, of those that nobody has ordered away, that have room and that this
 * exchange has not tried; its index in the pool, -1 where there is none.
 */
export function chooseLeastBad({ pool, view, site, nowMs, avoid, filter, share = null }: Ask): number {
  const { members } = share?.list ?? pool.all;
  const stride = Math.max(1, Math.floor(members.length / LOOK_AT));
  let best = -1;
  let earliestMs = Infinity;
  for (let position = 0; position < members.length; position += stride) {
    const index = members[position] ?? 0;
    const upstream = pool.upstreams[index];
    const slot = pool.slots[index] ?? 0;
    if (upstream === undefined || avoid.has(upstream.id) || !matches(upstream, filter)) continue;
    if (filter.upstream !== null && filter.upstream !== upstream.id) continue;
    if (share?.isOurs(index, false) === false) continue;
    if (!view.isOpenToNew(slot) || view.inFlight(slot) >= pool.slotsPerExit) continue;
    const backMs = Math.max(nowMs, view.usableAtMs(slot, site));
    if (backMs >= earliestMs) continue;
    best = index;
    earliestMs = backMs;
  }
  return best;
}
