/**
 * A channel for HTTP/1.1 requests, to a proxy or to the target itself: a kept connection where there is one, at once;
 * else a new one. A kept one that turns out stale is replaced inside; that is no attempt.
 */
import type { Fault } from '../core/fault.js';
import { Fields } from '../http1/fields.js';
import type { Upstream } from '../upstreams/upstream.js';
import type { HopAnswer, HopRequest, SendOptions, UpstreamChannel } from './channel.js';
import type { Dialled } from './dial.js';
import { HttpConnection } from './http-connection.js';
import type { HopOptions, Opener } from './open.js';

/** How requests go by one kind of upstream. */
export interface HttpWay {
  /** Whether the connection ends at the target: answers can only be its own, and nothing else is asked on it. */
  readonly isTargets: boolean;
  /** Makes a new connection, ready for a request. */
  connect(opener: Opener, upstream: Upstream, options: HopOptions): Promise<Dialled | Fault>;
  headOf(request: HopRequest, upstream: Upstream): string;
  /** Says whose a fault of the connection is; null: as it stands. */
  readonly blame: ((fault: Fault) => Fault) | null;
}

interface ChannelParts {
  readonly way: HttpWay;
  readonly opener: Opener;
  readonly upstream: Upstream;
  readonly options: HopOptions;
  /** Connections are shared only under the same key. */
  readonly idleKey: string;
}

/** A channel: a kept connection at once, else a new one, or why there is none. */
export function openHttpChannel(
  way: HttpWay,
  opener: Opener,
  upstream: Upstream,
  options: HopOptions,
): UpstreamChannel | Promise<UpstreamChannel | Fault> {
  const idleKey = way.isTargets ? `${options.idleKey}\n${options.target.hostPort}` : options.idleKey;
  const parts: ChannelParts = { way, opener, upstream, options, idleKey };
  const kept = options.isFresh ? null : opener.idle.take(idleKey);
  if (kept === null) return openFresh(parts);
  opener.emit({ type: 'upstream_connection', what: 'reused' });
  return new HttpChannel(kept, parts);
}

async function openFresh(parts: ChannelParts): Promise<UpstreamChannel | Fault> {
  const connection = await connectFresh(parts);
  return 'kind' in connection ? connection : new HttpChannel(connection, parts);
}

async function connectFresh(parts: ChannelParts): Promise<HttpConnection | Fault> {
  const { way, opener, upstream, options, idleKey } = parts;
  const dialled = await way.connect(opener, upstream, options);
  if (dialled.kind === 'fault') return dialled;
  return new HttpConnection(dialled.wire, {
    wheel: opener.wheel,
    headLimits: opener.headLimits(),
    onReusable: (connection, keepAliveMs) => opener.idle.keep(idleKey, connection, keepAliveMs),
  });
}

class HttpChannel implements UpstreamChannel {
  readonly kind = 'channel';
  readonly isReused: boolean;
  readonly isTargets: boolean;

  constructor(
    private connection: HttpConnection,
    private readonly parts: ChannelParts,
  ) {
    this.isReused = connection.isReused;
    this.isTargets = parts.way.isTargets;
  }

  send(request: HopRequest, options: SendOptions): Promise<HopAnswer | Fault> {
    const { way, upstream, options: open } = this.parts;
    const head = way.headOf(request, upstream);
    const first = this.connection.send({ head, request, options, abandonment: open.abandonment });
    const isReplaceable = this.isReused && request.body === null;
    if (!isReplaceable && way.blame === null) return first;
    return first.then((outcome) =>
      isReplaceable && this.isStale(outcome) ? this.sendAfresh(head, request, options) : this.blamed(outcome),
    );
  }

  blame(fault: Fault): Fault {
    const { blame } = this.parts.way;
    return blame === null ? fault : blame(fault);
  }

  destroy(): void {
    this.connection.destroy();
  }

  /** A kept connection that closed without a word never served the request, which has no body and is sent again. */
  private isStale(outcome: HopAnswer | Fault): boolean {
    if (outcome.kind === 'answer' || !this.connection.wasSilent) return false;
    return outcome.fault === 'closed' || outcome.fault === 'reset';
  }

  private async sendAfresh(
    head: string,
    request: HopRequest,
    options: SendOptions,
  ): Promise<HopAnswer | Fault> {
    const { opener, options: open } = this.parts;
    opener.emit({ type: 'upstream_connection', what: 'stale' });
    const fresh = await connectFresh(this.parts);
    if ('kind' in fresh) return fresh;
    this.connection = fresh;
    return this.blamed(await fresh.send({ head, request, options, abandonment: open.abandonment }));
  }

  private blamed(outcome: HopAnswer | Fault): HopAnswer | Fault {
    return outcome.kind === 'fault' ? this.blame(outcome) : outcome;
  }
}

/** Fields that speak to one hop only: how the body is framed, and an upgrade. */
export function hopFields(request: HopRequest): Fields {
  const fields = Fields.empty();
  if (request.framing.kind === 'chunked') fields.append('Transfer-Encoding', 'chunked');
  if (request.upgrade !== null) {
    fields.append('Connection', 'Upgrade');
    fields.append('Upgrade', request.upgrade);
  }
  return fields;
}

/** Whether it is about the server as a whole, which each form says in its own way (RFC 9112, section 3.2.4). */
export function isAboutServer({ method, target }: HopRequest): boolean {
  return target.isBare && method === 'OPTIONS';
}

/** The request as the target itself wants it: origin-form (RFC 9112, section 3.2.1), and nothing that is meant for a proxy. */
export function originHead(request: HopRequest): string {
  const path = isAboutServer(request) ? '*' : request.target.path;
  const line = `${request.method} ${path} HTTP/1.1\r\n`;
  return `${line}${request.fields.toWire()}${hopFields(request).toWire()}\r\n`;
}
