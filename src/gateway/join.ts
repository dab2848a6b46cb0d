/** What comes after a 101 or a CONNECT's 200: the client's wire and the upstream's, joined and counted. */
import type { Fields } from '../http1/fields.js';
import type { Wire } from '../open/wire.js';
import type { Delivery } from './attempt.js';
import type { ClientExchange } from './exchange.js';
import { Relay } from './relay.js';
import type { GatewayServices } from './services.js';
import type { Ask } from './understand.js';

/** A client and an upstream about to be joined. */
export interface Joint {
  readonly exchange: ClientExchange;
  /** Id of the exit. */
  readonly exit: string;
  /** The head that tells the client so. */
  readonly head: { readonly status: number; readonly reason: string; readonly fields: Fields };
  readonly upgraded: { readonly wire: Wire; readonly rest: Buffer };
  /** Called with the first byte from the far side. */
  readonly onFirstAnswer?: (first: number) => void;
}

/** Sends the head and relays until both sides are done. */
export function joinWires(services: GatewayServices, ask: Ask, joint: Joint): Promise<Delivery> {
  const { timeouts } = ask.rules.runtime;
  const { exchange, upgraded } = joint;
  const { wire, early } = exchange.takeOver(joint.head);
  exchange.onGone = null;
  return new Promise((resolve) => {
    const relay = new Relay(wire, upgraded.wire, {
      owner: ask.client.name,
      meter: exchange.meter,
      ...{ exit: joint.exit, site: ask.context.target.site },
      wheel: services.wheel,
      limits: {
        idleMs: timeouts.tunnelIdleMs,
        lifetimeMs: timeouts.tunnelLifetimeMs,
        halfCloseMs: timeouts.halfCloseMs,
      },
      onFirstAnswer: joint.onFirstAnswer ?? (() => undefined),
      onEnd: (end) => {
        services.relays.delete(relay);
        resolve({ end, bytes: { in: relay.bytesIn, out: relay.bytesOut }, tunnel: relay.ended });
      },
    });
    services.relays.add(relay);
    relay.start(early, upgraded.rest);
  });
}
