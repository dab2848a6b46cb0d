/** Who the gateways of a fleet are, as they tell each other. */

/** One gateway, as of its last heartbeat. */
export interface Member {
  /** Chosen by the process at its start; sorts the fleet. */
  readonly id: string;
  /** Version of the program. */
  readonly version: string;
  /** Requests in flight. */
  readonly load: number;
  /** Names of the secrets that it can use ({@link strangersIn}); they tell nothing of the secrets themselves. */
  readonly keys: readonly string[];
}

/** How long a gateway that is silent still counts. */
export const MEMBER_TTL_MS = 5000;

/** How long between heartbeats: three in the time that counts, and not all gateways at once. @param chance in [0, 1) */
export function heartbeatMs(chance: number): number {
  return (MEMBER_TTL_MS / 3) * (0.9 + 0.2 * chance);
}

/**
 * How many gateways use another secret than the one of this name, so that they can't read each other's sessions.
 * One that names none is of a version that didn't, and nobody knows.
 */
export function strangersIn(members: readonly Member[], secretName: string): number {
  return members.filter(({ keys }) => keys.length > 0 && !keys.includes(secretName)).length;
}

/** The ids of a fleet in the order that all gateways see, with oneself in it. */
export function fleetOf(members: readonly Member[], self: string): readonly string[] {
  return [...new Set([...members.map(({ id }) => id), self])].sort();
}
