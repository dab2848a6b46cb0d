/**
 * Plain requests: rebuilds the head from its parsed parts, sends it through an exit, passes the answer on as it came.
 * Field order and case are kept; what speaks to one hop only, and every control of ours, stays here.
 */
import { expectsContinue, upgradeOf } from '../http1/connection.js';
import type { Fields } from '../http1/fields.js';
import { endToEnd } from '../http1/forwardable.js';
import type { ResponseHead } from '../http1/head.js';
import type { BodySource } from '../http1/stream.js';
import type { Abandonment } from '../open/dial.js';
import type { HopAnswer, HopRequest, UpstreamChannel } from '../open/channel.js';
import { openHop } from '../open/open.js';
import type { Fault } from '../core/fault.js';
import { isSafe } from '../outcome/retry.js';
import { isControlField } from '../request/controls.js';
import { faultOfBody } from './answer-end.js';
import { runAttempts, type Carrier, type Delivery, type Try } from './attempt.js';
import { ContinueWatch } from './continue-watch.js';
import type { ClientExchange } from './exchange.js';
import type { Exit } from './pick-exit.js';
import { inspectAnswer, inspectFault, type Inspected } from './inspect.js';
import { joinWires } from './join.js';
import { ReplayBody } from './replay-body.js';
import type { GatewayServices } from './services.js';
import { learning, tellSights } from './tell-sights.js';
import type { Trace } from './trace.js';
import type { Ask } from './understand.js';

/** Serves one plain request. */
export async function serveForward(
  services: GatewayServices,
  exchange: ClientExchange,
  ask: Ask,
  trace: Trace,
): Promise<void> {
  trace.kind = 'forward';
  exchange.isFinGone = ask.route.onClientFin === 'abort';
  const { replayBytes } = ask.rules.runtime.limits;
  const replay =
    exchange.body === null ? null : new ReplayBody(exchange.body, replayBytes, services.replayBudget);
  const carrier = new ForwardCarrier(services, { exchange, ask, trace, replay });
  try {
    await runAttempts(services, { exchange, ask, trace, carrier });
  } finally {
    replay?.close();
  }
}

interface ForwardParts {
  readonly exchange: ClientExchange;
  readonly ask: Ask;
  readonly trace: Trace;
  readonly replay: ReplayBody | null;
}

class ForwardCarrier implements Carrier {
  private readonly fields: Fields;
  private readonly upgrade: string | null;
  private readonly continueWatch: ContinueWatch | null;

  constructor(
    private readonly services: GatewayServices,
    private readonly parts: ForwardParts,
  ) {
    const { exchange, ask } = parts;
    this.upgrade = upgradeAsked(exchange);
    this.fields = requestFields(exchange, ask);
    this.continueWatch = expectsContinue(exchange.head) ? new ContinueWatch(services.wheel, exchange) : null;
  }

  isReplayable(): boolean {
    return this.parts.replay?.isReplayable ?? true;
  }

  async attempt(exit: Exit, options: { abandonment: Abandonment; remainingMs: number }): Promise<Try> {
    const { services } = this;
    const { ask } = this.parts;
    const { timeouts } = ask.rules.runtime;
    const { remainingMs, abandonment } = options;
    const startedMs = services.clock.nowMs();
    const opening = openHop(services.opener, exit.upstream, {
      wheel: services.wheel,
      dialMs: Math.min(timeouts.dialMs, remainingMs),
      tlsMs: Math.min(timeouts.tlsMs, remainingMs),
      handshakeMs: timeouts.firstByteMs,
      remainingMs,
      abandonment,
      target: ask.context.target,
      idleKey: exit.idleKey,
      isFresh: !isSafe(ask.context.method) || this.parts.replay !== null,
    });
    const channel = opening instanceof Promise ? await opening : opening;
    const openMs = opening instanceof Promise ? services.clock.nowMs() - startedMs : 0;
    if (channel.kind === 'fault') return this.failedTry(exit, channel, openMs);
    const sentMs = services.clock.nowMs();
    const answer = await channel.send(this.request(), {
      firstByteMs: Math.min(timeouts.firstByteMs, Math.max(remainingMs - openMs, 1)),
      bodyIdleMs: timeouts.bodyIdleMs,
      onInterim: (head) => this.onInterim(head),
    });
    this.continueWatch?.stop();
    if (answer.kind === 'fault') return this.failedTry(exit, answer, openMs);
    const way = { openMs, channel };
    if (!ask.context.controls.detect || answer.upgraded !== null) return this.answeredTry(answer, way, null);
    const firstByteMs = services.clock.nowMs() - sentMs;
    const inspecting = inspectAnswer(services, { ask, answer, firstByteMs, abandonment });
    const seen = inspecting instanceof Promise ? await inspecting : inspecting;
    tellSights(services, { ask, exit, seen });
    // What broke before a byte of it went on can still be had elsewhere.
    const broken = seen.held === null ? null : seen.held.broken;
    if (broken !== null && seen.finding === null) return faultTry(channel.blame(faultOfBody(broken)), openMs);
    return this.answeredTry(answer, way, seen);
  }

  private request(): HopRequest {
    const { exchange, ask, replay } = this.parts;
    const body: BodySource | null = replay?.open() ?? null;
    this.continueWatch?.start();
    return {
      method: ask.context.method,
      target: ask.context.target,
      fields: this.fields,
      framing: exchange.framing,
      body,
      upgrade: this.upgrade,
      loopTrail: ask.loopTrail,
    };
  }

