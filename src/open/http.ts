/** HTTP and HTTPS upstreams: a channel for plain requests in absolute-form, a tunnel by CONNECT. */
import type { Fault } from '../core/fault.js';
import { Fields } from '../http1/fields.js';
import { ResponseHeadReader, serializeRequestHead, type HeadLimits } from '../http1/head.js';
import type { Target } from '../protocol/target.js';
import type { Upstream, UpstreamLogin } from '../upstreams/upstream.js';
import type { HopRequest } from './channel.js';
import { dialUpstream, leftMs } from './dial-upstream.js';
import { hopFields, isAboutServer, type HttpWay } from './http-channel.js';
import { MAX_INTERIM } from './http-connection.js';
import { faultKindOf, openFault } from './local-faults.js';
import type { Opener, TunnelOptions, TunnelOutcome } from './open.js';
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

/** Plain requests by an HTTP upstream. */
export const httpWay: HttpWay = {
  isTargets: false,
  connect: dialUpstream,
  headOf: absoluteHead,
  blame: null,
};

/** The request as an HTTP proxy wants it: absolute-form, our login and no other (RFC 9112, section 3.2.2). */
function absoluteHead(request: HopRequest, upstream: Upstream): string {
  const { target } = request;
  const scheme = target.scheme === 'ws' ? 'http' : target.scheme;
  const path = isAboutServer(request) ? '' : target.path;
  const line = `${request.method} ${scheme}://${target.authority}${path} HTTP/1.1\r\n`;
  return `${line}${request.fields.toWire()}${ownFields(request, upstream).toWire()}\r\n`;
}

/** What is said to this hop only. */
function ownFields(request: HopRequest, upstream: Upstream): Fields {
  const fields = hopFields(request);
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
  ask: TunnelOptions,
): Promise<TunnelOutcome> {
  const startedMs = opener.clock.nowMs();
  const dialled = await dialUpstream(opener, upstream, ask);
  if (dialled.kind === 'fault') return dialled;
  dialled.wire.write(connectHead(upstream, ask.target, ask.loopTrail));
  const handshakeMs = leftMs(opener, ask, startedMs, ask.handshakeMs);
  return readConnectAnswer(dialled.wire, { ...ask, handshakeMs }, opener.headLimits());
}

function connectHead(upstream: Upstream, target: Target, loopTrail: string): string {
  const fields = Fields.of(['Host', target.hostPort]);
  appendLogin(fields, upstream);
  // A CONNECT ends at the proxies on the way, so no target sees it.
  fields.append(LOOP_FIELD, loopTrail);
  return serializeRequestHead({ method: 'CONNECT', target: target.hostPort, minor: 1, fields });
}

function readConnectAnswer(wire: Wire, ask: TunnelOptions, limits: HeadLimits): Promise<TunnelOutcome> {
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
    let interimCount = 0;
    const read = (chunk: Buffer): void => {
      let step = heads.push(chunk);
      while (step.kind === 'head' && step.head.status < 200) {
        const isSwitch = step.head.status === 101;
        if (isSwitch || ++interimCount > MAX_INTERIM) {
          fail('protocol', isSwitch ? 'an answer 101 to CONNECT' : 'interim answers without end to CONNECT');
          return;
        }
        heads.reset();
        if (step.rest.length === 0) return;
        step = heads.push(step.rest);
      }
      if (step.kind === 'more') return;
      if (step.kind === 'fault') {
        fail('protocol', step.fault.detail);
        return;
      }
      const { head, rest } = step;
      if (head.status < 300) {
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
