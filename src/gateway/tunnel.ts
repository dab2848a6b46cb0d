/** CONNECT: opens a tunnel through an exit, tries elsewhere until one stands, and only then says 200. */
import { Fields } from '../http1/fields.js';
import type { Abandonment } from '../open/dial.js';
import { openTunnel, type TunnelOutcome } from '../open/open.js';
import { isAlert } from '../outcome/tunnel-signs.js';
import { runAttempts, type Carrier, type Delivery, type Try } from './attempt.js';
import type { ClientExchange } from './exchange.js';
import { showSite } from './guard-site.js';
import { inspectFault } from './inspect.js';
import { joinWires } from './join.js';
import type { Exit } from './pick-exit.js';
import type { GatewayServices } from './services.js';
import { tellSights } from './tell-sights.js';
import type { Trace } from './trace.js';
import { judgeTunnelEnd } from './tunnel-end.js';
import type { Ask } from './understand.js';

/** Serves one CONNECT. */
export async function serveTunnel(
  services: GatewayServices,
  exchange: ClientExchange,
  ask: Ask,
  trace: Trace,
): Promise<void> {
  trace.kind = 'tunnel';
  await runAttempts(services, {
    exchange,
    ask,
    trace,
    carrier: new TunnelCarrier(services, { exchange, ask, trace }),
  });
}

interface TunnelParts {
  readonly exchange: ClientExchange;
  readonly ask: Ask;
  readonly trace: Trace;
}

class TunnelCarrier implements Carrier {
  constructor(
    private readonly services: GatewayServices,
    private readonly parts: TunnelParts,
  ) {}

  /** What the client sent early is held by its connection and goes to the exit that works. */
  isReplayable(): boolean {
    return true;
  }

  async attempt(exit: Exit, options: { abandonment: Abandonment; remainingMs: number }): Promise<Try> {
    const { services } = this;
    const { ask } = this.parts;
    const { timeouts } = ask.rules.runtime;
    const startedMs = services.clock.nowMs();
    const outcome = await openTunnel(services.opener, exit.upstream, {
      wheel: services.wheel,
      dialMs: Math.min(timeouts.dialMs, options.remainingMs),
      tlsMs: Math.min(timeouts.tlsMs, options.remainingMs),
      handshakeMs: timeouts.firstByteMs,
      remainingMs: options.remainingMs,
      abandonment: options.abandonment,
      target: ask.context.target,
      loopTrail: ask.loopTrail,
    });
    return this.tryOf(outcome, exit, services.clock.nowMs() - startedMs);
  }

  private tryOf(outcome: TunnelOutcome, exit: Exit, openMs: number): Try {
    const discard = (): void => (outcome.kind === 'tunnel' ? outcome.wire.destroy() : undefined);
    const deliver: Try['deliver'] = (tellMore) => this.deliver(outcome, { exit, openMs }, tellMore);
    if (outcome.kind === 'fault') {
      const seen = inspectFault(this.parts.ask, outcome);
      tellSights(this.services, { ask: this.parts.ask, exit, seen });
      return { facts: outcome, openMs, finding: seen.finding, discard, deliver };
    }
    if (outcome.kind === 'tunnel') return { facts: { kind: 'tunnel' }, openMs, discard, deliver };
    const { status, fields } = outcome.head;
    return {
      facts: {
        ...{ kind: 'answer', status, fields, refusedTunnel: true, requestSent: false },
        receivedWallMs: this.services.clock.wallMs(),
      },
      openMs,
      discard,
      deliver,
    };
  }

  private async deliver(
    outcome: TunnelOutcome,
    by: { readonly exit: Exit; readonly openMs: number },
    tellMore: (fields: Fields) => void,
  ): Promise<Delivery> {
    if (outcome.kind !== 'tunnel') throw new Error('only a tunnel that stands can be delivered');
    const { exchange, ask, trace } = this.parts;
    const { services } = this;
    const { exit, openMs } = by;
    const { site } = ask.context.target;
    const fields = Fields.empty();
    tellMore(fields);
    const standsMs = services.clock.nowMs();
    trace.answered(200, standsMs);
    const delivery = await joinWires(services, ask, {
      exchange,
      exit: exit.upstream.id,
      head: { status: 200, reason: 'Connection established', fields },
      upgraded: outcome,
      onFirstAnswer: (first) => {
        if (isAlert(first)) return;
        // What can be told of a tunnel's speed: how long it took to stand.
        services.ledger.firstByte(exit.slot, openMs);
        services.ledger.recordSuccess(exit.slot, site, services.clock.nowMs());
        showSite(services, site, { exit: exit.slot, sighting: { kind: 'good' } });
      },
    });
    const stoodMs = services.clock.nowMs() - standsMs;
    judgeTunnelEnd(services, { exit, ask, delivery, stoodMs });
    return delivery;
  }
}
