/**
 * Going out without a proxy (`direct://`), only where a pool lists it. The name is resolved once, every address that it
 * has is checked, and one of exactly these is dialled: no second look-up can lead elsewhere. Whatever goes wrong on the
 * way is the target's: there is nobody else.
 */
import net from 'node:net';
import type { Fault, FaultKind } from '../core/fault.js';
import type { Target } from '../protocol/target.js';
import { dial, type Dialled, type OpenOptions } from './dial.js';
import { noteOpened } from './dial-upstream.js';
import { originHead, type HttpWay } from './http-channel.js';
import { openFault } from './local-faults.js';
import type { Opener, TunnelOptions, TunnelOutcome } from './open.js';
import type { Resolution } from './resolver.js';

type Ask = OpenOptions & { readonly target: Target };

const TARGETS: Readonly<Partial<Record<FaultKind, FaultKind>>> = {
  refused: 'target_unreachable',
  unreachable: 'target_unreachable',
  timeout: 'target_timeout',
  closed: 'target_malformed',
  reset: 'target_malformed',
};

/** Plain requests without a proxy. */
export const directWay: HttpWay = {
  isTargets: true,
  connect: (opener, _, options) => dialTarget(opener, options),
  headOf: originHead,
  blame: targetsFault,
};

/** A connection to the target itself. */
export async function openDirectTunnel(opener: Opener, ask: TunnelOptions): Promise<TunnelOutcome> {
  const dialled = await dialTarget(opener, ask);
  if (dialled.kind === 'fault') return dialled;
  dialled.wire.pause();
  return { kind: 'tunnel', wire: dialled.wire, rest: Buffer.alloc(0) };
}

async function dialTarget(opener: Opener, ask: Ask): Promise<Dialled | Fault> {
  const { target } = ask;
  const startedMs = opener.clock.nowMs();
  const isAddress = net.isIP(target.host) !== 0;
  const found = isAddress ? null : await resolveTarget(opener, ask);
  if (ask.abandonment.isAbandoned) return openFault('dial', 'client_gone', 'the client left');
  if (found?.kind === 'unresolved') return unresolved(found);
  const addresses = found?.addresses ?? [];
  const forbidden = forbids(opener, target, isAddress ? [target.host] : addresses);
  if (forbidden !== null) return forbidden;
  const place = { host: target.host, port: target.port, addresses, tls: null };
  const dialMs = Math.max(1, ask.dialMs - (opener.clock.nowMs() - startedMs));
  opener.idle.makeRoom();
  const dialled = await dial(place, { ...ask, dialMs });
  if (dialled.kind === 'fault') return targetsFault(dialled);
  noteOpened(opener, dialled);
  return dialled;
}

function resolveTarget(opener: Opener, ask: Ask): Promise<Resolution> {
  const { wheel, abandonment, dialMs } = ask;
  return opener.targetNames.find(ask.target.host, { wheel, abandonment, ms: dialMs });
}

/** A name with one address that is forbidden is refused whole: who mixes them wants to be dialled by chance. */
function forbids(opener: Opener, target: Target, addresses: readonly string[]): Fault | null {
  for (const address of addresses) {
    const failure = opener.forbids(target, address);
    if (failure === null) continue;
    const kind = failure.code === 'loop_detected' ? 'target_loop' : 'target_forbidden';
    return openFault('dial', kind, `the name resolves to a forbidden address: ${failure.detail}`);
  }
  return null;
}

function unresolved(resolution: Resolution & { kind: 'unresolved' }): Fault {
  const { code, doesExist } = resolution;
  return doesExist
    ? openFault('dial', 'target_dns_busy', `the name could not be looked up now (${code})`)
    : openFault('dial', 'target_dns', `the name of the target does not exist (${code})`);
}

function targetsFault(fault: Fault): Fault {
  return { ...fault, fault: TARGETS[fault.fault] ?? fault.fault };
}
