/** The way out: what is under way may end within the window, then it is cut, and counted. */
import type { Clock } from '../core/clock.js';
import type { Timeouts } from '../routing/runtime.js';
import type { Listener } from './listener.js';
import type { Relay } from './relay.js';

/** How long cut sockets get to close by themselves. */
const GRACE_MS = 2000;
const LOOK_MS = 20;

/** What is drained. */
export interface Draining {
  readonly listeners: readonly Listener[];
  readonly relays: ReadonlySet<Relay>;
  readonly clock: Clock;
  readonly timeouts: Pick<Timeouts, 'drainMs' | 'preStopMs'>;
}

/**
 * Goes on accepting for `preStop` (a balancer needs that to notice), then takes no more, lets answers and tunnels end
 * for `drain`, and cuts the rest: tunnels by FIN, then everything by reset. Returns how many were cut.
 */
export async function drainGateway(draining: Draining): Promise<number> {
  const { listeners, relays, timeouts, clock } = draining;
  await wait(clock, timeouts.preStopMs);
  for (const listener of listeners) listener.drain();
  const isDone = (): boolean =>
    relays.size === 0 && listeners.every((listener) => listener.connectionCount === 0);
  await waitFor(clock, isDone, timeouts.drainMs);
  const cutTunnels = relays.size;
  for (const relay of [...relays]) relay.cut('cut_by_drain');
  const cutAnswers = listeners.reduce((sum, listener) => sum + listener.cut(), 0);
  await waitFor(clock, isDone, GRACE_MS);
  for (const relay of [...relays]) relay.destroy();
  return cutTunnels + cutAnswers;
}

function wait(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    if (ms <= 0) resolve();
    else clock.after(ms, resolve);
  });
}

async function waitFor(clock: Clock, isDone: () => boolean, ms: number): Promise<void> {
  const endMs = clock.nowMs() + ms;
  while (!isDone() && clock.nowMs() < endMs) await wait(clock, LOOK_MS);
}