  /** Interim answers commit nothing. A 100 is passed on once, and only to a client that waits for it. */
  private onInterim(head: ResponseHead): void {
    if (head.status === 100 && this.continueWatch?.mayPass() !== true) return;
    const fields = endToEnd(head.fields, isOurs);
    // It has no body (RFC 9110, section 8.6), but some clients would read one.
    fields.remove('content-length');
    this.parts.exchange.interim({ ...head, fields });
  }

  private answeredTry(
    answer: HopAnswer,
    way: { openMs: number; channel: UpstreamChannel },
    seen: Inspected | null,
  ): Try {
    const { head } = answer;
    const body = seen === null ? answer.body : seen.body;
    const { ask } = this.parts;
    const { capture } = ask.rules.runtime.detection;
    const { captures } = this.services;
    return {
      facts: {
        kind: 'answer',
        status: head.status,
        fields: head.fields,
        refusedTunnel: false,
        requestSent: true,
        isTargets: way.channel.isTargets,
        receivedWallMs: this.services.clock.wallMs(),
        isBodyDue: answer.framing.kind !== 'none' && answer.upgraded === null,
      },
      openMs: way.openMs,
      finding: seen === null ? null : seen.finding,
      judged:
        capture === null || seen === null
          ? null
          : (verdict) => captures.store(capture, { ask, answer, seen, verdict }),
      discard: () => {
        body.cancel();
        answer.upgraded?.wire.destroy();
      },
      deliver: (tellMore) => this.deliver(answer, body, { tellMore, seen, channel: way.channel }),
    };
  }

  private deliver(
    answer: HopAnswer,
    body: BodySource,
    with_: { tellMore: (fields: Fields) => void; seen: Inspected | null; channel: UpstreamChannel },
  ): Promise<Delivery> {
    const { exchange, trace, ask } = this.parts;
    const { head } = answer;
    const fields = endToEnd(head.fields, isOurs);
    with_.tellMore(fields);
    trace.answered(head.status, this.services.clock.nowMs());
    if (answer.upgraded !== null) {
      trace.kind = 'upgrade';
      fields.append('Connection', 'Upgrade');
      fields.append('Upgrade', head.fields.get('upgrade') ?? '');
      return joinWires(this.services, ask, {
        exchange,
        exit: trace.upstream?.id ?? '',
        head: { ...head, fields },
        upgraded: answer.upgraded,
      });
    }
    if (head.status === 204) fields.remove('content-length'); // As with interim answers.
    exchange.respond({ status: head.status, reason: head.reason, fields }, answer.framing);
    const delivery = this.pass(body, with_.channel);
    if (with_.seen === null || !ask.rules.runtime.detection.usesBaseline) return delivery;
    return learning(this.services, { ask, answer, trace, firstByteMs: with_.seen.firstByteMs }, delivery);
  }

  private failedTry(exit: Exit, fault: Fault, openMs: number): Try {
    const seen = inspectFault(this.parts.ask, fault);
    tellSights(this.services, { ask: this.parts.ask, exit, seen });
    return { ...faultTry(fault, openMs), finding: seen.finding };
  }

  /**
   * Passes a body on to the client, no faster than it takes it; a cut body is never ended as if it were whole. One that
   * breaks before its head went out is taken back instead.
   * @param channel which it came by
   */
  private pass(body: BodySource, channel: UpstreamChannel): Promise<Delivery> {
    const { exchange } = this.parts;
    return new Promise((resolve) => {
      const bytes = (): { in: number; out: number } => ({ in: exchange.bytesIn, out: exchange.bytesOut });
      exchange.onGone = () => {
        body.cancel();
        resolve({ end: 'client_gone', bytes: bytes() });
      };
      const goOn = (): void => body.resume();
      body.pipe({
        data: (chunk) => {
          const isFlushed = exchange.write(chunk);
          if (!isFlushed) exchange.whenFlushed(goOn);
          return isFlushed;
        },
        end: (trailers) => {
          const through = bytes();
          exchange.end(trailers);
          resolve({ end: 'complete', bytes: through });
        },
        fail: (broken) => {
          const fault = channel.blame(faultOfBody(broken));
          const end = broken.kind === 'timeout' ? 'timeout' : 'upstream_cut';
          if (!exchange.withdraw()) exchange.abort();
          resolve({ end, bytes: bytes(), fault });
        },
      });
      exchange.flush();
    });
  }
}

/** Fields of answers that only we may say. */
function isOurs(lowerName: string): boolean {
  return lowerName.startsWith('x-turnpike-');
}

function faultTry(fault: Fault, openMs: number): Try {
  return {
    facts: fault,
    openMs,
    discard: () => undefined,
    deliver: () => Promise.reject(new Error('a fault has nothing to deliver')),
  };
}

/**
 * Only websocket is passed on; other upgrades, and one with a body, are served as the plain requests that they also are.
 */
function upgradeAsked(exchange: ClientExchange): string | null {
  if (exchange.body !== null) return null;
  const asked = upgradeOf(exchange.head);
  return asked?.toLowerCase() === 'websocket' ? asked : null;
}

/** End-to-end fields with Host regenerated in its place and our controls consumed. */
function requestFields(exchange: ClientExchange, ask: Ask): Fields {
  const { sessionHeader } = ask.rules.runtime;
  const fields = endToEnd(exchange.head.fields, (name) => isControlField(name, sessionHeader));
  fields.set('Host', ask.context.target.authority);
  return fields;
}
