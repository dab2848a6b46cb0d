/**
 * Closed loop of short tunnels: CONNECT, 100 bytes there and back, close. A tunnel counts when the gateway has closed it too.
 */
import type { TunnelJob } from '../support/job.js';
import type { Meter } from './meter.js';
import { Tunnel } from './tunnel-client.js';

const EXCHANGE_BYTES = 100;

/** One endless user; latency is from the dial to the last byte of the echo. */
export async function tunnelLoop(job: TunnelJob, slot: number, meter: Meter): Promise<void> {
  for (let turn = 0; !meter.isOver; turn++) {
    try {
      const startMs = performance.now();
      const tunnel = await Tunnel.open(job.gateway, slot);
      await tunnel.exchange(`${slot}-${turn} `.padEnd(EXCHANGE_BYTES - 1, 'x') + '\n');
      const tookMs = performance.now() - startMs;
      await tunnel.close();
      meter.add(1, tookMs);
    } catch (error) {
      meter.fail(String(error));
    }
  }
}
