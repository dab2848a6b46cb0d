import fc from 'fast-check';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { TurnpikeEvent } from '../../src/core/events.js';
import { Secret } from '../../src/core/secret.js';
import { createLog } from '../../src/telemetry/logger.js';
import type { LogSettings } from '../../src/telemetry/logger.js';
import { attempt, exchange, others } from './events.js';
import { manualClock } from './manual-clock.js';

const folder = mkdtempSync(join(tmpdir(), 'turnpike-log-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

/** What a log writes of these events, as text. */
async function written(
  events: readonly TurnpikeEvent[],
  settings: Partial<LogSettings> = {},
): Promise<string> {
  const file = join(folder, `log-${files++}`);
  const log = createLog({ level: 'info', access: true, redact: [], ...settings, file }, manualClock());
  for (const event of events) log.subscribe(event);
  await log.close();
  return readFileSync(file, 'utf8');
}

async function lines(events: readonly TurnpikeEvent[], settings?: Partial<LogSettings>) {
  const text = await written(events, settings);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('an exchange', () => {
  it('is one line with what happened', async () => {
    expect(await lines([exchange()])).toEqual([
      {
        level: 30,
        time: 1_704_067_200_000,
        event: 'exchange',
        requestId: 'g1-0000-abc',
        kind: 'forward',
        listener: '127.0.0.1:8080',
        client: 'crawler',
        clientAddress: '127.0.0.1',
        method: 'GET',
        target: 'www.shop.example:80',
        site: 'shop.example',
        path: '/catalogue',
        route: 'route-0',
        pool: 'default',
        poolWhy: null,
        upstream: 'abcdefghijkl',
        upstreamLabel: 'http://10.0.0.9:3128',
        session: 'tab-1',
        generation: 1,
        status: 200,
        code: null,
        blame: null,
        verdict: 'ok',
        attempts: 1,
        bytesIn: 10,
        bytesOut: 1024,
        end: 'complete',
        ms: 12.346,
        firstByteMs: 11,
        openMs: 0,
      },
    ]);
  });

  it('that never left has nulls', async () => {
    const [line] = await lines([
      exchange({
        ...{
          kind: 'refused',
          pool: null,
          upstream: null,
          upstreamLabel: null,
          session: null,
          generation: null,
        },
        ...{ code: 'auth_required', blame: 'client', status: 407, verdict: '', attempts: 0 },
        times: { totalMs: 1, firstByteMs: null, openMs: null },
      }),
    ]);
    expect(line).toMatchObject({
      pool: null,
      generation: null,
      code: 'auth_required',
      firstByteMs: null,
      openMs: null,
    });
  });

  it('is one line of JSON whatever its texts hold', async () => {
    const texts = fc.string({ unit: 'binary', maxLength: 60 });
    const samples = fc.sample(
      fc.record({ path: texts, target: texts, method: texts, client: texts, session: texts }),
      300,
    );
    const parsed = await lines(samples.map((sample) => exchange(sample)));
    expect(parsed).toHaveLength(samples.length);
    parsed.forEach((line, index) => {
      // Half a surrogate pair has no UTF-8 of its own; JSON escapes it.
      expect(line).toMatchObject(samples[index] ?? {});
      expect(line['requestId']).toBe('g1-0000-abc');
    });
  });

  it('cuts what is too long', async () => {
    const [line] = await lines([exchange({ path: `/${'x'.repeat(100_000)}` })]);
    expect(String(line?.['path'])).toMatch(/^\/x{2047}…$/);
  });

  it('blanks what is to be blank', async () => {
    const fields = ['clientAddress', 'client', 'target', 'site', 'path', 'session', 'upstreamLabel'] as const;
    const [line] = await lines([exchange()], { redact: fields });
    for (const field of fields) expect(line?.[field]).toBe('[redacted]');
    expect(line).toMatchObject({ requestId: 'g1-0000-abc', upstream: 'abcdefghijkl' });
    const text = await written([exchange(), attempt(), ...others], { redact: fields, level: 'debug' });
    expect(text).not.toMatch(/shop\.example|10\.0\.0\.|crawler|tab-1|catalogue/);
  });
});

describe('levels', () => {
  const everything = [exchange(), attempt(), ...others];
  const eventsAt = async (level: LogSettings['level'], access = true) =>
    (await lines(everything, { level, access })).map((line) => line['event']);

  it('decide what is written', async () => {
    expect(await eventsAt('debug')).toEqual([
      ...[
        'exchange',
        'attempt',
        'exit_banned',
        'exit_banned',
        'rule_matched',
        'body_not_inspected',
        'session_pinned',
        'connection_refused',
        'bad_upstream',
      ],
    ]);
    expect(await eventsAt('info')).toEqual([
      'exchange',
      'exit_banned',
      'exit_banned',
      'connection_refused',
      'bad_upstream',
    ]);
    expect(await eventsAt('info', false)).not.toContain('exchange');
    expect(await eventsAt('warn')).toEqual(['connection_refused', 'bad_upstream']);
    expect(await eventsAt('error')).toEqual([]);
    expect(await eventsAt('silent')).toEqual([]);
  });
});

it('refused connections do not flood the log', async () => {
  const file = join(folder, 'flood');
  const clock = manualClock();
  const log = createLog({ level: 'info', access: true, redact: [], file }, clock);
  const refused = others.find((event) => event.type === 'connection_refused') ?? exchange();
  for (let i = 0; i < 1000; i++) log.subscribe(refused);
  clock.advance(1000);
  log.subscribe(refused);
  await log.close();
  const text = readFileSync(file, 'utf8').trim().split('\n');
  expect(text).toHaveLength(6);
  expect(JSON.parse(text[5] ?? '')).toMatchObject({ event: 'connection_refused', unsaid: 995 });
});

describe('secrets', () => {
  it('are cut out of URLs in notes and reasons', async () => {
    const text = await written(
      [
        attempt({ reason: 'dial http://u:CANARY/@x@h:1 failed' }),
        { type: 'note', level: 'error', what: 'x', detail: { url: 'socks5://u:CANARY@h' } },
        { ...(others[1] as Extract<TurnpikeEvent, { type: 'exit_banned' }>), reason: 'https://u:CANARY@h' },
      ],
      { level: 'debug' },
    );
    expect(text).not.toContain('CANARY');
    expect(text).toContain('[secret]');
  });

  it('are not printed where they do not belong', async () => {
    const detail = { password: new Secret('CANARY'), nested: { password: 'CANARY' } };
    const note = { type: 'note', level: 'info', what: 'x', detail } as unknown as TurnpikeEvent;
    const more = { ...exchange(), password: 'CANARY' } as TurnpikeEvent;
    expect(await written([note, more])).not.toContain('CANARY');
  });
});
