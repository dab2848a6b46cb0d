/**
 * Downloads without pause through a number of tunnels; the unit is the byte.
 */
import type { BulkJob } from '../support/job.js';
import type { Meter } from './meter.js';
import { Tunnel } from './tunnel-client.js';

/** Small enough that the last download ends soon after the window. */
const DOWNLOAD_BYTES = 8 * 1024 * 1024;

/** One tunnel that downloads until the meter is over. */
export async function bulkLoop(job: BulkJob, slot: number, meter: Meter): Promise<void> {
  try {
    const tunnel = await Tunnel.open(job.gateway, slot);
    while (!meter.isOver) await tunnel.download(DOWNLOAD_BYTES, (bytes) => meter.add(bytes));
    await tunnel.close();
  } catch (error) {
    meter.fail(String(error));
  }
}
