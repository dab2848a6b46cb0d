/** A reload as operators do it: a signal, or a changed file, and a process that goes on. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { headFor } from '../support/ask.js';
import { RawClient } from '../support/raw-client.js';
import { GatewayProcess, reloadUnderLoad } from '../support/reload-under-load.js';

async function statusThrough(port: number): Promise<number> {
  const client = await RawClient.connect(port);
  client.write(headFor('http://a.test/'));
  const { status } = await client.answer();
  client.destroy();
  return status;
}

function processWith(tree: Record<string, unknown>): GatewayProcess {
  const gateway = new GatewayProcess(tree);
  onTestFinished(async () => void (await gateway.stop()));
  return gateway;
}

const clients = [{ name: 'crawler', password: 'secret' }];

describe('SECURITY 7: kill -HUP under load', () => {
  it('cuts nothing, takes the new configuration, and keeps it when the next is broken', async () => {
    const seen = await reloadUnderLoad(20);
    expect(seen.broken).toEqual([]);
    expect(seen.complete).toBe(20);
    expect(seen.applied).toMatchObject({ level: 30, cause: 'signal', needsRestart: [] });
    expect(seen.kept).toMatchObject({ level: 50, cause: 'signal' });
    expect(seen.kept['problems']).toEqual([expect.stringMatching(/turnpike\.yaml:1: not valid YAML/)]);
    expect(seen.exitCode).toBe(0);
  });
});

describe('a process', () => {
  it('is served by the new rules after SIGHUP, and by the last good ones after a broken file', async () => {
    const gateway = processWith({});
    const port = await gateway.port();
    expect(await statusThrough(port)).toBe(503);
    gateway.write({ clients, state: { kind: 'memory' }, data_dir: './elsewhere' });
    gateway.hangUp();
    expect(await gateway.line('config_applied')).toMatchObject({
      level: 40,
      needsRestart: ['storage', 'data_dir'],
    });
    expect(await statusThrough(port)).toBe(407);
    gateway.write({ clients: [{ name: 'crawler' }], timeouts: { dail: '1s' } });
    gateway.hangUp();
    expect((await gateway.line('config_kept'))['problems']).toEqual([
      expect.stringMatching(/clients\[0\]: needs a password/),
      expect.stringMatching(/timeouts\.dail: unknown setting; did you mean dial\?/),
    ]);
    expect(await statusThrough(port)).toBe(407);
  });

  it('takes a changed file by itself', async () => {
    const gateway = processWith({});
    const port = await gateway.port();
    expect(await statusThrough(port)).toBe(503);
    gateway.write({ clients });
    expect(await gateway.line('config_applied')).toMatchObject({ cause: 'file' });
    expect(await statusThrough(port)).toBe(407);
  });
});
