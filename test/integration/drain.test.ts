/** SIGTERM under load: what is under way may end, what is cut is counted, and the exit code says which it was. */
import { describe, expect, it } from 'vitest';
import { headFor } from '../support/ask.js';
import {
  DOWNLOAD_BYTES,
  drainUnderLoad,
  halfwayExit,
  readiness,
  startLoad,
} from '../support/drain-under-load.js';
import { openDescriptors } from '../support/probes.js';
import { RawClient } from '../support/raw-client.js';
import { startServe } from '../support/serve-process.js';
import { createStage } from '../support/stage.js';
import { waitFor } from '../support/wait.js';

const stage = createStage();
describe('SIGTERM with 200 downloads and 100 tunnels', () => {
  it('cuts none of them inside the window, and ends with 0', async () => {
    const { exitCode, cut, log } = await drainUnderLoad(stage, { downloads: 200, tunnels: 100 });
    expect(cut).toEqual([]);
    expect(exitCode).toBe(0);
    expect(log).toMatch(/"event":"stopped".*"cut":0/);
  });
});

describe('a window that is too short', () => {
  it('cuts, counts and ends with 1', async () => {
    const { exit } = await halfwayExit(stage);
    const gateway = stage.keep(await startServe([exit.url], { timeouts: { drain: '200ms' } }));
    const { downloads, tunnels } = await startLoad(gateway, { downloads: 3, tunnels: 2 });
    gateway.child.kill('SIGTERM');
    expect(await gateway.ended).toBe(1);
    expect(gateway.stderr()).toContain('5 exchanges were cut');
    expect(gateway.log()).toMatch(/"event":"stopped".*"cut":5/);
    for (const client of [...downloads, ...tunnels]) {
      await client.ended();
      client.destroy();
    }
    const ends = gateway.log().match(/"end":"[a-z_]+"/g) ?? [];
    expect(ends.length).toBe(5);
    expect(ends).not.toContain('"end":"complete"');
  });
});

describe('while it drains', () => {
  it('takes requests for timeouts.pre_stop, though it is not ready any more', async () => {
    const { exit } = await halfwayExit(stage);
    const gateway = stage.keep(await startServe([exit.url], { timeouts: { pre_stop: '60s' } }));
    gateway.child.kill('SIGTERM');
    await waitFor('the signal to be heard', () => gateway.stderr().includes('draining'));
    expect(await readiness(gateway)).toBe(503);
    const { tunnels } = await startLoad(gateway, { downloads: 0, tunnels: 1 });
    tunnels[0]?.destroy();
  });

  it('a second SIGTERM ends it at once', async () => {
    const { exit } = await halfwayExit(stage);
    const gateway = stage.keep(await startServe([exit.url], { timeouts: { drain: '10m' } }));
    const { tunnels } = await startLoad(gateway, { downloads: 0, tunnels: 1 });
    gateway.child.kill('SIGTERM');
    await waitFor('the signal to be heard', () => gateway.stderr().includes('draining'));
    gateway.child.kill('SIGTERM');
    expect(await gateway.ended).toBe(1);
    tunnels[0]?.destroy();
  });

  it('B02 ends though every exit is set aside', async () => {
    const gateway = stage.keep(await startServe(['http://127.0.0.1:1'], { timeouts: { acquire: '10m' } }));
    const client = await RawClient.connect(gateway.port);
    client.write(headFor('http://site.example/')).write(headFor('http://site.example/'));
    await client.until('no_upstream');
    client.destroy();
    gateway.child.kill('SIGTERM');
    expect(await gateway.ended).toBe(0);
  });
});

describe('L09 descriptors', () => {
  it('are back where they were after 300 exchanges and tunnels', async () => {
    const { exit, release } = await halfwayExit(stage);
    const gateway = stage.keep(await startServe([exit.url], { timeouts: { upstream_idle: '100ms' } }));
    const before = openDescriptors(gateway.pid);
    const { downloads, tunnels } = await startLoad(gateway, { downloads: 200, tunnels: 100 });
    expect(openDescriptors(gateway.pid)).toBeGreaterThanOrEqual(before + 600);
    release();
    for (const client of downloads) await client.untilBytes(DOWNLOAD_BYTES);
    for (const client of [...downloads, ...tunnels]) client.destroy();
    await waitFor('the descriptors to be back', () => openDescriptors(gateway.pid) <= before);
  });
});
