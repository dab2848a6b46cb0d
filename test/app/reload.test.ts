import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Reloads, settingsThatNeedRestart } from '../../src/app/reload.js';
import type { Config } from '../../src/config/config.js';
import { loadConfig } from '../../src/config/load.js';
import type { TurnpikeEvent } from '../../src/core/events.js';
import { rulesParts } from './rules-parts.js';

const folder = mkdtempSync(join(tmpdir(), 'turnpike-reload-'));
const file = join(folder, 'turnpike.yaml');
afterEach(() => rmSync(file, { force: true }));

function configOf(text: string): Config {
  writeFileSync(file, text);
  const loaded = loadConfig({ file, overrides: {}, env: {} });
  if (loaded.kind === 'problems') throw new Error(JSON.stringify(loaded.problems));
  return loaded.config;
}

describe('what needs a restart', () => {
  it.each([
    ['listen: { proxy: 127.0.0.1:9000 }', ['listen.proxy']],
    ['listen: { admin: 127.0.0.1:9001 }', ['listen.admin']],
    ['listen: { admin_hosts: [gateway.example] }', ['listen.admin_hosts']],
    ['listen: { admin: off }\ndata_dir: ./elsewhere', ['listen.admin', 'storage', 'data_dir']],
    ['admin: { metrics: public }', ['admin']],
    ['admin: { tokens: [{ name: a, token: a token of good length, scopes: [read] }] }', ['admin']],
    ['listen: { admin: "unix:./admin.sock" }', ['listen.admin']],
    ['log: { file: ./other.log }', ['log.file']],
    ['log: { level: warn }', []],
    ['listen: { proxy: { at: 127.0.0.1:8080, session: a1 } }', []],
    ['timeouts: { dial: 1s }', []],
  ])('%s', (text, names) => {
    expect(settingsThatNeedRestart(configOf('{}'), configOf(text))).toEqual(names);
  });
});

function reloads(options: { isStopping?: boolean; swap?: (config: Config) => void } = {}) {
  const events: TurnpikeEvent[] = [];
  const swapped: Config[] = [];
  const startedWith = configOf('{}');
  const made = new Reloads({
    emit: (event) => events.push(event),
    startedWith,
    rulesParts: rulesParts(),
    isStopping: () => options.isStopping === true,
    swap: (config, { rules }) => {
      options.swap?.(config);
      swapped.push(config);
      return rules;
    },
  });
  return { made, events, swapped };
}

const told = (events: readonly TurnpikeEvent[]) => events.filter(({ type }) => type === 'config_reloaded');

describe('Reloads', () => {
  it('swaps what can be built, and names what waits for a restart', async () => {
    const { made, events, swapped } = reloads();
    const next = configOf(
      "listen: { proxy: 127.0.0.1:9000 }\npools: { default: { upstreams: [{ url: 'http://10.0.0.1:1' }] } }",
    );
    expect(await made.apply(next, 'api')).toEqual({
      kind: 'applied',
      upstreams: 1,
      changed: ['listen', 'pools'],
      needsRestart: ['listen.proxy'],
    });
    expect(await made.apply(next, 'api')).toMatchObject({ changed: [], needsRestart: ['listen.proxy'] });
    expect(swapped.pop()).toBe(next);
    expect(swapped).toEqual([next]);
    expect(told(events)).toMatchObject([
      { outcome: 'applied', cause: 'api', needsRestart: ['listen.proxy'] },
      { outcome: 'applied', cause: 'api', needsRestart: ['listen.proxy'] },
    ]);
  });

  it('keeps the old one when the file is wrong, with every problem and its place', async () => {
    const { made, events, swapped } = reloads();
    writeFileSync(file, 'timeouts: { dail: 1s }\nlog: { level: loud }\n');
    const applied = await made.reload(() => loadConfig({ file, overrides: {}, env: {} }), 'signal');
    expect(applied.kind).toBe('kept');
    const problems = applied.kind === 'kept' ? applied.problems : [];
    expect(problems).toEqual([
      expect.stringContaining(`${file}:1: timeouts.dail`),
      expect.stringContaining(`${file}:2: log.level`),
    ]);
    expect(swapped).toEqual([]);
    expect(told(events)).toMatchObject([{ outcome: 'kept', cause: 'signal', problems }]);
  });

  it('keeps the old one when a list of upstreams is gone by the time it is read', async () => {
    const { made, swapped } = reloads();
    const list = join(folder, 'proxies.txt');
    writeFileSync(list, '10.0.0.1:1\n');
    const next = configOf('pools: { default: { upstreams: [{ file: ./proxies.txt }] } }');
    rmSync(list);
    expect(await made.apply(next, 'file')).toMatchObject({
      kind: 'kept',
      problems: [expect.stringContaining('does not exist')],
    });
    expect(swapped).toEqual([]);
  });

  it('keeps the old one when a part refuses to be swapped, or the gateway is stopping', async () => {
    const failing = reloads({
      swap: () => {
        throw new Error('the certificate does not fit');
      },
    });
    expect(await failing.made.apply(configOf('{}'), 'api')).toEqual({
      kind: 'kept',
      problems: ['the certificate does not fit'],
    });
    const stopping = reloads({ isStopping: true });
    expect((await stopping.made.apply(configOf('{}'), 'api')).kind).toBe('kept');
    expect(stopping.swapped).toEqual([]);
  });

  it('takes them in the order in which they came, also after one that failed', async () => {
    const { made, swapped } = reloads();
    const [first, second] = [configOf('timeouts: { dial: 1s }'), configOf('timeouts: { dial: 2s }')];
    await Promise.all([
      made.apply(first, 'api'),
      made.reload(() => ({ kind: 'problems', problems: [], file: null }), 'file'),
      made.apply(second, 'api'),
    ]);
    expect(swapped).toEqual([first, second]);
  });
});
