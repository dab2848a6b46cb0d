/** The program as people start it: real processes, real signals, real exit codes. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { waitFor } from '../support/wait.js';

const main = resolve(import.meta.dirname, '../../dist/cli/main.js');
const folder = mkdtempSync(join(tmpdir(), 'turnpike-main-'));
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Status of a plain GET; `fetch` makes a network error of a 407. */
const statusOf = (url: string): Promise<number> =>
  new Promise((done, fail) => {
    get(url, { agent: false }, (answer) => {
      answer.resume();
      done(answer.statusCode ?? 0);
    }).on('error', fail);
  });

/** Where the token of the admin API goes. */
const dataDir = join(tmpdir(), `turnpike-main-test-${process.pid}`);
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

interface Program {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  stderr(): string;
  stdout(): string;
}

function turnpike(args: readonly string[], env: Record<string, string> = {}): Program {
  const child = spawn(process.execPath, ['--unhandled-rejections=strict', main, ...args], {
    cwd: tmpdir(),
    env: { PATH: process.env['PATH'] ?? '', TURNPIKE_DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = new Promise<number | null>((done) => child.once('close', (code) => done(code)));
  return { child, ended, stderr: () => stderr, stdout: () => stdout };
}

const anyPorts = ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0'];

async function serving(program: Program): Promise<{ proxy: string; admin: string }> {
  return waitFor('the listeners', () => {
    const proxy = /proxy {2}(http:\S+)/.exec(program.stderr())?.[1];
    const admin = /admin {2}(http:\S+)/.exec(program.stderr())?.[1];
    return proxy !== undefined && admin !== undefined ? { proxy, admin } : null;
  });
}

describe('turnpike serve', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'serves, and ends with 0 on %s when nothing is under way',
    async (signal) => {
      const program = turnpike(['serve', ...anyPorts]);
      const { proxy, admin } = await serving(program);
      expect((await fetch(`${admin}/readyz`)).status).toBe(200);
      expect(await (await fetch(`${admin}/metrics`)).text()).toContain('turnpike_build_info');
      // Not absolute-form, so the proxy refuses it; it gets its line in the log all the same.
      expect(await statusOf(proxy)).toBe(400);
      program.child.kill(signal);
      expect(await program.ended).toBe(0);
      const lines = program.stdout().trim().split('\n');
      expect(lines.map((line) => JSON.parse(line).event)).toContain('exchange');
    },
  );

  it('opens no debugger on SIGUSR1', async () => {
    const program = turnpike(['serve', ...anyPorts]);
    await serving(program);
    program.child.kill('SIGUSR1');
    program.child.kill('SIGTERM');
    expect(await program.ended).toBe(0);
    expect(program.stderr()).not.toContain('Debugger');
  });

  it('logs to a file when told so, and nothing but the log goes to either', async () => {
    const file = join(folder, 'access.log');
    const program = turnpike(['serve', ...anyPorts, '--log-file', file, '--log-level', 'debug']);
    const { proxy } = await serving(program);
    await statusOf(proxy);
    program.child.kill('SIGTERM');
    expect(await program.ended).toBe(0);
    expect(program.stdout()).toBe('');
    for (const line of readFileSync(file, 'utf8').trim().split('\n'))
      expect(() => JSON.parse(line)).not.toThrow();
  });

  it('ends with 2 and one line when its port is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((done) => taken.once('listening', done));
    const at = `127.0.0.1:${(taken.address() as AddressInfo).port}`;
    for (const args of [
      ['--listen', at, '--admin', '127.0.0.1:0'],
      ['--listen', '127.0.0.1:0', '--admin', at],
    ]) {
      const program = turnpike(['serve', ...args]);
      expect(await program.ended).toBe(2);
      expect(program.stderr()).toContain(`turnpike: can not start: ${at} is in use by another program`);
      expect(program.stderr()).not.toMatch(/\n\s+at /);
    }
    taken.close();
  });

  it.each([
    [['--listen', '0.0.0.0:0'], /open proxy/],
    [['--config', '/no/such.yaml'], /\/no\/such\.yaml: the file does not exist/],
    [['--upstreams', '/no/such.txt'], /\/no\/such\.txt does not exist \(from --upstreams\)/],
    [['--log-file', '/no/such/log'], /\/no\/such\/log does not exist/],
    [['--client', 'me'], /TURNPIKE_CLIENT_PASSWORD is not set/],
    [['--bogus'], /unknown option/],
  ])('ends with 2 and says why: %j', async (args, message) => {
    const program = turnpike(['serve', '--admin', 'off', ...args]);
    expect(await program.ended).toBe(2);
    expect(program.stderr()).toMatch(message);
    expect(program.stderr()).not.toMatch(/\n\s+at /);
  });

  it('opens other doors for clients, whose password is never to be seen', async () => {
    const program = turnpike(['serve', '--listen', '0.0.0.0:0', '--admin', '127.0.0.1:0', '--client', 'me'], {
      TURNPIKE_CLIENT_PASSWORD: 'CANARY',
    });
    const { proxy } = await serving(program);
    expect(await statusOf(proxy.replace('0.0.0.0', '127.0.0.1'))).toBe(407);
    expect(readFileSync(`/proc/${program.child.pid}/cmdline`, 'utf8')).not.toContain('CANARY');
    program.child.kill('SIGTERM');
    expect(await program.ended).toBe(0);
    expect(program.stdout() + program.stderr()).not.toContain('CANARY');
  });
});

it('turnpike check-config reads what TURNPIKE_CONFIG names', async () => {
  const example = resolve(import.meta.dirname, '../../config/turnpike.example.yaml');
  const program = turnpike(['check-config'], { TURNPIKE_CONFIG: example });
  expect(await program.ended).toBe(0);
  expect(program.stdout()).toMatch(/^OK: /);
});
