/** How many connections clients may have, over all listeners and from one address. */
import type { Limits } from '../routing/runtime.js';

/** Counts sockets of clients, tunnels included, and connections by the address of their client. */
export class DoorLimits {
  private readonly byAddress = new Map<string, number>();
  private count = 0;

  constructor(private readonly limits: () => Limits) {}

  /** Sockets of clients that are open now. */
  get open(): number {
    return this.count;
  }

  /** Counts one more socket; false when so many are turned away already that this one can't be heard out. */
  opened(): boolean {
    const { connections, turnedAway } = this.limits();
    return ++this.count <= connections + turnedAway;
  }

  /** A socket that was counted is closed. */
  closed(): void {
    this.count--;
  }

  /** Counts one more from this address, its socket counted before; the name of the limit that is reached, or null. */
  enter(address: string): string | null {
    const { connections, connectionsPerAddress } = this.limits();
    const fromThere = this.byAddress.get(address) ?? 0;
    this.byAddress.set(address, fromThere + 1);
    if (this.count > connections) return 'limits.connections';
    return fromThere >= connectionsPerAddress ? 'limits.connections_per_address' : null;
  }

  /** One that was counted is closed. */
  leave(address: string): void {
    const left = (this.byAddress.get(address) ?? 1) - 1;
    if (left <= 0) this.byAddress.delete(address);
    else this.byAddress.set(address, left);
  }
}
