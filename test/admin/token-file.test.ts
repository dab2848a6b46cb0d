import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tokenInFolder } from '../../src/admin/token-file.js';
import { seededRandom, systemRandom } from '../../src/core/random.js';

let folder = '';
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'turnpike-token-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe('the token file', () => {
  it('is made once, for its owner only, and read again afterwards', () => {
    const inside = join(folder, 'a', 'b');
    const first = tokenInFolder(inside, systemRandom);
    if (first.kind !== 'token') throw new Error(first.code);
    expect(first).toMatchObject({ isNew: true, wasOpen: false, path: join(inside, 'admin-token') });
    expect(modeOf(first.path)).toBe('600');
    expect(modeOf(inside)).toBe('700');
    expect(first.token.reveal()).toMatch(/^turnpike_admin_[0-9a-f]{64}_[0-9a-f]{6}$/);
    const second = tokenInFolder(inside, systemRandom);
    expect(second).toMatchObject({ kind: 'token', isNew: false });
    expect(second.kind === 'token' && second.token.reveal()).toBe(first.token.reveal());
    expect(readdirSync(inside)).toEqual(['admin-token']);
  });

  it('that others could read is closed to them, and told', () => {
    const path = join(folder, 'admin-token');
    writeFileSync(path, 'a-token-of-somebody\n');
    chmodSync(path, 0o644);
    expect(tokenInFolder(folder, seededRandom(1))).toMatchObject({
      kind: 'token',
      isNew: false,
      wasOpen: true,
    });
    expect(modeOf(path)).toBe('600');
  });

  it.each(['', 'short\n', 'x'.repeat(5000)])('without a token in it gives none and is left alone', (text) => {
    const path = join(folder, 'admin-token');
    writeFileSync(path, text);
    expect(tokenInFolder(folder, seededRandom(1))).toEqual({ kind: 'trouble', path, code: 'content' });
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it('where there can be no folder is a trouble with its code', () => {
    writeFileSync(join(folder, 'file'), '');
    const found = tokenInFolder(join(folder, 'file', 'data'), seededRandom(1));
    expect(found).toMatchObject({ kind: 'trouble', code: 'ENOTDIR' });
    expect(existsSync(join(folder, 'file', 'data'))).toBe(false);
  });
});
