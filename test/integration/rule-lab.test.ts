/** Stored answers go round: captured on their way, and judged again by the lab, here and through the API. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.js';
import { keptOutput } from '../cli/support.js';
import { adminSection, askAdmin, tokens } from '../support/admin.js';
import { ask } from '../support/ask.js';
import { createStage } from '../support/stage.js';
import { eventually, waitFor } from '../support/wait.js';

const stage = createStage();
const html = 'Content-Type: text/html';
const rules = [{ name: 'robot-check', when: { body: { contains: 'captcha-zxq' } } }];
let folder = '';

beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'turnpike-lab-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function lab(
  ...args: string[]
): Promise<{ code: number; rows: Record<string, unknown>[]; told: string }> {
  const output = keptOutput();
  const code = await run(['rules', 'test', ...args, '--json'], output);
  return {
    code,
    rows: output.printed.length === 0 ? [] : JSON.parse(output.printed.join('')),
    told: output.told.join('\n'),
  };
}

describe('a capture', () => {
  it('is stored without secrets, and judged by the lab as it was on its way', async () => {
    const dir = join(folder, 'captures');
    const exit = await stage.exit(
      (peer) =>
        void peer.answer('<p>captcha-zxq</p>', '200 OK', [
          html,
          'Set-Cookie: sid=CANARY; path=/',
          'X-Auth-Token: CANARY',
        ]),
    );
    const gateway = await stage.gateway([exit], { rules, capture: { dir }, retry: { retries: 0 } });
    await ask(gateway, 'http://www.shop.example/p/1?key=CANARY');
    const [name = ''] = await waitFor('a capture', () => {
      const found = readdirSync(folder).includes('captures') ? readdirSync(dir) : [];
      return found.length > 0 && statSync(join(dir, found[0] ?? '')).size > 0 ? found : undefined;
    });
    const text = readFileSync(join(dir, name), 'utf8');
    expect(text).not.toContain('CANARY');
    expect(text).toContain('Set-Cookie: sid=[redacted]');
    expect(text).toContain('X-Turnpike-Captured-Url: http://www.shop.example/p/1\r\n');
    expect(statSync(join(dir, name)).mode & 0o077).toBe(0);
    writeFileSync(
      join(folder, 'rules.yaml'),
      JSON.stringify({ rules: [{ ...rules[0], site: 'shop.example' }] }),
    );
    const { code, rows } = await lab(join(folder, 'rules.yaml'), dir);
    expect(code).toBe(0);
    expect(rows).toMatchObject([
      { verdict: 'blocked', rule: 'robot-check', matches: [{ field: 'body', found: 'captcha-zxq' }] },
    ]);
  });

  it('stops where the folder is full, and costs nothing else', async () => {
    const exit = await stage.exit((peer) => void peer.answer('<p>captcha-zxq</p>', '200 OK', [html]));
    const gateway = await stage.gateway([exit], {
      rules: [{ ...rules[0], then: ['retry_only'] }],
      capture: { dir: folder, files: 2 },
      retry: { retries: 0 },
    });
    for (let n = 0; n < 5; n++) expect((await ask(gateway, 'http://shop.example/')).status).toBe(200);
    await gateway.close();
    expect(readdirSync(folder).length).toBeLessThanOrEqual(2);
  });
});

describe('a capture that can not be stored', () => {
  it('is counted, told once with the cause, and told again when it works', async () => {
    const dir = join(folder, 'in-the-way');
    writeFileSync(dir, '');
    const exit = await stage.exit((peer) => void peer.answer('<p>captcha-zxq</p>', '200 OK', [html]));
    const gateway = await stage.gateway([exit], {
      rules: [{ ...rules[0], then: ['retry_only'] }],
      capture: { dir },
      retry: { retries: 0 },
    });
    const one = async (): Promise<void> => void (await ask(gateway, 'http://shop.example/'));
    for (let n = 0; n < 3; n++) await one();
    await eventually('three failures', async () =>
      (await gateway.metrics()).includes('turnpike_captures_failed_total 3'),
    );
    const told = () =>
      gateway.events.flatMap((each) =>
        each.type === 'note' && each.what.startsWith('captures') ? [[each.what, each.detail['cause']]] : [],
      );
    expect(told()).toEqual([['captures_failed', 'EEXIST']]);
    rmSync(dir);
    await one();
    await gateway.event('note', ({ what }) => what === 'captures_resumed');
    expect(told()).toHaveLength(2);
  });
});

describe('turnpike rules test', () => {
  it('says what is wrong with rules and samples', async () => {
    const file = join(folder, 'rules.yaml');
    writeFileSync(file, 'rules: [{ name: r, when: { body: { matches: "(a+)+" } } }]');
    const bad = await lab(file, folder);
    expect(bad.code).toBe(2);
    expect(bad.told).toContain('rules[0].when.body.matches: rule r: has no fixed text');
    const none = join(folder, 'none.yaml');
    const missing = await lab(none, folder);
    expect([missing.code, missing.told]).toEqual([2, expect.stringContaining(`${none} does not exist`)]);
    expect(await run(['rules', 'list', '--rules', none], keptOutput())).toBe(2);
    writeFileSync(file, 'rules: []');
    expect((await lab(file, join(folder, 'none'))).told).toMatch(/a sample: .*none does not exist/);
    writeFileSync(join(folder, 'x.http'), 'no head');
    expect((await lab(file, folder)).rows).toMatchObject([
      { verdict: 'none', trouble: expect.stringContaining('first line') },
    ]);
  });

  it('takes bodies with and without a head beside them', async () => {
    const file = join(folder, 'rules.yaml');
    writeFileSync(file, 'rules: [{ name: r, when: { status: 403, body: { contains: hm } } }]');
    writeFileSync(join(folder, 'a.html'), 'hm');
    writeFileSync(join(folder, 'b.html'), 'hm');
    writeFileSync(join(folder, 'b.html.head'), 'HTTP/1.1 403 Forbidden\nContent-Type: text/html\n');
    const { rows } = await lab(file, folder);
    expect(rows.map(({ verdict }) => verdict)).toEqual(['ok', 'blocked']);
  });

  it('rules list shows own rules before the shipped ones', async () => {
    const file = join(folder, 'rules.yaml');
    writeFileSync(file, 'rules: [{ name: mine, when: { status: 403 } }]');
    const output = keptOutput();
    expect(await run(['rules', 'list', '--rules', file], output)).toBe(0);
    expect(output.printed.join('\n')).toMatch(/RULE.*\nmine .*\ncloudflare-challenge /);
    const yaml = keptOutput();
    await run(['rules', 'list', '--rules', file, '--yaml'], yaml);
    expect(yaml.printed.join('\n')).toMatch(/^rules:\n {2}- name: mine\n {4}when:\n {6}status: 403\n/);
  });
});

describe('POST /api/v1/rules/test', () => {
  const samples = [{ name: 's', http: 'HTTP/1.1 200 OK\nContent-Type: text/html\n\ncaptcha-zxq' }];

  it('tries the rules in force, or others, and changes nothing', async () => {
    const gateway = await stage.gateway([], { admin: adminSection, rules });
    const post = (body: unknown) =>
      askAdmin(gateway.adminPort, '/api/v1/rules/test', { method: 'POST', token: tokens.operator, body });
    const inForce = await post({ samples });
    expect([inForce.status, inForce.body]).toMatchObject([
      200,
      { items: [{ sample: 's', rule: 'robot-check', verdict: 'blocked' }] },
    ]);
    const others = await post({
      samples,
      rules: 'rules: [{ name: mine, when: { body: { contains: zxq } }, then: throttle }]',
    });
    expect(others.body).toMatchObject({
      items: [{ rule: 'mine', verdict: 'throttled', actions: ['throttle'] }],
    });
    const wrong = await post({ samples, rules: 'rules: [{ name: mine, when: {} }]' });
    expect(wrong.status).toBe(422);
    expect(wrong.text).toContain('has no condition');
    const coded = [{ name: 'b', base64: Buffer.from(samples[0]?.http ?? '').toString('base64') }];
    expect((await post({ samples: coded })).body).toMatchObject({ items: [{ rule: 'robot-check' }] });
  });
});
