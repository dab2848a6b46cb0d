/** HTTP and HTTPS upstreams: a channel for plain requests in absolute-form, a tunnel by CONNECT. */
import type { Fault } from '../core/fault.js';
import { Fields } from '../http1/fields.js';
import { ResponseHeadReader, serializeRequestHead, type HeadLimits } from '../http1/head.js';
import type { Target } from '../protocol/target.js';
import type { Upstream, UpstreamLogin } from '../upstreams/upstream.js';
import type { HopAnswer, HopRequest, SendOptions, UpstreamChannel } from './channel.js';
import { dial, type OpenOptions } from './dial.js';
import { HttpConnection } from './http-connection.js';
import { faultKindOf, openFault } from './local-faults.js';
import type { HopOptions, Opener, TunnelOutcome } from './open.js';
import type { Wire } from './wire.js';

/** How much of a refusal's body is kept, for finding out who refused. */
const REFUSAL_PREFIX_BYTES = 4096;

/** Names the gateways that a request has passed. On plain requests it goes only to gateways of our kind. */
const LOOP_FIELD = 'X-Turnpike-Loop';

const basicByLogin = new WeakMap<UpstreamLogin, string>();

/** The login as Basic credentials (RFC 7617, UTF-8). */
export function basicOf(login: UpstreamLogin): string {
  const known = basicByLogin.get(login);
  if (known !== undefined) return known;
  const pair = `${login.username}:${login.password.reveal()}`;
  const basic = `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`;
  basicByLogin.set(login, basic);
  return basic;
}

/** A channel to an HTTP upstream: a kept connection where there is one, at once; else a new one. */
export function openHttpHop(
  opener: Opener,
  upstream: Upstream,
  options: HopOptions,
): UpstreamChannel | Promise<UpstreamChannel | Fault> {
  const kept = options.isFresh ? null : opener.idle.take(options.idleKey);
  if (kept === null) return openFresh(opener, upstream, options);
  opener.emit({ type: 'upstream_connection', what: 'reused' });
  return new HttpChannel(kept, { opener, upstream, options });
}

async function openFresh(
  opener: Opener,
  upstream: Upstream,
  options: HopOptions,
): Promise<UpstreamChannel | Fault> {
  const connection = await dialConnection(opener, upstream, options);
  return 'kind' in connection ? connection : new HttpChannel(connection, { opener, upstream, options });
}

async function dialConnection(
  opener: Opener,
  upstream: Upstream,
  options: HopOptions,
): Promise<HttpConnection | Fault> {
  const dialled = await dial(upstream, options);
  if (dialled.kind === 'fault') return dialled;
  noteOpened(opener, dialled.wire);
  return new HttpConnection(dialled.wire, {
    wheel: opener.wheel,
    headLimits: opener.headLimits(),
    onReusable: (connection, keepAliveMs) => opener.idle.keep(options.idleKey, connection, keepAliveMs),
  });
}

function noteOpened(opener: Opener, wire: Wire): void {
  opener.emit({ type: 'upstream_connection', what: 'opened' });
  wire.socket.once('close', () => opener.emit({ type: 'upstream_connection', what: 'closed' }));
}

interface ChannelParts {
  readonly opener: Opener;
  readonly upstream: Upstream;
  readonly options: HopOptions;
}

class HttpChannel implements UpstreamChannel {
  readonly kind = 'channel';
  readonly isReused: boolean;

  constructor(
    private connection: HttpConnection,
    private readonly parts: ChannelParts,
  ) {
    this.isReused = connection.isReused;
  }

  send(request: HopRequest, options: SendOptions): Promise<HopAnswer | Fault> {
    const { upstream, options: open } = this.parts;
    const head = absoluteHead(request, upstream);
    const first = this.connection.send({ head, request, options, abandonment: open.abandonment });
    if (!this.isReused || request.body !== null) return first;
    return first.then((outcome) =>
      this.isStale(outcome) ? this.sendAfresh(head, request, options) : outcome,
    );
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
    const { opener, upstream, options: open } = this.parts;
    opener.emit({ type: 'upstream_connection', what: 'stale' });
    const fresh = await dialConnection(opener, upstream, open);
    if ('kind' in fresh) return fresh;
    this.connection = fresh;
    return fresh.send({ head, request, options, abandonment: open.abandonment });
  }
}

