/**
 * SOCKS upstreams: a tunnel by the handshake of `protocol/socks.ts`. Plain requests go through such a tunnel to the
 * target itself, which is kept like any connection, but for this one target.
 */
import type { Fault, Phase } from '../core/fault.js';
import { SocksHandshake } from '../protocol/socks.js';
import type { Target } from '../protocol/target.js';
import type { Upstream } from '../upstreams/upstream.js';
import type { Dialled, OpenOptions } from './dial.js';
import { dialUpstream, leftMs } from './dial-upstream.js';
import { originHead, type HttpWay } from './http-channel.js';
import { faultKindOf, openFault } from './local-faults.js';
import type { Opener, TunnelOptions, TunnelOutcome } from './open.js';
import { NOBODY, type Wire } from './wire.js';

type SocksTunnel = { readonly kind: 'tunnel'; readonly wire: Wire; readonly rest: Buffer };
type Ask = OpenOptions & { readonly target: Target; readonly handshakeMs: number };

/** Plain requests through a SOCKS upstream. */
export const socksWay: HttpWay = {
  isTargets: true,
  connect: connectThrough,
  headOf: originHead,
  blame: null,
};

/** A tunnel to the target through a SOCKS upstream. */
export async function openSocksTunnel(
  opener: Opener,
  upstream: Upstream,
  ask: TunnelOptions,
): Promise<TunnelOutcome> {
  return openSocks(opener, upstream, ask);
}

/** Who speaks before it is asked speaks no HTTP. */
async function connectThrough(opener: Opener, upstream: Upstream, ask: Ask): Promise<Dialled | Fault> {
  const tunnel = await openSocks(opener, upstream, ask);
  if (tunnel.kind === 'fault') return tunnel;
  if (tunnel.rest.length > 0) {
    tunnel.wire.destroy();
    return openFault('handshake', 'target_malformed', 'the target spoke before it was asked');
  }
  tunnel.wire.resume();
  return { kind: 'wire', wire: tunnel.wire };
}

async function openSocks(opener: Opener, upstream: Upstream, ask: Ask): Promise<SocksTunnel | Fault> {
  const isVersion4 = upstream.protocol === 'socks4' || upstream.protocol === 'socks4a';
  const { host, port } = ask.target;
  const handshake = new SocksHandshake({ version: isVersion4 ? 4 : 5, host, port, login: upstream.login });
  const first = handshake.start();
  if ('kind' in first) return openFault('greeting', first.fault, first.detail);
  const startedMs = opener.clock.nowMs();
  const dialled = await dialUpstream(opener, upstream, ask);
  if (dialled.kind === 'fault') return dialled;
  dialled.wire.write(first);
  const handshakeMs = leftMs(opener, ask, startedMs, ask.handshakeMs);
  return shakeHands(dialled.wire, handshake, { ...ask, handshakeMs });
}

/** Goes through the handshake within `handshakeMs`. The wire of a tunnel is paused and has no reader yet. */
function shakeHands(wire: Wire, handshake: SocksHandshake, ask: Ask): Promise<SocksTunnel | Fault> {
  return new Promise((resolve) => {
    const settle = (outcome: SocksTunnel | Fault): void => {
      deadline.cancel();
      ask.abandonment.listen(null);
      wire.reader = NOBODY;
      if (outcome.kind === 'fault') wire.destroy();
      resolve(outcome);
    };
    const fail = (fault: Fault['fault'], detail: string): void => {
      const phase: Phase = handshake.hasAsked ? 'handshake' : 'greeting';
      settle(openFault(phase, fault, detail));
    };
    const deadline = ask.wheel.arm(ask.handshakeMs, () =>
      fail('timeout', `no answer to the SOCKS ${handshake.hasAsked ? 'request' : 'greeting'} in time`),
    );
    ask.abandonment.listen(() => fail('client_gone', 'the client left'));
    wire.reader = {
      bytes: (chunk) => {
        const step = handshake.push(chunk);
        if (step.kind === 'fault') fail(step.fault, step.detail);
        else if (step.kind === 'open') {
          wire.pause();
          settle({ kind: 'tunnel', wire, rest: Buffer.from(step.rest) });
        } else if (step.send !== null) wire.write(step.send);
      },
      ended: () => fail('closed', 'the upstream closed the connection during the SOCKS handshake'),
      closed: (error) =>
        fail(
          error === null ? 'closed' : faultKindOf(error, 'closed'),
          'the connection broke during the SOCKS handshake',
        ),
    };
  });
}
