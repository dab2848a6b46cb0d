/**
 * Many tunnels at once: what one costs in memory, before and after data went through, and whether closing gives all back.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Gateway, IdleJob, IdleResult } from '../support/job.js';
import { openDescriptors, residentKiB } from '../support/proc.js';
import { Tunnel } from './tunnel-client.js';

const CONCURRENT = 64;
const WARM_UP_TUNNELS = 400;
/** Memory is read after the gateway had this long to come to rest. */
const SETTLE_MS = 2_000;
const CLOSE_DEADLINE_MS = 15_000;

/** Runs the whole story against a gateway that has served nobody yet. */
export async function measureIdle(job: IdleJob): Promise<IdleResult> {
  const { gateway } = job;
  await warmUp(gateway);
  await sleep(SETTLE_MS);
  const descriptorsBefore = openDescriptors(gateway.pid);
  const residentBefore = residentKiB(gateway.pid);
  const perTunnel = (): number => (residentKiB(gateway.pid) - residentBefore) / job.tunnels;

  const tunnels: Tunnel[] = [];
  await inParallel(job.tunnels, async (at) => {
    tunnels[at] = await Tunnel.open(gateway, at);
  });
  await sleep(SETTLE_MS);
  const freshKiBPerTunnel = perTunnel();

  await inParallel(job.tunnels, (at) => tunnels[at]?.download(job.bytesEach) ?? Promise.resolve());
  await sleep(SETTLE_MS);
  const usedKiBPerTunnel = perTunnel();

  await inParallel(job.tunnels, (at) => tunnels[at]?.close() ?? Promise.resolve());
  const descriptorsLeft = await waitForDescriptors(gateway, descriptorsBefore);
  return { kind: 'idle', freshKiBPerTunnel, usedKiBPerTunnel, descriptorsLeft, errors: 0 };
}

/** Lets the gateway compile its code and grow its first heap, which is not the tunnels' doing. */
async function warmUp(gateway: Gateway): Promise<void> {
  await inParallel(WARM_UP_TUNNELS, async (at) => {
    const tunnel = await Tunnel.open(gateway, at);
    await tunnel.exchange('warm\n');
    await tunnel.close();
  });
}

async function inParallel(count: number, work: (at: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: CONCURRENT }, worker));
}

async function waitForDescriptors(gateway: Gateway, wanted: number): Promise<number> {
  const deadline = Date.now() + CLOSE_DEADLINE_MS;
  let left = openDescriptors(gateway.pid) - wanted;
  while (left > 0 && Date.now() < deadline) {
    await sleep(100);
    left = openDescriptors(gateway.pid) - wanted;
  }
  return left;
}
