/** Who the gateways of a fleet are, as they tell each other. */

/** One gateway, as of its last heartbeat. */
export interface Member {
  /** Chosen by the process at its start; sorts the fleet. */
  readonly id: string;
  /** Version of the program. */
  readonly version: string;
  /** Requests in flight. */
  readonly load: number;
  /** Names of the keys that it can use, for changes of keys without a gap. */
  readonly keys: readonly string[];
}

/** How long a gateway that is silent still counts. */
export const MEMBER_TTL_MS = 5000;

/** How long between heartbeats: three in the time that counts, and not all gateways at once. @param chance in [0, 1) */
export function heartbeatMs(chance: number): number {
  return (MEMBER_TTL_MS / 3) * (0.9 + 0.2 * chance);
}

/** The ids of a fleet in the order that all gateways see, with oneself in it. */
export function fleetOf(members: readonly Member[], self: string): readonly string[] {
  return [...new Set([...members.map(({ id }) => id), self])].sort();
}
