import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.js';
import { keptOutput } from './support.js';

const folder = mkdtempSync(join(tmpdir(), 'turnpike-check-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function check(
  text: string,
  ...args: string[]
): Promise<{ code: number; printed: string[]; told: string[] }> {
  const file = join(folder, 'turnpike.yaml');
  writeFileSync(file, text);
  const output = keptOutput();
  const code = await run(['check-config', '--config', file, ...args], output);
  return { code, printed: output.printed, told: output.told.map((line) => line.replaceAll(folder, '')) };
}

describe('check-config', () => {
  it('is content with a good file, and counts what it holds', async () => {
    writeFileSync(join(folder, 'proxies.txt'), 'http://10.0.0.1:1\nhttp://10.0.0.2:1\n');
    const { code, printed, told } = await check(`
listen: { proxy: [ "127.0.0.1:1", "127.0.0.1:2" ] }
pools: { a: { upstreams: [ { file: proxies.txt }, { url: "http://10.0.0.3:1" } ] } }
`);
    expect({ code, printed, told }).toEqual({
      code: 0,
      printed: ['OK: 2 listeners, 0 clients, 1 pool, 3 upstreams, 1 route'],
      told: [],
    });
  });

  it('names all problems with file, line and path, and ends with 1', async () => {
    const { code, printed, told } = await check('timeouts:\n  dail: 5s\n  tls: soon\n');
    expect({ code, printed }).toEqual({ code: 1, printed: [] });
    expect(told).toEqual([
      'turnpike: the configuration has 2 problems:',
      '  /turnpike.yaml:2: timeouts.dail: unknown setting; did you mean dial?',
      expect.stringMatching(/^ {2}\/turnpike\.yaml:3: timeouts\.tls: expected a duration/),
    ]);
  });

  it('warns of passwords that stand there, without repeating them', async () => {
    const { code, told } = await check('clients:\n  - { name: a, password: CANARY }\n');
    expect(code).toBe(0);
    expect(told.join('\n')).toMatch(/warning: \/turnpike\.yaml:2: clients\[0\]\.password: a password stands/);
    expect(told.join('\n')).not.toContain('CANARY');
  });

  it('A12 warns of one upstream with two passwords, which are one exit', async () => {
    writeFileSync(join(folder, 'two.txt'), 'http://u:CANARY-2@h:1\n');
    const { code, told } = await check(`
pools: { a: { upstreams: [ { url: "http://u:CANARY-1@h:1" } ] }, b: { upstreams: [ { file: two.txt } ] } }
routes: [ { match: {}, pools: [ a, b ] } ]
`);
    expect(code).toBe(0);
    expect(told.join('\n')).toMatch(/warning: upstream http:\/\/h:1 .* in pool a and another in pool b/);
    expect(told.join('\n')).not.toContain('CANARY');
  });

  it('warns of lines in lists that would be left out, the first twenty of them', async () => {
    writeFileSync(join(folder, 'bad.txt'), 'htp://u:CANARY@h\n'.repeat(30));
    const { code, told } = await check('pools: { a: { upstreams: [ { file: bad.txt } ] } }');
    expect(code).toBe(0);
    expect(told).toHaveLength(21);
    expect(told[0]).toMatch(/^warning: \/bad\.txt:1: /);
    expect(told[20]).toMatch(/^warning: 11 more lines/);
    expect(told.join('\n')).not.toContain('CANARY');
  });

  it('checks flags as well', async () => {
    const { code, told } = await check('', '--listen', '0.0.0.0:1', '--allow-target', '10.0.0.0/99');
    expect(code).toBe(1);
    expect(told.join('\n')).toMatch(
      /\(from --allow-target\)\n {2}listen\.proxy: would be an open proxy.*\(from --listen\)/,
    );
  });

  it('says when there is no such file', async () => {
    const output = keptOutput();
    expect(await run(['check-config', '--config', '/no/such.yaml'], output)).toBe(1);
    expect(output.told.join('\n')).toBe(
      'turnpike: the configuration has one problem:\n  /no/such.yaml: the file does not exist',
    );
  });
});
