/** Request ids: unique over all gateways, short, and cheap to make. */

/** Makes the ids of one gateway. */
export class RequestIds {
  private count = 0;
  private readonly prefix: string;

  constructor(gatewayId: string) {
    this.prefix = `${gatewayId}-`;
  }

  /** The next id: gateway and running number. */
  next(): string {
    return this.prefix + (++this.count).toString(36);
  }
}