/** The request as an HTTP proxy wants it: absolute-form, our login and no other (RFC 9112, section 3.2.2). */
function absoluteHead(request: HopRequest, upstream: Upstream): string {
  const { target } = request;
  const scheme = target.scheme === 'ws' ? 'http' : target.scheme;
  const line = `${request.method} ${scheme}://${target.authority}${target.path} HTTP/1.1\r\n`;
  return `${line}${request.fields.toWire()}${ownFields(request, upstream).toWire()}\r\n`;
}

/** What is said to this hop only. */
function ownFields(request: HopRequest, upstream: Upstream): Fields {
  const fields = Fields.empty();
  if (request.framing.kind === 'chunked') fields.append('Transfer-Encoding', 'chunked');
  if (request.upgrade !== null) {
    fields.append('Connection', 'Upgrade');
    fields.append('Upgrade', request.upgrade);
  }
  appendLogin(fields, upstream);
  if (upstream.turnpike) fields.append(LOOP_FIELD, request.loopTrail);
  return fields;
}

function appendLogin(fields: Fields, upstream: Upstream): void {
  if (upstream.login !== null) fields.append('Proxy-Authorization', basicOf(upstream.login));
}

/** A tunnel by CONNECT. Any 2xx opens it; its framing fields are ignored (RFC 9110, section 9.3.6). */
export async function openHttpTunnel(
  opener: Opener,
  upstream: Upstream,
  ask: OpenOptions & { readonly target: Target; readonly handshakeMs: number; readonly loopTrail: string },
): Promise<TunnelOutcome> {
  const dialled = await dial(upstream, ask);
  if (dialled.kind === 'fault') return dialled;
  noteOpened(opener, dialled.wire);
  dialled.wire.write(connectHead(upstream, ask.target, ask.loopTrail));
  return readConnectAnswer(dialled.wire, ask, opener.headLimits());
}

function connectHead(upstream: Upstream, target: Target, loopTrail: string): string {
  const fields = Fields.of(['Host', target.hostPort]);
  appendLogin(fields, upstream);
  // A CONNECT ends at the proxies on the way, so no target sees it.
  fields.append(LOOP_FIELD, loopTrail);
  return serializeRequestHead({ method: 'CONNECT', target: target.hostPort, minor: 1, fields });
}

function readConnectAnswer(
  wire: Wire,
  ask: OpenOptions & { readonly handshakeMs: number },
  limits: HeadLimits,
): Promise<TunnelOutcome> {
  return new Promise((resolve) => {
    const heads = new ResponseHeadReader(limits);
    const settle = (outcome: TunnelOutcome): void => {
      deadline.cancel();
      ask.abandonment.listen(null);
      wire.reader = { bytes: () => undefined, ended: () => undefined, closed: () => undefined };
      if (outcome.kind !== 'tunnel') wire.destroy();
      resolve(outcome);
    };
    const fail = (fault: Fault['fault'], detail: string): void =>
      settle(openFault('handshake', fault, detail));
    const deadline = ask.wheel.arm(ask.handshakeMs, () => fail('timeout', 'no answer to CONNECT in time'));
    ask.abandonment.listen(() => fail('client_gone', 'the client left'));
    const read = (chunk: Buffer): void => {
      const step = heads.push(chunk);
      if (step.kind === 'more') return;
      if (step.kind === 'fault') {
        fail('protocol', step.fault.detail);
        return;
      }
      const { head, rest } = step;
      if (head.status < 200) {
        heads.reset();
        if (rest.length > 0) read(rest);
      } else if (head.status < 300) {
        wire.pause();
        settle({ kind: 'tunnel', wire, rest: Buffer.from(rest) });
      } else {
        settle({ kind: 'refused', head, bodyPrefix: Buffer.from(rest.subarray(0, REFUSAL_PREFIX_BYTES)) });
      }
    };
    wire.reader = {
      bytes: read,
      ended: () => fail('closed', 'the upstream closed the connection instead of answering CONNECT'),
      closed: (error) =>
        fail(error === null ? 'closed' : faultKindOf(error, 'closed'), 'the connection broke during CONNECT'),
    };
  });
}
