/** Alert rules and dashboard, by promtool and by a real Prometheus that scrapes a real gateway. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { ask as askProxy } from '../support/ask.js';
import { launch } from '../support/launched-program.js';
import { startRedis } from '../support/real-redis.js';
import { createStage } from '../support/stage.js';
import { eventually } from '../support/wait.js';

const root = resolve(import.meta.dirname, '../..');
const rules = join(root, 'config/prometheus/turnpike.rules.yaml');
const folder = mkdtempSync(join(tmpdir(), 'turnpike-prometheus-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
vi.setConfig({ testTimeout: 60_000 });
const stage = createStage();

/** A gateway that is down. */
const NOBODY = '127.0.0.1:1';

const promtool = (...args: string[]) =>
  promisify(execFile)('promtool', args, { cwd: root }).catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`${error.stdout}${error.stderr}`);
  });

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

/** What the panels ask, with everything chosen. */
function questions(): { title: string; expr: string }[] {
  const text = readFileSync(join(root, 'config/grafana/turnpike.json'), 'utf8');
  const { panels } = JSON.parse(text) as { panels: Panel[] };
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ title, expr: expr.replaceAll(/\$(instance|pool)/g, '.*') })),
  );
}

async function startPrometheus(
  target: string,
): Promise<(path: string) => Promise<ReturnType<typeof JSON.parse>>> {
  const file = join(folder, 'prometheus.yaml');
  const scrape = { job_name: 'turnpike', static_configs: [{ targets: [target, NOBODY] }] };
  const global = { scrape_interval: '500ms', scrape_timeout: '500ms', evaluation_interval: '500ms' };
  writeFileSync(file, stringify({ global, rule_files: [rules], scrape_configs: [scrape] }));
  const program = stage.keep(
    await launch({
      programs: ['prometheus'],
      host: '127.0.0.1',
      prepare: (port) => [
        ...[`--config.file=${file}`, `--storage.tsdb.path=${join(folder, 'data')}`],
        `--web.listen-address=127.0.0.1:${port}`,
      ],
    }),
  );
  return async (path) => (await fetch(`http://127.0.0.1:${program.port}/api/v1/${path}`)).json();
}

describe('S9 S10 monitoring', () => {
  it('the rules are sound', async () => {
    expect((await promtool('check', 'rules', rules)).stdout).toContain('SUCCESS');
  });

  it('each alert of the tests rises when it should, and not before', async () => {
    await promtool('test', 'rules', 'test/support/prometheus/alerts.yaml');
  });

  it('a real Prometheus reads a real gateway, works out every rule and answers every panel', async () => {
    const redis = stage.keep(await startRedis());
    const state = { kind: 'redis', url: `redis://127.0.0.1:${redis.port}`, secret: 'a secret of the fleet' };
    const good = await stage.good('one');
    const gateway = await stage.gateway([good], { state });
    const ask = await startPrometheus(`127.0.0.1:${gateway.adminPort}`);
    const query = async (expr: string) => ask(`query?query=${encodeURIComponent(expr)}`);
    const isThere = (expr: string) =>
      eventually(expr, async () => {
        await askProxy(gateway, 'http://site.example/');
        return (await query(expr)).data?.result?.length > 0;
      });
    await isThere('turnpike_state_shared == 1');
    await isThere('turnpike:verdicts:rate5m{verdict="ok"} > 0');
    await isThere(`up{instance="${NOBODY}"} == 0`);
    for (const { title, expr } of questions()) {
      expect(await query(expr), `${title}: ${expr}`).toMatchObject({ status: 'success' });
    }
    await isThere('sum by (pool) (turnpike_exits{state="available"}) == 1');
    const { data } = await ask('rules');
    const all = (data.groups as { rules: { name: string; health: string; lastError?: string }[] }[]).flatMap(
      (group) => group.rules,
    );
    expect(all.filter(({ health }) => health === 'err')).toEqual([]);
    expect(all.length).toBeGreaterThan(20);
    const { data: raised } = await ask('alerts');
    const names = (raised.alerts as { labels: Record<string, string> }[]).map(
      ({ labels }) => `${labels['alertname']} ${labels['instance']}`,
    );
    expect(names).toEqual([`TurnpikeDown ${NOBODY}`]);
  });
});
