import { describe, expect, it } from 'vitest';
import type { TurnpikeEvent } from '../../src/core/events.js';
import { metricTable } from '../../src/telemetry/metric-table.js';
import { createMetrics } from '../../src/telemetry/metrics.js';
import type { Gauges, Metrics } from '../../src/telemetry/metrics.js';
import { attempt, exchange, others } from './events.js';

const metricsWith = (gauges: Gauges = {}): Metrics =>
  createMetrics({ sites: new Set(['shop.example']), gauges, version: '1.2.3' });

/** Series and their values. */
async function series(metrics: Metrics): Promise<Map<string, number>> {
  const text = await metrics.render();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [
      line.slice(0, line.lastIndexOf(' ')),
      Number(line.slice(line.lastIndexOf(' ') + 1)),
    ]),
  );
}

async function after(events: readonly TurnpikeEvent[], gauges: Gauges = {}): Promise<Map<string, number>> {
  const metrics = metricsWith(gauges);
  for (const event of events) metrics.subscribe(event);
  return series(metrics);
}

describe('an exchange', () => {
  it('counts once in everything that it says', async () => {
    const found = await after([
      exchange(),
      exchange({ times: { totalMs: 700, firstByteMs: 600, openMs: 20 }, bytesIn: 1, bytesOut: 2 }),
      exchange({
        method: 'BREW',
        site: 'other.example',
        status: 407,
        code: 'auth_required',
        pool: null,
        verdict: '',
      }),
    ]);
    const ok = 'route="route-0",pool="default",kind="forward",status="2xx",end="complete"';
    expect(found.get(`turnpike_exchanges_total{${ok}}`)).toBe(2);
    expect(found.get('turnpike_exchange_methods_total{method="GET"}')).toBe(2);
    expect(found.get('turnpike_exchange_methods_total{method="other"}')).toBe(1);
    expect(found.get('turnpike_errors_total{code="auth_required",blame="client"}')).toBe(1);
    expect(found.get('turnpike_errors_total{code="no_upstream",blame="gateway"}')).toBe(0);
    expect(found.get('turnpike_verdicts_total{site="shop.example",verdict="ok"}')).toBe(2);
    expect(found.get('turnpike_verdicts_total{site="other",verdict="none"}')).toBe(1);
    expect(found.get('turnpike_client_received_bytes_total{kind="forward"}')).toBe(21);
    expect(found.get('turnpike_client_sent_bytes_total{kind="forward"}')).toBe(2050);
  });

  it('falls into the buckets of its times', async () => {
    const times = (totalMs: number) => ({ totalMs, firstByteMs: null, openMs: null });
    const found = await after([9, 10, 11, 700, 99_000].map((totalMs) => exchange({ times: times(totalMs) })));
    const name = 'turnpike_exchange_duration_seconds';
    const bucket = (le: string) => found.get(`${name}_bucket{route="route-0",kind="forward",le="${le}"}`);
    expect([
      bucket('0.01'),
      bucket('0.025'),
      bucket('0.5'),
      bucket('1'),
      bucket('30'),
      bucket('+Inf'),
    ]).toEqual([2, 3, 3, 4, 4, 5]);
    expect(found.get(`${name}_count{route="route-0",kind="forward"}`)).toBe(5);
    expect(found.get(`${name}_sum{route="route-0",kind="forward"}`)).toBeCloseTo(99.73);
    expect(found.has('turnpike_first_byte_seconds_count{route="route-0"}')).toBe(true);
    expect(found.get('turnpike_first_byte_seconds_count{route="route-0"}')).toBe(0);
  });
});

