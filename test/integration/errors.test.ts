/**
 * Every error that the gateway answers, provoked from outside, on plain requests and on CONNECT: status, blame,
 * Proxy-Status, problem+json, and the same request id in answer, body, event and log.
 */
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { errorTable, type ErrorCode } from '../../src/core/errors.js';
import { answerOf, ask, connect, type Answer, type AskOptions } from '../support/ask.js';
import type { TestGateway } from '../support/gateway.js';
import { RawClient } from '../support/raw-client.js';
import { provocations, refusing, type Row } from '../support/provocations.js';
import { createStage } from '../support/stage.js';

const stage = createStage();

const cells = provocations(stage).flatMap((row) => row.on.map((on) => ({ ...row, on })));

async function provoke(
  row: Pick<Row, 'provoke'>,
  on: 'plain' | 'CONNECT',
): Promise<{ gateway: TestGateway; answer: Answer }> {
  const { gateway, fields = [], target = 'site.example:80' } = await row.provoke();
  const options: AskOptions = { fields };
  if (on === 'plain') return { gateway, answer: await ask(gateway, `http://${target}/x?secret=1`, options) };
  const { client, answer } = await connect(gateway, target, options);
  client.destroy();
  return { gateway, answer };
}

/** What every error answer must be. */
async function expectError(gateway: TestGateway, answer: Answer, code: ErrorCode): Promise<void> {
  const row = errorTable[code];
  expect(answer.problem()).toMatchObject({
    code,
    status: row.status,
    blame: row.blame,
    retryable: row.retryable,
  });
  expect(answer.status).toBe(row.status);
  expect(answer.field('content-type')).toBe('application/problem+json');
  expect(answer.field('proxy-status')).toMatch(new RegExp(`^turnpike; ?error=${row.proxyStatus}`));
  expect(answer.field('retry-after') !== undefined).toBe(row.retryable && [503, 429].includes(row.status));
  expect(answer.field('proxy-authenticate') !== undefined).toBe(row.status === 407);
  const requestId = answer.field('x-turnpike-request-id');
  expect(answer.problem().requestId).toBe(requestId);
  const ended = await gateway.event('exchange_ended', (event) => event.requestId === requestId);
  expect(ended).toMatchObject({ code, blame: row.blame, status: row.status });
  expect(await gateway.metrics()).toContain(`turnpike_errors_total{code="${code}",blame="${row.blame}"}`);
  const logged = readFileSync(gateway.logFile, 'utf8');
  expect(logged).not.toContain('secret=1');
}

const provoked = new Set<ErrorCode>();

describe('C23 each cause has its own code', () => {
  it.each(cells)('$code on $on: $why', async (cell) => {
    const { gateway, answer } = await provoke(cell, cell.on);
    await expectError(gateway, answer, cell.code);
    provoked.add(cell.code);
  });

  it('request_timeout: a head that does not come', async () => {
    const gateway = await stage.gateway([await refusing()], { timeouts: { client_header: '200ms' } });
    const client = await RawClient.connect(gateway.port);
    client.write('GET http://site.example/ HTTP/1.1\r\nX-Slow:');
    await expectError(gateway, answerOf(await client.answer()), 'request_timeout');
    expect(await client.ended()).toBe('fin');
    client.destroy();
    provoked.add('request_timeout');
  });

  it('overloaded: one connection too many', async () => {
    const gateway = await stage.gateway([await stage.good('ok')], { limits: { connections: 2 } });
    const others = [await RawClient.connect(gateway.port), await RawClient.connect(gateway.port)];
    const client = await RawClient.connect(gateway.port);
    await expectError(gateway, answerOf(await client.answer()), 'overloaded');
    expect(await client.ended()).toBe('fin');
    client.destroy();
    for (const other of others) {
      other.write('GET http://site.example/ HTTP/1.1\r\nHost: site.example\r\n\r\n');
      expect((await other.answer()).status).toBe(200);
      other.destroy();
    }
    await gateway.event('client_disconnected');
    provoked.add('overloaded');
  });

  // Where clients are stored: test/integration/stored-clients.test.ts provokes it.
  provoked.add('login_unchecked');

  afterAll(() => {
    const missing = Object.keys(errorTable).filter((code) => !provoked.has(code as ErrorCode));
    expect(missing).toEqual([]);
  });
});

describe('one request, one id', () => {
  it('in the answer, the event and the line of the log, for pages and for errors', async () => {
    const gateway = await stage.gateway([await stage.good('ok')], {}, {});
    const good = await ask(gateway, 'http://site.example/a?token=t');
    const bad = await ask(gateway, 'http://10.0.0.1/');
    await gateway.app.stop('to have the log flushed');
    const lines = readFileSync(gateway.logFile, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"event":"exchange"'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.map((line) => [line['requestId'], line['status'], line['code'], line['path']])).toEqual([
      [good.field('x-turnpike-request-id')?.split('~')[0], 200, null, '/a'],
      [bad.field('x-turnpike-request-id'), 403, 'target_refused', '/'],
    ]);
    expect(lines[1]?.['target']).toBe('10.0.0.1:80');
  });
});
