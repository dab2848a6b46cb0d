import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.js';
import { Secret } from '../../src/core/secret.js';
import { decodeKey, readRootKey, type RootKeySource } from '../../src/vault/root-key.js';
import { FakeClock } from '../support/fake-clock.js';
import { waitFor } from '../support/wait.js';

const folder = mkdtempSync(join(tmpdir(), 'turnpike-root-key-'));
afterAll(() => rmSync(folder, { recursive: true }));

const key = randomBytes(32);
const text = key.toString('base64');

function fileWith(content: string | Buffer, mode = 0o600): string {
  const path = join(folder, randomBytes(4).toString('hex'));
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

const read = (source: RootKeySource): Promise<Buffer> => readRootKey(source, systemClock);
const command = (...argv: string[]): Promise<Buffer> => read({ kind: 'command', argv });
const node = (script: string): Promise<Buffer> => command(process.execPath, '-e', script);

describe('K2 the root key', () => {
  it('comes from a variable, a file or a command, the same each time', async () => {
    const path = fileWith(`${text}\n`);
    expect(await read({ kind: 'env', name: 'KEY', secret: new Secret(text) })).toEqual(key);
    expect(await read({ kind: 'file', path })).toEqual(key);
    expect(await command('cat', path)).toEqual(key);
  });

  it('is read however base64 is written: both alphabets, with and without padding, blanks around it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.nat(3), (bytes, form) => {
        const wanted = Buffer.from(bytes);
        const written = wanted.toString(form & 1 ? 'base64url' : 'base64').replace(/=$/, form & 2 ? '' : '=');
        expect(decodeKey(Buffer.from(`\n ${written} \r\n`), 'x')).toEqual(wanted);
      }),
    );
  });

  it('leaves nothing of the text that it was written in', () => {
    const written = Buffer.from(text);
    decodeKey(written, 'x');
    expect(written.every((byte) => byte === 0)).toBe(true);
    const wrong = Buffer.from('not a key');
    expect(() => decodeKey(wrong, 'x')).toThrow();
    expect(wrong.every((byte) => byte === 0)).toBe(true);
  });

  it.each([
    ['', 'is empty'],
    [' \n', 'is empty'],
    ['====', 'is empty'],
    [randomBytes(31).toString('base64'), 'holds 31 bytes'],
    [randomBytes(33).toString('base64'), 'holds 33 bytes'],
    [randomBytes(32).toString('hex'), 'is it hex?'],
    ['ä'.repeat(43), 'is not base64'],
    ['a\nb', 'is not base64'],
  ])('says what is wrong with %j, and not what it is', (wrong, why) => {
    const complaint = (): unknown => decodeKey(Buffer.from(wrong), 'the file k');
    expect(complaint).toThrow(why);
    expect(complaint).toThrow('expected 32 bytes as base64');
    if (wrong.trim().length > 8) expect(complaint).not.toThrow(wrong);
  });

  it('never throws anything but its own trouble', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        try {
          expect(decodeKey(Buffer.from(bytes), 'x')).toHaveLength(32);
        } catch (error) {
          expect(error).toMatchObject({ name: 'RootKeyTrouble' });
        }
      }),
    );
  });
});

describe('K2 a key file', () => {
  it.each([0o644, 0o640, 0o606, 0o660, 0o610])(
    'with mode %o is refused, and what to do is said',
    async (mode) => {
      const path = fileWith(text, mode);
      const asked = read({ kind: 'file', path });
      await expect(asked).rejects.toThrow('chmod 600');
    },
  );

  it.each([0o600, 0o400])('with mode %o is taken', async (mode) => {
    expect(await read({ kind: 'file', path: fileWith(text, mode) })).toEqual(key);
  });

  it('that is not there, or is a folder, is named', async () => {
    await expect(read({ kind: 'file', path: join(folder, 'none') })).rejects.toThrow(
      'none can not be read (ENOENT)',
    );
    await expect(read({ kind: 'file', path: folder })).rejects.toThrow('is not a file');
  });
});

describe('K2 a key command', () => {
  it('is no shell line', async () => {
    expect(await command('echo', text)).toEqual(key);
    await expect(command('echo', '$(id)')).rejects.toThrow('is not base64');
    await expect(command('echo hello')).rejects.toThrow('can not be run (ENOENT)');
    await expect(command()).rejects.toThrow('is empty');
  });

  it('that fails is told with the first line of its complaint, short and without what could be a secret', async () => {
    const asked = node(
      `console.error('\\nno access with ${text} at https://user:pass@kms.example/ ' + 'x '.repeat(200)); console.error('more'); process.exit(3)`,
    );
    const error: Error = await asked.then(
      () => new Error('it worked'),
      (thrown: unknown) => thrown as Error,
    );
    expect(error.message).toContain('ended with 3: no access with [cut] at https://[secret]@kms.example/');
    expect(error.message).not.toContain(text.slice(0, 20));
    expect(error.message).not.toContain('more');
    expect(error.message.length).toBeLessThan(300);
  });

  it('that prints too much is ended', async () => {
    await expect(node(`process.stdout.write('A'.repeat(5000)); setInterval(() => {}, 1000)`)).rejects.toThrow(
      'printed too much',
    );
  });

  it('that does not end is ended after 10 s, with what it started', async () => {
    const clock = new FakeClock();
    const mark = join(folder, 'pid');
    const script = `sleep 1000 & echo $! > ${mark}; wait`;
    const asked = readRootKey({ kind: 'command', argv: ['sh', '-c', script] }, clock);
    const refused = expect(asked).rejects.toThrow('did not end within 10 s');
    const pid = await waitFor('the pid', () => existsSync(mark) && Number(readFileSync(mark, 'utf8')));
    clock.advance(10_000);
    await refused;
    await waitFor(
      'the end of the child',
      () => !existsSync(`/proc/${pid}/stat`) || isZombie(readFileSync(`/proc/${pid}/stat`, 'utf8')),
    );
  });
});

const isZombie = (status: string): boolean => / Z /.test(status);
