/** Request ids: unique over all gateways, short, and cheap to make. */

/** Makes the ids of one listener. */
export class RequestIds {
  private count = 0;
  private readonly prefix: string;

  constructor(gatewayId: string, listener: string) {
    this.prefix = `${gatewayId}-${listener.replaceAll(/[^A-Za-z0-9]/g, '')}-`;
  }

  /** The next id: gateway, listener, running number. */
  next(): string {
    return this.prefix + (++this.count).toString(36);
  }
}