it('every other event counts too', async () => {
  const found = await after([attempt(), attempt({ verdict: 'blocked', retried: true }), ...others]);
  expect(
    Object.fromEntries(
      [...found].filter(([, value]) => value > 0).filter(([name]) => name.startsWith('turnpike_')),
    ),
  ).toEqual({
    'turnpike_attempts_total{pool="default",verdict="ok"}': 1,
    'turnpike_attempts_total{pool="default",verdict="blocked"}': 1,
    'turnpike_retries_total{pool="default"}': 1,
    'turnpike_bans_total{scope="site",site="shop.example"}': 1,
    'turnpike_bans_total{scope="exit",site="none"}': 1,
    'turnpike_rule_matches_total{rule="robot-check",shadow="false"}': 1,
    'turnpike_bodies_not_inspected_total{reason="swells"}': 1,
    'turnpike_session_pins_total{reason="exit_failed"}': 1,
    'turnpike_client_connections_opened_total{listener="127.0.0.1:8080"}': 2,
    'turnpike_client_connections_closed_total{listener="127.0.0.1:8080"}': 1,
    'turnpike_client_connections_open{listener="127.0.0.1:8080"}': 1,
    'turnpike_connections_refused_total{reason="tls_hello"}': 1,
    'turnpike_upstream_connections_total{event="opened"}': 1,
    'turnpike_notes_total{level="warn"}': 1,
    [`turnpike_build_info{version="1.2.3",node="${process.version}"}`]: 1,
  });
});

it('live values are asked for when metrics are read, and what is gone is gone (M04)', async () => {
  let exits = [
    { pool: 'a', state: 'usable', count: 3 },
    { pool: 'b"\\\n', state: 'banned', count: 1 },
  ];
  const metrics = metricsWith({
    exits: () => exits,
    tunnelsOpen: () => 7,
    exchangesOpen: () => 8,
    upstreamConnectionsIdle: () => 9,
    logLinesDropped: () => 10,
  });
  const before = await series(metrics);
  expect(before.get('turnpike_exits{pool="a",state="usable"}')).toBe(3);
  expect(before.get('turnpike_exits{pool="b\\"\\\\\\n",state="banned"}')).toBe(1);
  expect([before.get('turnpike_tunnels_open'), before.get('turnpike_exchanges_open')]).toEqual([7, 8]);
  expect(before.get('turnpike_upstream_connections_idle')).toBe(9);
  expect(before.get('turnpike_log_lines_dropped_total')).toBe(10);
  exits = [];
  expect([...(await series(metrics)).keys()].filter((key) => key.startsWith('turnpike_exits'))).toEqual([]);
});

describe('the number of series', () => {
  it('does not depend on the traffic (M01)', async () => {
    const metrics = metricsWith();
    const kinds = (i: number): TurnpikeEvent[] => [
      exchange({
        ...{
          target: `h${i}.example:80`,
          site: `h${i}.example`,
          path: `/${i}`,
          session: `s${i}`,
          client: `c${i}`,
        },
        ...{
          method: i % 2 === 0 ? 'GET' : `M${i}`,
          verdict: i % 2 === 0 ? 'ok' : `v${i}`,
          upstream: `u${i}`,
        },
        ...{ upstreamLabel: `http://u${i}:1`, requestId: `${i}`, clientAddress: `10.0.0.${i % 256}` },
      }),
      attempt({
        site: `h${i}.example`,
        upstream: `u${i}`,
        verdict: i % 2 === 0 ? 'ok' : `v${i}`,
        reason: `${i}`,
      }),
      {
        type: 'exit_banned',
        upstream: `u${i}`,
        upstreamLabel: `u${i}`,
        site: `h${i}.example`,
        reason: `${i}`,
        strikes: i,
        forMs: i,
      },
      { type: 'note', level: 'info', what: `${i}`, detail: {} },
    ];
    for (let i = 0; i < 2; i++) kinds(i).forEach(metrics.subscribe);
    const before = [...(await series(metrics)).keys()];
    for (let i = 0; i < 20_000; i++) kinds(i).forEach(metrics.subscribe);
    const begun = performance.now();
    const text = await metrics.render();
    expect(performance.now() - begun).toBeLessThan(250);
    expect([...(await series(metrics)).keys()]).toEqual(before);
    expect(text.length).toBeLessThan(200 * 1024);
    expect(text).not.toMatch(/h1234\.example|M1235|v1235/);
  });

  it('is bounded even where something that should not vary does', async () => {
    const metrics = metricsWith();
    for (let i = 0; i < 10_000; i++) metrics.subscribe(exchange({ route: `r${i}` }));
    const found = await series(metrics);
    const exchanges = [...found.keys()].filter((key) => key.startsWith('turnpike_exchanges_total'));
    expect(exchanges.length).toBe(2001);
    expect(
      found.get(
        'turnpike_exchanges_total{route="other",pool="other",kind="other",status="other",end="other"}',
      ),
    ).toBe(8000);
  });
});

