/** How many connections a listener may have, in all and from one address. */
import type { Limits } from '../routing/runtime.js';

/** Counts connections by the address of their client. */
export class DoorLimits {
  private readonly byAddress = new Map<string, number>();

  /** @param open connections and tunnels that stand now, over all addresses */
  constructor(
    private readonly limits: () => Limits,
    private readonly open: () => number,
  ) {}

  /** Counts one more from this address; the name of the limit that is reached, or null. */
  enter(address: string): string | null {
    const { connections, connectionsPerAddress } = this.limits();
    const fromThere = this.byAddress.get(address) ?? 0;
    this.byAddress.set(address, fromThere + 1);
    if (this.open() >= connections) return 'limits.connections';
    return fromThere >= connectionsPerAddress ? 'limits.connections_per_address' : null;
  }

  /** One that was counted is closed. */
  leave(address: string): void {
    const left = (this.byAddress.get(address) ?? 1) - 1;
    if (left <= 0) this.byAddress.delete(address);
    else this.byAddress.set(address, left);
  }
}
