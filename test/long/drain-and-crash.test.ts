/** SECURITY 18 at its full size, and what comes after a crash. */
import { describe, expect, it } from 'vitest';
import { headFor } from '../support/ask.js';
import { drainUnderLoad, halfwayExit, startLoad } from '../support/drain-under-load.js';
import { LoadClient } from '../support/load-client.js';
import { startLoadExit } from '../support/load-exit.js';
import { startServe } from '../support/serve-process.js';
import { createStage } from '../support/stage.js';
import { waitFor } from '../support/wait.js';

const stage = createStage();

describe('SIGTERM with 500 downloads and 200 tunnels', () => {
  it('cuts none of them inside the window, and ends with 0', async () => {
    const { cut, exitCode, log } = await drainUnderLoad(stage, { downloads: 500, tunnels: 200 });
    expect(cut).toEqual([]);
    expect(exitCode).toBe(0);
    expect(log).toMatch(/"event":"stopped".*"cut":0/);
  });

  it('the second one ends it at once', async () => {
    const { exit } = await halfwayExit(stage);
    const gateway = stage.keep(await startServe([exit.url], { timeouts: { drain: '10m' } }));
    const { downloads, tunnels } = await startLoad(gateway, { downloads: 500, tunnels: 200 });
    gateway.child.kill('SIGTERM');
    await waitFor('the signal to be heard', () => gateway.stderr().includes('draining'));
    gateway.child.kill('SIGTERM');
    expect(await gateway.ended).toBe(1);
    for (const client of [...downloads, ...tunnels]) client.destroy();
  });
});

describe('kill -9 under load', () => {
  it('is followed by a start on the same port that serves at once', async () => {
    const exit = stage.keep(await startLoadExit());
    const first = stage.keep(await startServe([exit.url]));
    const clients = Array.from({ length: 200 }, () => new LoadClient({ port: first.port }));
    const hanging = clients.map((client, nth) =>
      client.ask(
        nth % 2 === 0
          ? headFor('http://site.example/100/60000')
          : headFor('site.example:443', { method: 'CONNECT' }),
      ),
    );
    await waitFor('all of them at the exit', () => exit.open() === 200);
    first.child.kill('SIGKILL');
    expect(await first.ended).toBe(null);
    // Nobody takes a cut answer for a whole one.
    expect((await Promise.all(hanging)).filter((answer) => answer !== null && answer.status !== 200)).toEqual(
      [],
    );
    expect((await hanging[0]) ?? null).toBe(null);
    const second = stage.keep(
      await startServe([exit.url], { listen: { proxy: `127.0.0.1:${first.port}`, admin: '127.0.0.1:0' } }),
    );
    expect(second.port).toBe(first.port);
    const client = new LoadClient({ port: second.port });
    expect(await client.ask(headFor('http://site.example/100'))).toMatchObject({
      status: 200,
      bodyBytes: 100,
    });
    client.close();
  });
});