it('two gateways in one process do not meet (M03)', async () => {
  const [one, two] = [metricsWith(), metricsWith()];
  one.subscribe(attempt());
  const name = 'turnpike_attempts_total{pool="default",verdict="ok"}';
  expect((await series(one)).get(name)).toBe(1);
  expect((await series(two)).has(name)).toBe(false);
});

it('tells of the shared state where there is one', async () => {
  const state = {
    ...{
      isShared: false,
      gateways: 3,
      strangers: 1,
      bansWaiting: 2,
      counts: { calls: 7 },
      bans: { said: 1 },
    },
    ...{ leases: { taken: 5 }, turns: { taken: 1 }, leasesHeld: 4, isAlone: true },
  };
  const found = await series(metricsWith({ state: () => state }));
  expect(found.get('turnpike_state_shared')).toBe(0);
  expect(found.get('turnpike_state_gateways')).toBe(3);
  expect(found.get('turnpike_state_strangers')).toBe(1);
  expect(found.get('turnpike_state_events_total{event="calls"}')).toBe(7);
  expect(found.get('turnpike_state_bans_total{event="said"}')).toBe(1);
  expect(found.get('turnpike_leases_total{event="taken"}')).toBe(5);
  expect(found.get('turnpike_leases_held')).toBe(4);
  expect(found.get('turnpike_sharing_alone')).toBe(1);
  const alone = await series(metricsWith({ state: () => null }));
  expect([...alone.keys()].filter((name) => name.startsWith('turnpike_state'))).toEqual([]);
});

describe('the text', () => {
  it('describes every metric of the table, once, and only those', async () => {
    const text = await metricsWith({ exits: () => [] }).render();
    const described = [...text.matchAll(/^# TYPE (turnpike_\w+) (\w+)$/gm)].map((match) => [
      match[1],
      match[2],
    ]);
    const table = Object.entries(metricTable).map(([name, row]) => [name, row.type]);
    expect(described.sort()).toEqual(table.sort());
  });

  it('has the form that Prometheus reads', async () => {
    const metrics = metricsWith();
    for (const event of [exchange(), attempt(), ...others]) metrics.subscribe(event);
    const line =
      /^(# (HELP|TYPE) \w+ .+|[a-z_]\w*(\{\w+="([^"\\]|\\.)*"(,\w+="([^"\\]|\\.)*")*\})? (-?[\d.]+(e[+-]?\d+)?|Nan|\+Inf))$/;
    expect((await metrics.render()).split('\n').filter((each) => each !== '' && !line.test(each))).toEqual(
      [],
    );
    expect(metrics.contentType).toMatch(/^text\/plain/);
  });

  it('holds the process too, in a fixed number of series', async () => {
    const found = await after([]);
    expect(found.has('process_resident_memory_bytes')).toBe(true);
    expect(found.has('nodejs_eventloop_lag_p99_seconds')).toBe(true);
    expect(found.has('nodejs_gc_duration_seconds_count{kind="major"}')).toBe(true);
    expect([...found.keys()].filter((key) => key.startsWith('nodejs_active'))).toEqual([
      ...['nodejs_active_resources_total', 'nodejs_active_handles_total', 'nodejs_active_requests_total'],
    ]);
  });
});

it('names have their units', () => {
  for (const [name, row] of Object.entries(metricTable)) {
    expect(name).toMatch(/^turnpike_[a-z_]+$/);
    if (row.type === 'counter') expect(name).toMatch(/_total$/);
    if (row.type === 'histogram') expect(name).toMatch(/_seconds$/);
    expect(row.help).toMatch(/^[A-Z1].*\.$/);
  }
});
