/** The commands of the vault: the key file that is made, and what a gateway that answers as told is asked. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.js';
import { systemClock } from '../../src/core/clock.js';
import { readRootKey } from '../../src/vault/root-key.js';
import { keptOutput, type KeptOutput } from './support.js';

const folder = mkdtempSync(join(tmpdir(), 'turnpike-vault-cli-'));

async function turnpike(...args: string[]): Promise<KeptOutput & { code: number; text: string }> {
  const output = keptOutput();
  const code = await run(args, output);
  return { ...output, code, text: [...output.printed, ...output.told].join('\n') };
}

describe('K2 turnpike vault init', () => {
  it('makes a key that only its owner can read, and says how to configure it', async () => {
    const file = join(folder, 'made', 'vault.key');
    const { code, text } = await turnpike('vault', 'init', file);
    expect(code).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await readRootKey({ kind: 'file', path: file }, systemClock)).toHaveLength(32);
    expect(text).toContain(`key: file:${file}`);
    expect(text).not.toContain(readFileSync(file, 'utf8').trim());
  });

  it('never touches a file that is there', async () => {
    const file = join(folder, 'there');
    writeFileSync(file, 'mine');
    const { code, text } = await turnpike('vault', 'init', file);
    expect([code, readFileSync(file, 'utf8')]).toEqual([2, 'mine']);
    expect(text).toContain('is there already');
  });

  it('says why it can not', async () => {
    writeFileSync(join(folder, 'no-folder'), '');
    const { code, told } = await turnpike('vault', 'init', join(folder, 'no-folder', 'key'));
    expect([code, told.length]).toEqual([2, 1]);
  });
});

describe('K1 turnpike vault status, rotate, destroy, unseal', () => {
  const asked: string[] = [];
  let answers: { status: number; body: unknown }[] = [];
  const server = http.createServer((request, response) => {
    let body = '';
    request.on('data', (some: Buffer) => (body += some.toString()));
    request.on('end', () => {
      asked.push(`${request.method} ${request.url} ${body}`);
      const answer = answers.shift() ?? { status: 500, body: {} };
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer.body));
    });
  });
  let access: string[] = [];
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const file = join(folder, 'token');
    writeFileSync(file, 'a-token-of-the-tests');
    const { port } = server.address() as AddressInfo;
    access = ['--admin', `http://127.0.0.1:${port}`, '--token-file', file];
  });
  afterEach(() => void asked.splice(0));
  afterAll(() => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const progress = { phase: 'idle', term: 3, waits_for: [] as string[], left: 0, total: 0, broken: 0 };
  const key = (term: number, state: string) => ({
    term,
    state,
    wraps: 7,
    created_at: '2026-12-01T00:00:00Z',
    id: 'ab',
  });
  const keys = (rotation: Partial<typeof progress>, ...rows: ReturnType<typeof key>[]) => ({
    ...{ status: 200, body: { keys: rows, rotation: { ...progress, ...rotation } } },
  });

  it('shows the keys and how far a rotation is', async () => {
    answers = [
      keys({ phase: 'rewrapping', left: 40, total: 90, broken: 1 }, key(2, 'retired'), key(3, 'primary')),
    ];
    const { code, text } = await turnpike('vault', 'status', ...access);
    expect(code).toBe(0);
    expect(text).toMatch(/3 +primary +7/);
    expect(text).toContain('40 of 90 secrets still go to key 3; 1 secrets do not open');
    answers = [keys({ phase: 'waiting', waits_for: ['g2'] }, key(2, 'primary'), key(3, 'pending'))];
    expect((await turnpike('vault', 'status', ...access)).text).toContain('can not use it yet: g2');
  });

  it('rotates, and waits for the end when told to', async () => {
    answers = [{ status: 202, body: { ...progress, phase: 'waiting' } }];
    expect((await turnpike('vault', 'rotate', '--reencrypt', ...access)).text).toContain('key 3 is made');
    expect(asked).toEqual(['POST /api/v1/keys/rotate {"reencrypt":true}']);
    answers = [
      { status: 202, body: { ...progress, phase: 'waiting' } },
      keys({}, key(2, 'primary'), key(3, 'pending')),
      keys({}, key(2, 'retired'), key(3, 'primary')),
    ];
    const waited = await turnpike('vault', 'rotate', '--wait', ...access);
    expect([waited.code, waited.text]).toEqual([0, expect.stringContaining('all secrets are under key 3')]);
    answers = [{ status: 202, body: progress }, keys({ broken: 2 }, key(3, 'primary'))];
    expect((await turnpike('vault', 'rotate', '--wait', ...access)).code).toBe(1);
  });

  it('destroys a key by its number, and nothing else', async () => {
    answers = [{ status: 200, body: { term: 2, state: 'destroyed' } }];
    expect((await turnpike('vault', 'destroy', '2', ...access)).text).toBe('key 2 is destroyed');
    expect(asked).toEqual(['DELETE /api/v1/keys/2 ']);
    expect((await turnpike('vault', 'destroy', '2/../3', ...access)).code).toBe(2);
    expect(asked).toHaveLength(1);
  });

  it('says what the gateway refuses', async () => {
    answers = [{ status: 503, body: { detail: 'The vault is sealed: the key is wrong.' } }];
    const { code, text } = await turnpike('vault', 'unseal', ...access);
    expect(code).not.toBe(0);
    expect(text).toContain('the key is wrong');
    answers = [{ status: 200, body: { state: 'open' } }];
    expect((await turnpike('vault', 'unseal', ...access)).text).toBe('the vault is open');
  });
});
