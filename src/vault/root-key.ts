/**
 * Where the root key comes from: a variable, a file that nobody else may read, or what a command prints (a KMS). 32 bytes as
 * base64. It is asked for each time it is needed, which is seldom, and wiped by whoever asked; no text of a file's or a
 * command's key is ever made. A trouble says what to do and never what was found.
 */
import { spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import { KEY_BYTES } from '../core/aead.js';
import type { Clock } from '../core/clock.js';
import { scrub } from '../core/scrub.js';
import type { Secret } from '../core/secret.js';

/** Where the root key is. */
export type RootKeySource =
  | { readonly kind: 'env'; readonly name: string; readonly secret: Secret }
  | { readonly kind: 'file'; readonly path: string }
  /** The program and its arguments; no shell is asked. */
  | { readonly kind: 'command'; readonly argv: readonly string[] };

/** Why there is no root key, for people. */
export class RootKeyTrouble extends Error {
  override readonly name = 'RootKeyTrouble';
}

const MOST_BYTES = 4096;
const COMMAND_MS = 10_000;
const MOST_STDERR = 160;
const expected = 'expected 32 bytes as base64, such as `openssl rand -base64 32` prints';

/** The root key; the caller wipes it. @throws {RootKeyTrouble} */
export async function readRootKey(source: RootKeySource, clock: Clock): Promise<Buffer> {
  switch (source.kind) {
    case 'env': {
      const text = Buffer.from(source.secret.reveal(), 'latin1');
      return decodeKey(text, `the environment variable ${source.name}`);
    }
    case 'file':
      return decodeKey(await fileBytes(source.path), `the file ${source.path}`);
    case 'command':
      return decodeKey(await printed(source.argv, clock), `what ${source.argv[0] ?? ''} printed`);
  }
}

/** The value of a base64 digit of either alphabet, or -1. */
function digit(code: number): number {
  if (code >= 0x41 && code <= 0x5a) return code - 0x41;
  if (code >= 0x61 && code <= 0x7a) return code - 0x61 + 26;
  if (code >= 0x30 && code <= 0x39) return code - 0x30 + 52;
  if (code === 0x2b || code === 0x2d) return 62;
  return code === 0x2f || code === 0x5f ? 63 : -1;
}

const isBlank = (code: number | undefined): boolean =>
  code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;

/** Decodes a key, and wipes the text that it was written in. By hand, since Node's decoder takes a string, which can't be wiped. @throws {RootKeyTrouble} */
export function decodeKey(text: Buffer, what: string): Buffer {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text[start])) start += 1;
  while (end > start && isBlank(text[end - 1])) end -= 1;
  while (end > start && text[end - 1] === 0x3d) end -= 1;
  const digits = text.subarray(start, end);
  const fault = faultOf(digits);
  const key = Buffer.alloc(KEY_BYTES);
  if (fault === null) {
    let held = 0;
    let bits = 0;
    let at = 0;
    for (const code of digits) {
      held = ((held << 6) | digit(code)) & 0xffff;
      bits += 6;
      if (bits >= 8) {
        bits -= 8;
        key[at] = (held >> bits) & 0xff;
        at += 1;
      }
    }
  }
  text.fill(0);
  if (fault !== null) throw new RootKeyTrouble(`${what} ${fault}`);
  return key;
}

function faultOf(digits: Buffer): string | null {
  if (digits.length === 0) return `is empty: ${expected}`;
  if (digits.some((code) => digit(code) < 0)) return `is not base64: ${expected}`;
  const bytes = Math.floor((digits.length * 6) / 8);
  if (bytes === KEY_BYTES && digits.length === 43) return null;
  const hint = digits.length === 64 ? ' (64 digits: is it hex?)' : '';
  return `holds ${bytes} bytes${hint}: ${expected}`;
}

async function fileBytes(path: string): Promise<Buffer> {
  const handle = await open(path, 'r').catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new RootKeyTrouble(`the file ${path} can not be read (${code})`);
  });
  try {
    const status = await handle.stat();
    const fault = status.isFile() ? modeFault(status.mode, status.uid) : 'is not a file';
    if (fault !== null) throw new RootKeyTrouble(`the file ${path} ${fault}`);
    const read = Buffer.alloc(MOST_BYTES);
    const { bytesRead } = await handle.read(read, 0, MOST_BYTES, 0);
    return read.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** Others must not read it. A file of root may be read by the group of a process that isn't root: so secrets are mounted (as libpq has it). */
function modeFault(mode: number, uid: number): string | null {
  const isMounted = uid === 0 && process.getuid?.() !== 0;
  if ((mode & (isMounted ? 0o037 : 0o077)) === 0) return null;
  const shown = (mode & 0o777).toString(8).padStart(4, '0');
  return `may be read by others (mode ${shown}): chmod 600 it, and make a new key where others had access`;
}

/** What a command prints, in time and not too much of it. */
function printed(argv: readonly string[], clock: Clock): Promise<Buffer> {
  const [program, ...rest] = argv;
  if (program === undefined) throw new RootKeyTrouble('vault.command is empty');
  // A group of its own, so that what it started ends with it.
  const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const chunks: Buffer[] = [];
  let bytes = 0;
  let complaint = '';
  return new Promise<Buffer>((resolve, reject) => {
    const end = (why: string | null): void => {
      timer.cancel();
      const text = Buffer.concat(chunks);
      for (const chunk of chunks) chunk.fill(0);
      if (why === null) return resolve(text);
      text.fill(0);
      endGroup(child.pid);
      reject(new RootKeyTrouble(`the command ${program} ${why}`));
    };
    const timer = clock.after(COMMAND_MS, () => end(`did not end within ${COMMAND_MS / 1000} s`));
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes > MOST_BYTES) end('printed too much');
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (complaint.length < MOST_BYTES) complaint += chunk.toString('utf8');
    });
    child.once('error', (error) =>
      end(`can not be run (${'code' in error ? String(error.code) : 'unknown'})`),
    );
    child.once('close', (code, signal) => {
      if (code === 0) return end(null);
      end(`ended with ${code ?? signal ?? 'nothing'}${saidBy(complaint)}`);
    });
  });
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It is over.
  }
}

/** The first line of what a command complained of, without anything that could be a key or a login. */
function saidBy(complaint: string): string {
  const line = complaint.split('\n').find((each) => each.trim() !== '') ?? '';
  const said = scrub(line)
    .replace(/[^ -~]/g, ' ')
    .replace(/[A-Za-z0-9+/_=-]{20,}/g, '[cut]')
    .trim()
    .slice(0, MOST_STDERR);
  return said === '' ? '' : `: ${said}`;
}
